#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "dataplane/edge/lane_epoch.h"
#include "protocol/wire/packet.h"
#include "tests/unit/dataplane/edge/small_edge.h"

namespace tombolo::dataplane {
namespace {

using wire::RoundOutcome;
using wire::Type;

TEST(LaneEpochTest, ChildrenAreNumberedLinksFirst) {
  multicast::Branch branch;
  branch.child_links = 0b1010'0100;
  branch.deliver = 0b101;
  EXPECT_EQ(LaneEpoch::child_of_link(branch, 2), 0U);
  EXPECT_EQ(LaneEpoch::child_of_link(branch, 5), 1U);
  EXPECT_EQ(LaneEpoch::child_of_link(branch, 7), 2U);
  EXPECT_EQ(LaneEpoch::child_of_island(branch, 0), 3U);
  EXPECT_EQ(LaneEpoch::child_of_island(branch, 2), 4U);
}

TEST(LaneEpochTest, ATableThatDoesNotHoldTogetherIsRefused) {
  struct Case {
    std::string fault;
    void (*spoil)(EpochTable&);
  };
  const std::vector<Case> cases{
      {"does not deliver the chunks of rank 2",
       [](EpochTable& t) { t.islands[0].members[0].receive_trees[2] = 9; }},
      {"does not deliver the chunks of rank 2",
       [](EpochTable& t) { t.islands[0].members[0].receive_trees[2] = 0; }},
      {"does not deliver the chunks of rank 1",
       [](EpochTable& t) { t.islands[0].members[1].receive_trees[0] = 1; }},
      {"not one entry per round", [](EpochTable& t) { t.islands[0].members.pop_back(); }},
      {"not one entry per round", [](EpochTable& t) { t.islands[0].sends.pop_back(); }},
      {"no schedule entry", [](EpochTable& t) { t.period = 0; }},
      {"no multiple of 2 lanes", [](EpochTable& t) { t.islands[0].members[0].window_chunks = 15; }},
      {"no elements", [](EpochTable& t) { t.chunk_elements = 0; }},
  };
  for (const Case& c : cases) {
    EpochTable table = make_table({.pair_entry = true}, 2);
    c.spoil(table);
    const auto epoch = LaneEpoch::create(std::make_shared<const EpochTable>(table), kFirstRound, 0);
    ASSERT_FALSE(epoch.ok()) << c.fault;
    EXPECT_EQ(epoch.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(epoch.error().message.find(c.fault), std::string::npos) << epoch.error().message;
  }
}

/// Epoch 1 from round 10; epoch 2 from a round that the test chooses. They differ in their chunk size, so a
/// packet under the wrong tables could not be folded.
class TwoEpochsTest : public testing::Test {
 protected:
  static constexpr EpochOptions kOld{.epoch = 1};
  static constexpr EpochOptions kNew{.epoch = 2, .chunk_elements = 64};

  TwoEpochsTest() {
    edge_.bring_up();
    edge_.install(kOld);
    edge_.grant_all(kFirstRound);
    edge_.grant_all(kFirstRound + 1);
  }
  void use(const EpochOptions& epoch) {
    edge_.epoch = epoch.epoch;
    edge_.update.chunk_elements = epoch.chunk_elements;
  }
  /// At most a window at once.
  void contribute(std::uint32_t round, std::uint32_t first, std::uint32_t end) {
    for (std::uint32_t chunk = first; chunk < end; ++chunk) {
      for (const std::uint16_t rank : kRanks) edge_.contribute(rank, round, chunk);
      edge_.turn();
    }
  }
  void expect_results(std::uint32_t round, std::size_t count) {
    const auto results = edge_.take(kIsland, Type::kResult);
    ASSERT_EQ(results.size(), count);
    for (const Received& result : results) {
      EXPECT_EQ(result.header.epoch, edge_.epoch);
      EXPECT_EQ(result.header.round, round);
      EXPECT_EQ(result.payload, edge_.update.mean(kRanks, round, result.header.chunk));
    }
  }

  SmallEdge edge_;
};

TEST_F(TwoEpochsTest, EachPacketIsHandledUnderTheEpochThatItNames) {
  edge_.install(kNew, kFirstRound + 1);
  // Round 10 goes on under epoch 1, round 11 runs under epoch 2, at the same time.
  use(kNew);
  edge_.grant_all(kFirstRound + 1);
  use(kOld);
  contribute(kFirstRound, 0, 6);
  expect_results(kFirstRound, 6);
  use(kNew);
  contribute(kFirstRound + 1, 0, 5);
  expect_results(kFirstRound + 1, 5);
  use(kOld);
  contribute(kFirstRound, 6, 20);
  expect_results(kFirstRound, 14);
  use(kNew);
  contribute(kFirstRound + 1, 5, 10);
  expect_results(kFirstRound + 1, 5);
  EXPECT_EQ(edge_.all_drops(), 0U);
  EXPECT_EQ(edge_.edge().totals().rounds_complete, 2U * 2);
}

TEST_F(TwoEpochsTest, ARoundUnderTheWrongEpochIsClosed) {
  edge_.install(kNew, kFirstRound + 1);
  use(kNew);
  edge_.grant_all(kFirstRound + 1);
  contribute(kFirstRound, 0, 1);
  EXPECT_EQ(edge_.drops(DropReason::kRoundClosed), 3U) << "round 10 is not epoch 2's";
  use(kOld);
  contribute(kFirstRound + 1, 0, 1);
  EXPECT_EQ(edge_.drops(DropReason::kRoundClosed), 6U) << "round 11 is no longer epoch 1's";
  EXPECT_EQ(edge_.all_drops(), 6U);
  EXPECT_EQ(edge_.edge().totals().contributions, 0U);
}

TEST_F(TwoEpochsTest, OpenRoundsThatTheNewEpochTakesOverAreSuperseded) {
  contribute(kFirstRound + 1, 0, 2);
  edge_.contribute(0, kFirstRound + 1, 2);
  edge_.turn();
  edge_.acknowledge_everywhere();
  edge_.forget_received();
  ASSERT_EQ(edge_.rx_pool().in_use(), 1U);
  edge_.install(kNew, kFirstRound + 1);
  EXPECT_EQ(edge_.rx_pool().in_use(), 0U);
  EXPECT_EQ(edge_.edge().totals().rounds_failed, 2U) << "in each of two lanes";
  const auto ends = edge_.take(kIsland, Type::kRoundEnd);
  ASSERT_EQ(ends.size(), 2U);
  for (const Received& end : ends) {
    EXPECT_EQ(end.header.epoch, 1U);
    EXPECT_EQ(end.header.round, kFirstRound + 1);
    EXPECT_EQ(end.header.tree, wire::kNoTree);
    EXPECT_EQ(end.header.chunk, static_cast<std::uint32_t>(RoundOutcome::kSuperseded));
  }
  // Once the sites have ended it too, so does the tree.
  edge_.end_elsewhere(kFirstRound + 1, RoundOutcome::kSuperseded);
  for (const Received& end : edge_.take(kWest, Type::kRoundEnd))
    EXPECT_EQ(end.header.chunk, static_cast<std::uint32_t>(RoundOutcome::kSuperseded));
}

TEST_F(TwoEpochsTest, NoRoundOfTheOldEpochOpensAtOrBehindItsEnd) {
  edge_.install(kNew, kFirstRound + 2);
  edge_.forget_received();
  for (std::uint32_t round = kFirstRound; round < kFirstRound + 2; ++round) {
    contribute(round, 0, 20);
    edge_.end_elsewhere(round);
    expect_results(round, 20);
  }
  for (const Side side : kAllSides)
    for (const Received& grant : edge_.take(side, Type::kGrant))
      EXPECT_TRUE(grant.header.epoch == 2 || grant.header.round < kFirstRound + 2);
  EXPECT_TRUE(edge_.edge().job().can_install());
}

TEST_F(TwoEpochsTest, AThirdEpochWaitsUntilTheFirstIsOver) {
  edge_.install(kNew, kFirstRound + 2);
  EXPECT_FALSE(edge_.edge().job().can_install());
  const Status early = edge_.try_install({.epoch = 3}, kFirstRound + 4);
  ASSERT_FALSE(early.ok());
  EXPECT_EQ(early.error().code, ErrorCode::kUnavailable);
  contribute(kFirstRound, 0, 20);
  EXPECT_FALSE(edge_.edge().job().can_install()) << "round 11 is still open";
  edge_.contribute(0, kFirstRound + 1, 0);
  edge_.contribute(0, kFirstRound + 1, 1);
  edge_.turn();
  edge_.advance(kDeadline);
  edge_.turn();
  EXPECT_TRUE(edge_.edge().job().can_install());
  edge_.install({.epoch = 3}, kFirstRound + 4);
  // Epoch 1 is gone, and what still comes of it is not to be repeated.
  edge_.forget_received();
  const std::uint32_t before = edge_.lane(0).peer(kWest).receiver().cumulative();
  edge_.contribute(0, kFirstRound, 0);
  edge_.turn();
  EXPECT_EQ(edge_.drops(DropReason::kUnknownEpoch), 1U);
  EXPECT_EQ(edge_.lane(0).peer(kWest).receiver().cumulative(), before + 1);
  // Epoch 2 and epoch 3 live.
  use(kNew);
  edge_.grant_all(kFirstRound + 2);
  contribute(kFirstRound + 2, 0, 10);
  expect_results(kFirstRound + 2, 10);
  use({.epoch = 3});
  edge_.grant_all(kFirstRound + 4);
  contribute(kFirstRound + 4, 0, 20);
  expect_results(kFirstRound + 4, 20);
}

TEST_F(TwoEpochsTest, ARoundThatNobodyBeginsHoldsUpTheThirdForOneDeadline) {
  edge_.install(kNew, kFirstRound + 2);
  edge_.advance(kDeadline - 1);
  edge_.contribute(0, kFirstRound, 0);
  edge_.turn();
  edge_.advance(kDeadline - 1);
  edge_.turn();
  EXPECT_FALSE(edge_.edge().job().can_install()) << "it was used since";
  edge_.advance(1);
  edge_.turn();
  EXPECT_TRUE(edge_.edge().job().can_install());
  edge_.acknowledge_everywhere();
  edge_.install({.epoch = 3}, kFirstRound + 4);
  EXPECT_EQ(edge_.rx_pool().in_use(), 0U) << "what its rounds held is dropped";
}

TEST(TransitEpochTest, RoundsOnTheirWayThroughKeepAnEpochAlive) {
  SmallEdge edge;
  edge.bring_up();
  edge.install({.epoch = 1, .edge_aggregation = false});
  edge.grant_all(kFirstRound);
  edge.install({.epoch = 2, .edge_aggregation = false}, kFirstRound + 1);
  EXPECT_FALSE(edge.edge().job().can_install()) << "the round has begun below, though no fold point is here";
  edge.end_elsewhere(kFirstRound);
  EXPECT_FALSE(edge.edge().job().can_install()) << "the island folds for itself and is not done";
  for (std::uint16_t lane = 0; lane < 2; ++lane)
    for (const std::uint16_t tree : {kRanks[0], kRanks[2]}) {
      wire::Header end = edge.round_end(kIsland, tree, kFirstRound, RoundOutcome::kComplete);
      end.lane = lane;
      edge.put(kIsland, end);
    }
  edge.turn();
  EXPECT_TRUE(edge.edge().job().can_install());
}

TEST_F(TwoEpochsTest, AnEpochThatIsNotTakenUpYetKeepsTheNextOut) {
  ASSERT_TRUE(edge_.try_install(kNew, kFirstRound + 2).ok());
  EXPECT_FALSE(edge_.edge().job().can_install()) << "no lane has had a turn";
}

TEST_F(TwoEpochsTest, EpochsInARowForALongTime) {
  std::uint32_t round = kFirstRound;
  for (std::uint32_t epoch = 2; epoch < 40; ++epoch) {
    SCOPED_TRACE(epoch);
    const std::uint32_t chunk_elements = epoch % 2 == 0 ? 64 : 32;
    edge_.install({.epoch = epoch, .chunk_elements = chunk_elements}, round + 1);
    // The old epoch's last round ends under it.
    edge_.grant_all(round);
    contribute(round, 0, edge_.update.chunks());
    expect_results(round, edge_.update.chunks());
    edge_.end_elsewhere(round);
    edge_.end_elsewhere(round + 1, RoundOutcome::kSuperseded);
    ++round;
    use({.epoch = epoch, .chunk_elements = chunk_elements});
    edge_.grant_all(round);
    contribute(round, 0, edge_.update.chunks());
    expect_results(round, edge_.update.chunks());
    edge_.end_elsewhere(round);
    ++round;
    edge_.acknowledge_everywhere();
    edge_.forget_received();
  }
  EXPECT_EQ(edge_.all_drops(), 0U);
  EXPECT_EQ(edge_.rx_pool().in_use(), 0U);
}

}  // namespace
}  // namespace tombolo::dataplane
