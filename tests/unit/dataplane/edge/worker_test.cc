#include "dataplane/worker/worker.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "protocol/wire/packet.h"
#include "tests/unit/dataplane/edge/small_edge.h"

namespace tombolo::dataplane {
namespace {

using wire::Type;

struct Layout {
  std::uint32_t workers;
  std::uint32_t receive_queues;
};

class WorkerLayoutTest : public testing::TestWithParam<Layout> {};

TEST_P(WorkerLayoutTest, TheSameResultsAndCopiesWhateverTheWorkers) {
  SmallEdge edge(
      {.lane_count = 4, .workers = GetParam().workers, .receive_queues = GetParam().receive_queues});
  edge.bring_up();
  edge.install({});
  Random random(17);
  constexpr std::uint32_t kRounds = 4;
  for (std::uint32_t round = kFirstRound; round < kFirstRound + kRounds; ++round) {
    edge.grant_all(round);
    edge.contribute_all(round, random);
    edge.end_elsewhere(round);
    edge.acknowledge_everywhere();
  }
  const std::uint32_t chunks = edge.update.chunks();
  const auto results = edge.take(kIsland, Type::kResult);
  EXPECT_EQ(results.size(), kRounds * chunks);
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
  for (const Received& result : results) {
    EXPECT_TRUE(seen.emplace(result.header.round, result.header.chunk).second);
    EXPECT_EQ(result.payload, edge.update.mean(kRanks, result.header.round, result.header.chunk));
  }
  for (const Side side : {kWest, kEast}) {
    std::set<std::tuple<std::uint16_t, std::uint32_t, std::uint32_t>> copies;
    for (const Received& copy : edge.take(side, Type::kContribution)) {
      const wire::Header& header = copy.header;
      EXPECT_NE(SmallEdge::side_of(header.rank), side);
      EXPECT_TRUE(copies.emplace(header.rank, header.round, header.chunk).second);
      EXPECT_EQ(copy.payload, edge.payload(header.rank, header.round, header.chunk));
    }
    EXPECT_EQ(copies.size(), 2 * kRounds * chunks);
  }
  EXPECT_EQ(edge.all_drops(), 0U);
  EXPECT_EQ(edge.edge().totals().rounds_complete, kRounds * 4);
  EXPECT_EQ(edge.edge().totals().handed_over > 0, GetParam().receive_queues < GetParam().workers);
}

INSTANTIATE_TEST_SUITE_P(Workers, WorkerLayoutTest,
                         testing::Values(Layout{1, 1}, Layout{2, 1}, Layout{2, 2}, Layout{4, 1}, Layout{4, 2},
                                         Layout{4, 4}),
                         [](const auto& layout) {
                           return std::to_string(layout.param.workers) + "_workers_" +
                                  std::to_string(layout.param.receive_queues) + "_queues";
                         });

/// Two workers, one queue: worker 0 receives for both.
class HandOverTest : public testing::Test {
 protected:
  void put(std::size_t count, std::uint16_t lane) {
    for (std::size_t i = 0; i < count; ++i) edge_.put_raw(kWest, SmallEdge::address(kWest), lane, Bytes(10));
  }
  void receive_all() {
    while (edge_.edge().worker(0).turn(edge_.now_ns()).received > 0) {
    }
  }

  SmallEdge edge_{EdgeOptions{.workers = 2}};
};

TEST_F(HandOverTest, AFullQueueDropsAndCounts) {
  constexpr std::size_t kSent = 1500;
  put(kSent, 1);
  receive_all();
  const EdgeTotals totals = edge_.edge().totals();
  EXPECT_GT(totals.handed_over, 0U);
  EXPECT_GT(edge_.drops(DropReason::kHandOverFull), 0U);
  EXPECT_EQ(totals.handed_over + edge_.drops(DropReason::kHandOverFull), kSent);
  EXPECT_EQ(edge_.rx_pool().in_use(), totals.handed_over) << "what was dropped is back in its pool";
  EXPECT_EQ(totals.packets_in, 0U);
  edge_.turn();
  EXPECT_EQ(edge_.edge().totals().packets_in, totals.handed_over);
  EXPECT_EQ(edge_.all_drops(), kSent) << "each packet once: no room, or too short";
  EXPECT_EQ(edge_.rx_pool().in_use(), 0U);
}

TEST_F(HandOverTest, PacketsUnderWayGoWithTheEdge) {
  put(100, 1);
  receive_all();
  EXPECT_EQ(edge_.rx_pool().in_use(), 100U);
}

TEST_F(HandOverTest, AWorkerComesBackAtOnceForWhatOneTurnDoesNotTake) {
  edge_.turn();
  put(2 * kBurst + 1, 1);
  receive_all();
  Worker& worker = edge_.edge().worker(1);
  for (const std::size_t expected : {kBurst, kBurst, std::size_t{1}}) {
    const Worker::Turn turn = worker.turn(edge_.now_ns());
    EXPECT_EQ(turn.received, expected);
    EXPECT_EQ(turn.next_ns <= edge_.now_ns(), expected == kBurst);
  }
}

TEST_F(HandOverTest, ALaneThatNobodyHasIsCountedOnce) {
  put(5, 6);
  put(4, 7);
  edge_.turn();
  EXPECT_EQ(edge_.drops(DropReason::kWrongLane), 9U);
  EXPECT_EQ(edge_.all_drops(), 9U);
}

TEST_F(HandOverTest, ATurnSaysWhatIsDueAndCountsIdling) {
  edge_.bring_up();
  Worker& worker = edge_.edge().worker(0);
  const std::uint64_t turns = worker.counters().turns.get();
  const std::uint64_t idle = worker.counters().idle_turns.get();
  const Worker::Turn quiet = worker.turn(edge_.now_ns());
  EXPECT_EQ(quiet.received, 0U);
  EXPECT_GT(quiet.next_ns, edge_.now_ns());
  EXPECT_LE(quiet.next_ns, edge_.now_ns() + 10 * kSecond) << "the next HELLO";
  EXPECT_EQ(worker.counters().turns.get(), turns + 1);
  EXPECT_EQ(worker.counters().idle_turns.get(), idle + 1);
}

/// Takes so many packets of each burst and remembers the order.
class NarrowPort final : public Port {
 public:
  explicit NarrowPort(std::size_t takes) : takes_(takes) {}
  std::size_t receive(std::uint32_t, std::span<RxPacket>, Nanoseconds) override { return 0; }
  std::size_t transmit(std::uint32_t queue, std::span<TxPacket> packets, Nanoseconds) override {
    EXPECT_EQ(queue, 3U);
    bursts.push_back(packets.size());
    for (std::size_t i = 0; i < std::min(takes_, packets.size()); ++i) lanes.push_back(packets[i].lane);
    return std::min(takes_, packets.size());
  }
  std::vector<std::size_t> bursts;
  std::vector<std::uint16_t> lanes;

 private:
  std::size_t takes_;
};

TEST(TransmitterTest, SendsInOrderInBurstsAndCountsWhatThePortRefuses) {
  auto pool = MemoryPool::create(64, PoolSharing::kSingleOwner);
  ASSERT_TRUE(pool.ok());
  NarrowPort port(30);
  Transmitter transmitter(port, 3);
  transmitter.flush(0);
  EXPECT_TRUE(port.bursts.empty()) << "nothing to send is no call";
  for (std::uint16_t i = 0; i < kBurst + 5; ++i) {
    TxPacket& packet = transmitter.next(0);
    EXPECT_FALSE(packet.keep) << "what was sent before has let go";
    packet.lane = i;
    packet.keep = BufferRef::adopt((*pool)->allocate());
  }
  EXPECT_EQ(port.bursts, (std::vector<std::size_t>{kBurst}));
  EXPECT_EQ((*pool)->in_use(), 5U) << "references go with the burst";
  transmitter.flush(0);
  EXPECT_EQ(port.bursts, (std::vector<std::size_t>{kBurst, 5}));
  EXPECT_EQ((*pool)->in_use(), 0U);
  EXPECT_EQ(transmitter.refused(), kBurst - 30U);
  ASSERT_EQ(port.lanes.size(), 35U);
  EXPECT_EQ(port.lanes[29], 29);
  EXPECT_EQ(port.lanes[30], kBurst);
}

}  // namespace
}  // namespace tombolo::dataplane
