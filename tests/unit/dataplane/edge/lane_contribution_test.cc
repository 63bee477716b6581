#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "base/random.h"
#include "protocol/wire/packet.h"
#include "tests/unit/dataplane/edge/small_edge.h"

namespace tombolo::dataplane {
namespace {

using wire::Type;

constexpr std::array<std::uint16_t, 2> kPair{1, 2};

class LaneContributionTest : public testing::Test {
 protected:
  void start(const EpochOptions& options = {}) {
    edge_.bring_up();
    edge_.install(options);
    edge_.grant_all(kFirstRound);
    edge_.forget_received();
  }
  SmallEdge edge_;
};

TEST_F(LaneContributionTest, TheIslandsChunkGoesToEveryChildLinkWithItsPayload) {
  start();
  edge_.contribute(1, kFirstRound, 3);
  edge_.turn();
  const Bytes payload = edge_.payload(1, kFirstRound, 3);
  for (const Side side : {kWest, kEast}) {
    const auto copies = edge_.take(side, Type::kContribution);
    ASSERT_EQ(copies.size(), 1U);
    const wire::Header& header = copies[0].header;
    EXPECT_EQ(copies[0].payload, payload);
    EXPECT_EQ(header.rank, 1);
    EXPECT_EQ(header.tree, 1);
    EXPECT_EQ(header.lane, 1);
    EXPECT_EQ(header.epoch, 1U);
    EXPECT_EQ(header.round, kFirstRound);
    EXPECT_EQ(header.chunk, 3U);
    EXPECT_EQ(header.specific, edge_.update.elements);
    EXPECT_EQ(header.flags, 0);
    EXPECT_EQ(header.timestamp_us, edge_.now_ns() / kMicrosecond);
  }
  EXPECT_EQ(edge_.waiting(kIsland, Type::kContribution), 0U);
  EXPECT_EQ(edge_.waiting(kIsland, Type::kResult), 0U);
  EXPECT_EQ(edge_.edge().totals().contributions, 1U);
  EXPECT_EQ(edge_.edge().totals().copies, 2U);
  EXPECT_EQ(edge_.edge().totals().payload_bytes_saved, payload.size());
}

TEST_F(LaneContributionTest, ARepairedPacketIsForwardedAsANewOne) {
  start();
  wire::Header repaired = edge_.contribution(0, kFirstRound, 0);
  repaired.flags = wire::kFlagRepair;
  edge_.send(kWest, repaired, edge_.payload(0, kFirstRound, 0));
  const auto copies = edge_.take(kEast, Type::kContribution);
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(copies[0].header.flags, 0);
  EXPECT_EQ(edge_.waiting(kWest, Type::kContribution), 0U) << "never back where it came from";
}

TEST_F(LaneContributionTest, AChunkIsFinishedWhenItsLastContributionIsIn) {
  start();
  for (const std::uint32_t chunk : {0U, 1U, 2U})
    for (const std::uint16_t rank : {kRanks[2], kRanks[1]}) edge_.contribute(rank, kFirstRound, chunk);
  edge_.turn();
  EXPECT_EQ(edge_.waiting(kIsland, Type::kResult), 0U);
  edge_.contribute(0, kFirstRound, 2);
  edge_.turn();
  const auto results = edge_.take(kIsland, Type::kResult);
  ASSERT_EQ(results.size(), 1U) << "per chunk, whatever the others wait for";
  const wire::Header& header = results[0].header;
  EXPECT_EQ(results[0].payload, edge_.update.mean(kRanks, kFirstRound, 2));
  EXPECT_EQ(header.rank, 1);
  EXPECT_EQ(header.epoch, 1U);
  EXPECT_EQ(header.round, kFirstRound);
  EXPECT_EQ(header.chunk, 2U);
  EXPECT_EQ(header.specific, 0b111U) << "contributors";
  EXPECT_EQ(header.format, static_cast<std::uint8_t>(wire::Format::kFp32));
  EXPECT_EQ(header.operation, static_cast<std::uint8_t>(wire::Operation::kMean));
}

TEST_F(LaneContributionTest, TheOrderOfFoldingIsTheRanksAndMatters) {
  const std::array<std::uint16_t, 3> other_order{2, 1, 0};
  EXPECT_NE(edge_.update.mean(kRanks, kFirstRound, 0), edge_.update.mean(other_order, kFirstRound, 0))
      << "a canary: these inputs can tell one order from another";
}

TEST_F(LaneContributionTest, WholeRoundsInAnyOrderOfArrival) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    SCOPED_TRACE(seed);
    SmallEdge fresh;
    fresh.bring_up();
    fresh.install({});
    Random random(seed);
    for (std::uint32_t round = kFirstRound; round < kFirstRound + 5; ++round) {
      fresh.grant_all(round);
      fresh.contribute_all(round, random);
      fresh.end_elsewhere(round);
      fresh.acknowledge_everywhere();
      const auto results = fresh.take(kIsland, Type::kResult);
      ASSERT_EQ(results.size(), fresh.update.chunks());
      for (const Received& result : results)
        EXPECT_EQ(result.payload, fresh.update.mean(kRanks, round, result.header.chunk));
      EXPECT_EQ(fresh.take(kWest, Type::kContribution).size(), 2 * fresh.update.chunks());
      EXPECT_EQ(fresh.take(kEast, Type::kContribution).size(), 2 * fresh.update.chunks());
    }
    EXPECT_EQ(fresh.all_drops(), 0U);
    EXPECT_EQ(fresh.edge().totals().rounds_complete, 5U * 2) << "in each of two lanes";
    EXPECT_EQ(fresh.rx_pool().in_use(), 0U) << "everything folded, and acknowledged on every link";
  }
}

TEST_F(LaneContributionTest, TwoRoundsAtOnceDoNotMix) {
  start();
  edge_.grant_all(kFirstRound + 1);
  for (std::uint32_t chunk = 0; chunk < 10; ++chunk)
    for (const std::uint32_t round : {kFirstRound + 1, kFirstRound})
      for (const std::uint16_t rank : kRanks) edge_.contribute(rank, round, chunk);
  edge_.turn();
  std::array<int, 2> results{};
  for (const Received& result : edge_.take(kIsland, Type::kResult)) {
    ++results.at(result.header.round - kFirstRound);
    EXPECT_EQ(result.payload, edge_.update.mean(kRanks, result.header.round, result.header.chunk));
  }
  EXPECT_EQ(results, (std::array<int, 2>{10, 10}));
}

TEST_F(LaneContributionTest, AnUpdateOfOneElementHasAnEmptyChunkInTheOtherLane) {
  edge_.update.elements = 1;
  start();
  for (const std::uint16_t rank : kRanks) {
    edge_.put(SmallEdge::side_of(rank), edge_.contribution(rank, kFirstRound, 0),
              edge_.payload(rank, kFirstRound, 0));
    edge_.put(SmallEdge::side_of(rank), edge_.contribution(rank, kFirstRound, 1), {});
  }
  edge_.turn();
  const auto results = edge_.take(kIsland, Type::kResult);
  ASSERT_EQ(results.size(), 2U);
  for (const Received& result : results)
    EXPECT_EQ(result.payload, result.header.chunk == 0 ? edge_.update.mean(kRanks, kFirstRound, 0) : Bytes{});
  EXPECT_EQ(edge_.edge().totals().rounds_complete, 2U);
}

TEST_F(LaneContributionTest, APairRoundUsesItsOwnTrees) {
  EpochOptions options;
  options.pair_entry = true;
  start(options);
  const std::uint32_t round = kFirstRound + 1;
  for (std::uint16_t lane = 0; lane < 2; ++lane) {
    wire::Header granted = edge_.grant(kEast, kPairTrees + 1, round, wire::kAllChunks);
    granted.lane = lane;
    edge_.put(kEast, granted);
  }
  edge_.turn();
  for (const std::uint16_t rank : kPair) {
    wire::Header header = edge_.contribution(rank, round, 0);
    header.tree = kPairTrees + rank;
    edge_.send(SmallEdge::side_of(rank), header, edge_.payload(rank, round, 0));
  }
  const auto results = edge_.take(kIsland, Type::kResult);
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].payload, edge_.update.mean(kPair, round, 0));
  EXPECT_EQ(results[0].header.specific, 0b11U);
  EXPECT_EQ(edge_.waiting(kWest, Type::kContribution), 0U);
  EXPECT_EQ(edge_.waiting(kEast, Type::kContribution), 1U) << "only the island's own";
}

TEST_F(LaneContributionTest, WithoutAggregationTheIslandGetsEveryStream) {
  EpochOptions options;
  options.edge_aggregation = false;
  edge_.bring_up();
  edge_.install(options);
  edge_.grant_all(kFirstRound);
  for (const std::uint16_t tree : {kRanks[0], kRanks[2]})
    edge_.send(kIsland, edge_.grant(kIsland, tree, kFirstRound, 16));
  edge_.forget_received();
  for (const std::uint16_t rank : kRanks) edge_.contribute(rank, kFirstRound, 0);
  edge_.turn();
  const auto copies = edge_.take(kIsland, Type::kContribution);
  ASSERT_EQ(copies.size(), 2U);
  for (const Received& copy : copies)
    EXPECT_EQ(copy.payload, edge_.payload(copy.header.rank, kFirstRound, 0));
  EXPECT_EQ(edge_.waiting(kIsland, Type::kResult), 0U);
  EXPECT_EQ(edge_.take(kWest, Type::kContribution).size(), 2U);
  EXPECT_EQ(edge_.take(kEast, Type::kContribution).size(), 2U);
}

TEST_F(LaneContributionTest, TheNextHopsGapIsRepairedFromHere) {
  start();
  for (const std::uint32_t chunk : {0U, 2U, 4U}) edge_.contribute(1, kFirstRound, chunk);
  edge_.turn();
  const auto copies = edge_.take(kEast, Type::kContribution);
  ASSERT_EQ(copies.size(), 3U);
  edge_.advance(kSecond / 10);
  wire::Feedback feedback;
  feedback.peer_session = kEdgeSession;
  feedback.cumulative = copies[1].header.link_sequence;
  feedback.highest = feedback.cumulative + 2;
  feedback.range_count = 1;
  feedback.ranges[0] = {feedback.cumulative, 1};
  Bytes body(wire::kMaxFeedbackBytes);
  body.resize(wire::encode(feedback, body));
  edge_.send(kEast, edge_.header(kEast, Type::kFeedback), body);
  const auto repairs = edge_.take(kEast, Type::kContribution);
  ASSERT_EQ(repairs.size(), 1U);
  EXPECT_EQ(repairs[0].header.flags, wire::kFlagRepair);
  EXPECT_EQ(repairs[0].header.link_sequence, copies[1].header.link_sequence);
  EXPECT_EQ(repairs[0].header.chunk, 2U);
  EXPECT_EQ(repairs[0].header.timestamp_us, edge_.now_ns() / kMicrosecond);
  EXPECT_EQ(repairs[0].payload, edge_.payload(1, kFirstRound, 2));
  EXPECT_EQ(edge_.edge().totals().repairs, 1U);
}

TEST_F(LaneContributionTest, AChildThatIsDownLosesItsCopyAndKeepsNobodyElseWaiting) {
  edge_.turn();
  for (const Side side : {kWest, kIsland}) edge_.greet(side);
  edge_.turn();
  edge_.install({});
  ASSERT_FALSE(edge_.edge().all_links_up());
  // East is not there, so its grants cannot be either; the pair of trees that pass to it stays shut, and
  // rank 2's tree, which does not, opens. Then east comes, grants, and goes: its links expire.
  edge_.greet(kEast);
  edge_.turn();
  edge_.grant_all(kFirstRound);
  edge_.advance(29 * kSecond);
  for (const Side side : {kWest, kIsland}) edge_.greet(side);
  edge_.turn();
  edge_.advance(2 * kSecond);
  edge_.turn();
  ASSERT_FALSE(edge_.edge().all_links_up());
  edge_.forget_received();
  edge_.contribute(1, kFirstRound, 0);
  edge_.turn();
  EXPECT_EQ(edge_.waiting(kWest, Type::kContribution), 1U);
  EXPECT_EQ(edge_.waiting(kEast, Type::kContribution), 0U);
  EXPECT_EQ(edge_.drops(DropReason::kPeerDown), 1U);
}

}  // namespace
}  // namespace tombolo::dataplane
