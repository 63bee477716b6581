#include <gtest/gtest.h>

#include <vector>

#include "protocol/wire/packet.h"
#include "tests/unit/dataplane/edge/small_edge.h"

namespace tombolo::dataplane {
namespace {

using wire::RoundOutcome;
using wire::Type;

/// One lane unless a test says otherwise, so that each thing is told once. Windows of 8 chunks.
class LaneRoundTest : public testing::Test {
 protected:
  LaneRoundTest() {
    edge_.bring_up();
    edge_.install({});
    edge_.forget_received();
  }
  /// The GRANTs that a side got, as "round up_to".
  std::vector<std::pair<std::uint32_t, std::uint32_t>> grants(Side side) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
    for (const Received& grant : edge_.take(side, Type::kGrant)) {
      EXPECT_EQ(grant.header.tree, static_cast<std::uint16_t>(side));
      EXPECT_EQ(grant.header.rank, static_cast<std::uint16_t>(side));
      all.emplace_back(grant.header.round, grant.header.chunk);
    }
    return all;
  }
  void grant(Side side, std::uint16_t tree, std::uint32_t round, std::uint32_t up_to) {
    edge_.send(side, edge_.grant(side, tree, round, up_to));
  }
  void end(Side side, std::uint16_t tree, std::uint32_t round, RoundOutcome outcome,
           std::uint64_t missing = 0) {
    edge_.send(side, edge_.round_end(side, tree, round, outcome, missing));
  }
  void contribute(std::uint16_t rank, std::uint32_t first, std::uint32_t end,
                  std::uint32_t round = kFirstRound) {
    for (std::uint32_t chunk = first; chunk < end; ++chunk) edge_.contribute(rank, round, chunk);
    edge_.turn();
  }
  /// The one ROUND_END that a side got.
  wire::Header ended(Side side) {
    const auto ends = edge_.take(side, Type::kRoundEnd);
    EXPECT_EQ(ends.size(), 1U);
    return ends.empty() ? wire::Header{} : ends[0].header;
  }

  SmallEdge edge_{EdgeOptions{.lane_count = 1}};
  using Grants = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
};

TEST_F(LaneRoundTest, WhatGoesUpIsTheLeastOfTheGrantsBelow) {
  EXPECT_EQ(grants(kIsland), Grants{}) << "the sites below have not spoken";
  grant(kWest, 1, kFirstRound, 5);
  EXPECT_EQ(grants(kIsland), Grants{});
  grant(kEast, 1, kFirstRound, 7);
  EXPECT_EQ(grants(kIsland), (Grants{{kFirstRound, 5}}));
  grant(kEast, 1, kFirstRound, 20);
  EXPECT_EQ(grants(kIsland), Grants{}) << "west is still the least";
  grant(kWest, 1, kFirstRound, 3);
  EXPECT_EQ(grants(kIsland), Grants{}) << "a grant only grows";
  grant(kWest, 1, kFirstRound, 20);
  EXPECT_EQ(grants(kIsland), (Grants{{kFirstRound, 8}})) << "the edge's own window is now the least";
  EXPECT_EQ(grants(kWest), Grants{});
  grant(kEast, 0, kFirstRound, 6);
  EXPECT_EQ(grants(kWest), (Grants{{kFirstRound, 6}}));
  EXPECT_EQ(edge_.all_drops(), 0U);
}

TEST_F(LaneRoundTest, TheGrantOfThoseBelowBindsHereToo) {
  grant(kEast, 0, kFirstRound, 3);
  contribute(0, 0, 5);
  EXPECT_EQ(edge_.take(kEast, Type::kContribution).size(), 3U);
  EXPECT_EQ(edge_.drops(DropReason::kBeyondGrant), 2U) << "though this edge has slots for them";
  EXPECT_EQ(edge_.edge().totals().contributions, 3U);
}

TEST_F(LaneRoundTest, TwoRoundsAreGrantedAndTheThirdWaits) {
  for (std::uint32_t round = kFirstRound; round < kFirstRound + 3; ++round) grant(kWest, 2, round, 100);
  EXPECT_EQ(grants(kEast), (Grants{{kFirstRound, 8}, {kFirstRound + 1, 8}}));
  EXPECT_EQ(edge_.edge().job().highest_opened_round(), kFirstRound + 2) << "west has opened it";
}

TEST_F(LaneRoundTest, TheGrantMovesAsChunksAreFolded) {
  edge_.grant_all(kFirstRound);
  EXPECT_EQ(grants(kWest), (Grants{{kFirstRound, 8}}));
  contribute(0, 0, 8);
  contribute(1, 0, 8);
  EXPECT_EQ(grants(kWest), Grants{}) << "no chunk is folded";
  contribute(2, 0, 1);
  EXPECT_EQ(grants(kWest), (Grants{{kFirstRound, 9}}));
  contribute(2, 2, 8);
  EXPECT_EQ(grants(kWest), Grants{}) << "chunk 1 holds the window back";
  contribute(2, 1, 2);
  EXPECT_EQ(grants(kWest), (Grants{{kFirstRound, 16}}));
  for (const std::uint16_t rank : kRanks) contribute(rank, 8, 13);
  const Grants last = grants(kWest);
  ASSERT_FALSE(last.empty());
  EXPECT_EQ(last.back(), (Grants::value_type{kFirstRound, wire::kAllChunks})) << "20 chunks: all have a slot";
}

TEST_F(LaneRoundTest, ItsOwnIslandHearsWhomTheFoldPointWaitsFor) {
  edge_.grant_all(kFirstRound);
  const auto first = edge_.take(kIsland, Type::kGrant);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].header.specific, 0b111U) << "nobody has contributed";
  for (const std::uint16_t rank : kRanks) contribute(rank, 0, 1);
  contribute(0, 1, 2);
  edge_.forget_received();
  contribute(1, 1, 3);
  contribute(2, 2, 3);
  contribute(0, 2, 3);
  contribute(2, 1, 2);
  const auto moved = edge_.take(kIsland, Type::kGrant);
  ASSERT_EQ(moved.size(), 1U);
  EXPECT_EQ(moved[0].header.chunk, 11U);
  EXPECT_EQ(moved[0].header.specific, 0b111U) << "chunk 3 has nobody";
  for (const Received& other : edge_.take(kWest, Type::kGrant)) EXPECT_EQ(other.header.specific, 0U);
}

TEST_F(LaneRoundTest, CompleteHereAndBelowGoesUpAndReleases) {
  edge_.update.elements = 5 * 32;
  edge_.grant_all(kFirstRound);
  edge_.forget_received();
  for (const std::uint16_t rank : kRanks) contribute(rank, 0, 5);
  EXPECT_EQ(edge_.edge().totals().rounds_complete, 1U);
  for (const Side side : kAllSides) EXPECT_EQ(edge_.waiting(side, Type::kRoundEnd), 0U);
  end(kWest, 1, kFirstRound, RoundOutcome::kComplete);
  EXPECT_EQ(edge_.waiting(kIsland, Type::kRoundEnd), 0U) << "east has not said so";
  end(kEast, 1, kFirstRound, RoundOutcome::kComplete);
  const wire::Header released = ended(kIsland);
  EXPECT_EQ(released.tree, 1);
  EXPECT_EQ(released.rank, 1);
  EXPECT_EQ(released.epoch, 1U);
  EXPECT_EQ(released.round, kFirstRound);
  EXPECT_EQ(released.chunk, static_cast<std::uint32_t>(RoundOutcome::kComplete));
  EXPECT_EQ(released.specific, 0U);
  end(kEast, 0, kFirstRound, RoundOutcome::kComplete);
  EXPECT_EQ(ended(kWest).tree, 0);
  EXPECT_EQ(edge_.edge().job().highest_opened_round(), kFirstRound + 2);
}

TEST_F(LaneRoundTest, ADeadlineNamesTheMissingAndFreesTheSlots) {
  edge_.grant_all(kFirstRound);
  edge_.grant_all(kFirstRound + 2);
  edge_.acknowledge_everywhere();
  const std::uint64_t level = edge_.rx_pool().in_use();
  ASSERT_EQ(level, 0U);
  contribute(0, 0, 8);
  edge_.advance(kMillisecond);
  contribute(1, 0, 8);
  edge_.acknowledge_everywhere();
  EXPECT_EQ(edge_.rx_pool().in_use(), 16U) << "held in slots, for want of rank 2";
  edge_.forget_received();
  edge_.advance(kDeadline - kMillisecond - 1);
  edge_.turn();
  EXPECT_EQ(edge_.edge().totals().rounds_failed, 0U);
  edge_.advance(1);
  edge_.turn();
  EXPECT_EQ(edge_.edge().totals().rounds_failed, 1U);
  EXPECT_EQ(edge_.rx_pool().in_use(), level);
  const wire::Header failed = ended(kIsland);
  EXPECT_EQ(failed.tree, wire::kNoTree);
  EXPECT_EQ(failed.rank, 1);
  EXPECT_EQ(failed.epoch, 1U);
  EXPECT_EQ(failed.round, kFirstRound);
  EXPECT_EQ(failed.chunk, static_cast<std::uint32_t>(RoundOutcome::kDeadline));
  EXPECT_EQ(failed.specific, 0b100U);
  // The place is taken by the next round.
  EXPECT_EQ(grants(kWest), (Grants{{kFirstRound, wire::kAllChunks}, {kFirstRound + 2, 8}}));
  // What comes late is not held.
  contribute(2, 0, 1);
  EXPECT_EQ(edge_.drops(DropReason::kRoundClosed), 1U);
  EXPECT_EQ(edge_.waiting(kWest, Type::kContribution), 1U) << "but the others may still want it";
}

TEST_F(LaneRoundTest, OnlyTheMissingAreNamed) {
  edge_.update.elements = 4 * 32;
  edge_.grant_all(kFirstRound);
  contribute(0, 0, 4);
  contribute(1, 0, 4);
  contribute(2, 0, 2);  // It stops in the middle.
  edge_.advance(kDeadline);
  edge_.turn();
  EXPECT_EQ(ended(kIsland).specific, 0b100U);
  EXPECT_EQ(edge_.take(kIsland, Type::kResult).size(), 2U) << "what was complete is out";
  // Up the trees it goes once everything below has ended, with the worst outcome and all that are missing.
  end(kEast, 0, kFirstRound, RoundOutcome::kComplete);
  const wire::Header west = ended(kWest);
  EXPECT_EQ(west.tree, 0);
  EXPECT_EQ(west.chunk, static_cast<std::uint32_t>(RoundOutcome::kDeadline));
  EXPECT_EQ(west.specific, 0b100U);
  end(kEast, 1, kFirstRound, RoundOutcome::kAbandoned, 0b010);
  EXPECT_EQ(edge_.waiting(kIsland, Type::kRoundEnd), 0U);
  end(kWest, 1, kFirstRound, RoundOutcome::kComplete);
  const wire::Header island = ended(kIsland);
  EXPECT_EQ(island.tree, 1);
  EXPECT_EQ(island.chunk, static_cast<std::uint32_t>(RoundOutcome::kAbandoned));
  EXPECT_EQ(island.specific, 0b110U);
}

TEST_F(LaneRoundTest, ARoundThatNobodyBeganHasNoDeadline) {
  edge_.grant_all(kFirstRound);
  edge_.forget_received();
  edge_.advance(5 * kDeadline);
  edge_.turn();
  EXPECT_EQ(edge_.edge().totals().rounds_failed, 0U);
  EXPECT_EQ(edge_.waiting(kIsland, Type::kRoundEnd), 0U);
}

TEST_F(LaneRoundTest, ARoundAfterAFailedOneIsExact) {
  for (std::uint32_t round = kFirstRound; round < kFirstRound + 6; ++round) {
    SCOPED_TRACE(round);
    edge_.grant_all(round);
    Random random(round);
    if (round % 2 == 0) {
      contribute(0, 0, 8, round);
      edge_.advance(kDeadline);
      edge_.turn();
      EXPECT_EQ(ended(kIsland).specific, 0b110U);
    } else {
      edge_.contribute_all(round, random);
      const auto results = edge_.take(kIsland, Type::kResult);
      ASSERT_EQ(results.size(), edge_.update.chunks());
      for (const Received& result : results)
        EXPECT_EQ(result.payload, edge_.update.mean(kRanks, round, result.header.chunk));
    }
    edge_.end_elsewhere(round);
    edge_.acknowledge_everywhere();
    edge_.forget_received();
    EXPECT_EQ(edge_.rx_pool().in_use(), 0U);
  }
  EXPECT_EQ(edge_.all_drops(), 0U);
}

TEST_F(LaneRoundTest, AnIslandThatGivesUpIsNotToldAndFreesItsSlots) {
  edge_.grant_all(kFirstRound);
  contribute(0, 0, 8);
  edge_.acknowledge_everywhere();
  edge_.forget_received();
  ASSERT_EQ(edge_.rx_pool().in_use(), 8U);
  end(kIsland, wire::kNoTree, kFirstRound, RoundOutcome::kAbandoned);
  EXPECT_EQ(edge_.rx_pool().in_use(), 0U);
  EXPECT_EQ(edge_.edge().totals().rounds_failed, 1U);
  EXPECT_EQ(edge_.waiting(kIsland, Type::kRoundEnd), 0U);
  end(kEast, 0, kFirstRound, RoundOutcome::kComplete);
  const wire::Header west = ended(kWest);
  EXPECT_EQ(west.chunk, static_cast<std::uint32_t>(RoundOutcome::kAbandoned));
  EXPECT_EQ(west.specific, 0b110U);
  EXPECT_EQ(edge_.edge().job().highest_opened_round(), kFirstRound + 2);
}

TEST_F(LaneRoundTest, RoundsThatTheIslandGivesUpBeforehandAreNeverOpened) {
  for (const std::uint32_t round : {kFirstRound, kFirstRound + 1}) grant(kWest, 2, round, 100);
  EXPECT_EQ(grants(kEast), (Grants{{kFirstRound, 8}, {kFirstRound + 1, 8}}));
  // Rounds 13 and 14, while 10 and 11 are open; then 11 and the one before it.
  end(kIsland, wire::kNoTree, kFirstRound + 4, RoundOutcome::kAbandoned, 1);
  EXPECT_EQ(edge_.edge().totals().rounds_failed, 0U);
  end(kIsland, wire::kNoTree, kFirstRound + 1, RoundOutcome::kAbandoned, 1);
  EXPECT_EQ(edge_.edge().totals().rounds_failed, 2U);
  edge_.forget_received();
  for (const std::uint32_t round : {2, 3, 4, 5}) grant(kWest, 2, kFirstRound + round, 100);
  EXPECT_EQ(grants(kEast), (Grants{{kFirstRound + 2, 8}, {kFirstRound + 5, 8}}));
  EXPECT_EQ(edge_.all_drops(), 0U);
}

TEST_F(LaneRoundTest, WhatAnIslandGivesUpBeforehandIsBounded) {
  constexpr std::uint32_t kMost = aggregation::FoldPoint::kMaxSkips;
  for (std::uint32_t i = 0; i < kMost; ++i)
    end(kIsland, wire::kNoTree, kFirstRound + 10 + 2 * i, RoundOutcome::kAbandoned);
  EXPECT_EQ(edge_.all_drops(), 0U);
  const auto& receiver = edge_.lane(0).peer(kIsland).receiver();
  const std::uint32_t before = receiver.cumulative();
  end(kIsland, wire::kNoTree, kFirstRound + 10 + 2 * kMost, RoundOutcome::kAbandoned);
  EXPECT_EQ(edge_.all_drops(), 1U);
  EXPECT_EQ(receiver.cumulative(), before) << "it comes again";
}

TEST_F(LaneRoundTest, ATransitPacketPassesARoundThatIsOverHere) {
  edge_.grant_all(kFirstRound);
  end(kIsland, wire::kNoTree, kFirstRound, RoundOutcome::kAbandoned);
  edge_.forget_received();
  contribute(0, 0, 3);
  EXPECT_EQ(edge_.take(kEast, Type::kContribution).size(), 3U);
  EXPECT_EQ(edge_.rx_pool().in_use(), 3U) << "for repair, in no slot";
}

}  // namespace
}  // namespace tombolo::dataplane
