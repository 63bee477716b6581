#include <gtest/gtest.h>

#include <vector>

#include "protocol/link/sender.h"
#include "tests/unit/dataplane/edge/small_edge.h"

namespace tombolo::dataplane {
namespace {

using wire::Type;

/// Want of room: the packet is dropped and counted, is not marked as arrived, and its repeat is taken later.
class LaneRoomTest : public testing::Test {
 protected:
  static EdgeOptions one_lane(std::uint32_t window_packets, std::uint32_t edge_buffers) {
    EdgeOptions options;
    options.lane_count = 1;
    options.window_packets = window_packets;
    options.edge_buffers = edge_buffers;
    return options;
  }
  static void start(SmallEdge& edge, const EpochOptions& options) {
    edge.bring_up();
    edge.install(options);
    edge.grant_all(kFirstRound);
    edge.acknowledge_everywhere();
    edge.forget_received();
  }
  static std::uint32_t marked(SmallEdge& edge, Side side) {
    return edge.lane(0).peer(side).receiver().cumulative();
  }
  /// The same packet as before, as the previous hop repeats it.
  static void repeat(SmallEdge& edge, Side side, const Bytes& packet) {
    edge.put_raw(side, SmallEdge::address(side), 0, packet);
    edge.turn();
  }
};

TEST_F(LaneRoomTest, AFullWindowBelowRefusesAndTheRepeatIsTaken) {
  constexpr std::uint32_t kWindow = 64;
  constexpr std::uint32_t kData = kWindow - link::Sender::kControlReserve;
  SmallEdge edge(one_lane(kWindow, 4096));
  edge.update.elements = 200 * 32;
  EpochOptions options;
  options.slots_per_lane = 128;
  start(edge, options);
  for (std::uint32_t chunk = 0; chunk < kData; ++chunk) edge.contribute(0, kFirstRound, chunk);
  edge.turn();
  ASSERT_EQ(edge.all_drops(), 0U);
  EXPECT_EQ(edge.take(kEast, Type::kContribution).size(), kData);
  const std::uint32_t before = marked(edge, kWest);
  const std::uint64_t held = edge.rx_pool().in_use();

  const Bytes refused =
      edge.send(kWest, edge.contribution(0, kFirstRound, kData), edge.payload(0, kFirstRound, kData));
  EXPECT_EQ(edge.drops(DropReason::kLinkWindowFull), 1U);
  EXPECT_EQ(edge.all_drops(), 1U);
  EXPECT_EQ(marked(edge, kWest), before) << "it stays a gap";
  EXPECT_EQ(edge.lane(0).peer(kWest).receiver().highest(), before + 1);
  EXPECT_EQ(edge.rx_pool().in_use(), held) << "no slot took it";
  EXPECT_EQ(edge.waiting(kEast, Type::kContribution), 0U);
  EXPECT_EQ(edge.edge().totals().contributions, kData);

  edge.acknowledge(kEast);
  repeat(edge, kWest, refused);
  EXPECT_EQ(edge.all_drops(), 1U);
  EXPECT_EQ(marked(edge, kWest), before + 1);
  const auto copies = edge.take(kEast, Type::kContribution);
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(copies[0].payload, edge.payload(0, kFirstRound, kData));
  repeat(edge, kWest, refused);
  EXPECT_EQ(edge.drops(DropReason::kDuplicateSequence), 1U);
}

TEST_F(LaneRoomTest, ALateMemberPinsNoReceiveBuffers) {
  constexpr std::uint32_t kChunks = 128;
  EdgeOptions small = one_lane(512, 4096);
  small.receive_buffers = 96;  // Two members' windows are 256 contributions.
  SmallEdge edge(small);
  edge.update.elements = kChunks * 32;
  EpochOptions options;
  options.slots_per_lane = kChunks;
  start(edge, options);
  for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) {
    edge.contribute(0, kFirstRound, chunk);
    edge.contribute(1, kFirstRound, chunk);
    edge.turn();
    if (chunk % 8 == 7) edge.acknowledge_everywhere();
  }
  edge.acknowledge_everywhere();
  for (int turn = 0; turn < 100; ++turn) edge.turn();
  const std::uint32_t held = aggregation::held_buffers(aggregation::kHeldBytes, kMaxPayloadBytes);
  EXPECT_LE(edge.rx_pool().in_use(), held);
  EXPECT_EQ(edge.rx_pool().empties(), 0U);
  const LaneCounters& counters = edge.lane(0).counters();
  EXPECT_EQ(counters.held_contributions.get(), 2 * kChunks);
  EXPECT_GE(counters.arena_used_bytes.get(), (2 * kChunks - held) * std::uint64_t{kMaxPayloadBytes});
  EXPECT_GE(counters.arena_bytes.get(), counters.arena_used_bytes.get());

  edge.advance(kDeadline / 2);
  edge.forget_received();
  for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) {
    edge.contribute(2, kFirstRound, chunk);
    edge.turn();
    if (chunk % 8 == 7) edge.acknowledge_everywhere();
  }
  const auto results = edge.take(kIsland, Type::kResult);
  ASSERT_EQ(results.size(), kChunks);
  for (const Received& result : results)
    EXPECT_EQ(result.payload, edge.update.mean(kRanks, kFirstRound, result.header.chunk));
  EXPECT_EQ(edge.all_drops(), 0U);
  edge.acknowledge_everywhere();
  EXPECT_EQ(counters.arena_used_bytes.get(), 0U);
  EXPECT_GT(counters.arena_high_water_bytes.get(), 0U);
}

TEST_F(LaneRoomTest, AFullWindowHoldsUpItsOwnTreesOnly) {
  constexpr std::uint32_t kWindow = 64;
  SmallEdge edge(one_lane(kWindow, 4096));
  edge.update.elements = 200 * 32;
  EpochOptions options;
  options.slots_per_lane = 128;
  start(edge, options);
  for (std::uint32_t chunk = 0; chunk < 40; ++chunk) edge.contribute(0, kFirstRound, chunk);
  edge.turn();
  ASSERT_EQ(edge.drops(DropReason::kLinkWindowFull), 8U);
  // Rank 2's chunks go west; that east does not acknowledge is nothing to them.
  for (std::uint32_t chunk = 0; chunk < 20; ++chunk) edge.contribute(2, kFirstRound, chunk);
  edge.turn();
  EXPECT_EQ(edge.drops(DropReason::kLinkWindowFull), 8U);
  EXPECT_EQ(edge.take(kWest, Type::kContribution).size(), 20U);
}

TEST_F(LaneRoomTest, AFullAccessLinkRefusesBeforeAnySlotIsTaken) {
  constexpr std::uint32_t kWindow = 64;
  constexpr std::uint32_t kData = kWindow - link::Sender::kControlReserve;
  SmallEdge edge(one_lane(kWindow, 4096));
  edge.update.elements = 200 * 32;
  EpochOptions options;
  options.slots_per_lane = 128;
  start(edge, options);
  std::uint32_t chunk = 0;
  // The island acknowledges nothing: neither its results nor its grants.
  while (edge.drops(DropReason::kLinkWindowFull) == 0) {
    ASSERT_LT(chunk, kWindow);
    for (const std::uint16_t rank : kRanks) edge.contribute(rank, kFirstRound, chunk);
    edge.turn();
    for (const Side side : {kWest, kEast}) edge.acknowledge(side);
    ++chunk;
  }
  EXPECT_LE(edge.lane(0).peer(kIsland).sender().outstanding(), kData);
  const auto finished = edge.take(kIsland, Type::kResult).size();
  EXPECT_EQ(finished, chunk - 1);
  EXPECT_EQ(edge.drops(DropReason::kPeerDown), 0U);
}

TEST_F(LaneRoomTest, GrantsLeaveTheEndOfARoundItsPlaceOnTheAccessLink) {
  constexpr std::uint32_t kWindow = 64;
  SmallEdge edge(one_lane(kWindow, 4096));
  edge.update.elements = 4000 * 32;
  EpochOptions options;
  options.slots_per_lane = 2048;
  edge.bring_up();
  edge.install(options);
  edge.send(kEast, edge.grant(kEast, 1, kFirstRound, 2000));
  // The island hears nothing of what the edge says, while its grant moves on step by step.
  for (std::uint32_t up_to = 1; up_to < 3 * kWindow; ++up_to)
    edge.send(kWest, edge.grant(kWest, 1, kFirstRound, up_to));
  const std::size_t told = edge.waiting(kIsland, Type::kGrant);
  EXPECT_LT(told, kWindow);
  edge.forget_received();
  edge.send(kWest, edge.grant(kWest, 1, kFirstRound, 1000));
  edge.send(kEast, edge.grant(kEast, 0, kFirstRound, 2000));
  EXPECT_EQ(edge.waiting(kIsland, Type::kGrant), 0U) << "no room for a grant";
  const Bytes refused =
      edge.send(kWest, edge.contribution(0, kFirstRound, 0), edge.payload(0, kFirstRound, 0));
  EXPECT_EQ(edge.drops(DropReason::kLinkWindowFull), 1U) << "nor for a result";
  // Once there was a contribution, the deadline runs; the end of the round still gets through.
  edge.acknowledge(kIsland);
  edge.forget_received();
  repeat(edge, kWest, refused);
  ASSERT_EQ(edge.edge().totals().contributions, 1U);
  for (std::uint32_t up_to = 1001; up_to < 1001 + 3 * kWindow; ++up_to)
    edge.send(kWest, edge.grant(kWest, 1, kFirstRound, up_to));
  edge.advance(kDeadline);
  edge.turn();
  EXPECT_EQ(edge.waiting(kIsland, Type::kRoundEnd), 1U);
  // And the grant that waited goes when there is room.
  edge.acknowledge(kIsland);
  edge.advance(kMillisecond);
  edge.turn();
  const auto grants = edge.take(kIsland, Type::kGrant);
  ASSERT_FALSE(grants.empty());
  EXPECT_EQ(grants.back().header.chunk, 1000 + 3 * kWindow) << "the newest, told once";
}

TEST_F(LaneRoomTest, AnEmptyPoolRefusesAndTheRepeatIsTaken) {
  constexpr std::uint32_t kBuffers = 6;
  SmallEdge edge(one_lane(256, kBuffers));
  start(edge, {});
  for (std::uint32_t chunk = 0; chunk < kBuffers; ++chunk)
    for (const std::uint16_t rank : kRanks) edge.contribute(rank, kFirstRound, chunk);
  edge.turn();
  // Each result keeps its buffer until the island has it.
  EXPECT_EQ(edge.edge().totals().folds, kBuffers);
  ASSERT_EQ(edge.edge_pool().in_use(), kBuffers);
  const std::uint64_t without_buffer = edge.drops(DropReason::kNoBuffer);
  const std::uint32_t before = marked(edge, kWest);
  const std::uint64_t held = edge.rx_pool().in_use();

  const Bytes refused =
      edge.send(kWest, edge.contribution(0, kFirstRound, kBuffers), edge.payload(0, kFirstRound, kBuffers));
  // The feedback that wants to report the gap finds no buffer either.
  EXPECT_GE(edge.drops(DropReason::kNoBuffer), without_buffer + 1);
  EXPECT_EQ(edge.all_drops(), edge.drops(DropReason::kNoBuffer));
  EXPECT_EQ(marked(edge, kWest), before);
  EXPECT_EQ(edge.rx_pool().in_use(), held);
  EXPECT_EQ(edge.edge().totals().contributions, 3U * kBuffers);

  edge.acknowledge(kIsland);
  EXPECT_EQ(edge.edge_pool().in_use(), 0U);
  repeat(edge, kWest, refused);
  EXPECT_EQ(marked(edge, kWest), before + 1);
  EXPECT_EQ(edge.edge().totals().contributions, 3U * kBuffers + 1);
  edge.advance(kSecond / 10);
  edge.turn();
  EXPECT_GE(edge.waiting(kWest, Type::kFeedback), 1U) << "and feedback flows again";
}

}  // namespace
}  // namespace tombolo::dataplane
