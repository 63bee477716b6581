#include "dataplane/port/inproc_port.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "protocol/memory_pool.h"

namespace tombolo::dataplane {
namespace {

constexpr Address kIsland{0x0a000001, 4700};
constexpr Address kEdge{0x0a000002, 4800};
constexpr Address kStranger{0x0a0000ff, 4900};

/// A wire between two ends, its pool, and shorthands.
class InprocPortTest : public testing::Test {
 protected:
  void connect(const LinkConfig& forth, const LinkConfig& back, std::uint32_t rx_queues = 1) {
    const auto ports =
        network_.connect({kIsland, pool_.get(), rx_queues}, {kEdge, pool_.get(), rx_queues}, forth, back);
    ASSERT_TRUE(ports.ok());
    island_ = ports->first;
    edge_ = ports->second;
  }

  TxPacket packet(const Address& to, std::uint32_t number, std::uint16_t lane = 0) {
    TxPacket result;
    result.to = to;
    result.lane = lane;
    std::memcpy(result.header.data(), &number, sizeof(number));
    result.payload = payload_.data();
    result.payload_bytes = static_cast<std::uint32_t>(payload_.size());
    return result;
  }

  template <typename... Packets>
  static std::vector<TxPacket> burst(Packets&&... packets) {
    std::vector<TxPacket> result;
    (result.push_back(std::move(packets)), ...);
    return result;
  }

  static std::vector<std::uint32_t> numbers(Port& port, std::uint32_t queue, Nanoseconds now_ns) {
    std::vector<RxPacket> out(kBurst);
    const std::size_t count = port.receive(queue, out, now_ns);
    std::vector<std::uint32_t> result(count);
    for (std::size_t i = 0; i < count; ++i) std::memcpy(&result[i], out[i].buffer.data(), sizeof(result[i]));
    return result;
  }

  std::unique_ptr<MemoryPool> pool_ = std::move(MemoryPool::create(256, PoolSharing::kShared)).value();
  std::vector<std::byte> payload_ = std::vector<std::byte>(100, std::byte{7});
  InprocNetwork network_{1};
  InprocPort* island_ = nullptr;
  InprocPort* edge_ = nullptr;
};

using Numbers = std::vector<std::uint32_t>;

TEST_F(InprocPortTest, CarriesHeaderAndPayloadWithTheSendersAddressAndLane) {
  connect({.delay_ns = 10}, {.delay_ns = 20});
  for (std::size_t i = 0; i < payload_.size(); ++i) payload_[i] = static_cast<std::byte>(i);
  std::vector<TxPacket> sent = burst(packet(kEdge, 0xabcd, 3));
  EXPECT_EQ(island_->transmit(0, sent, 0), 1U);
  // The wire has its own copy.
  payload_.assign(payload_.size(), std::byte{0});

  std::vector<RxPacket> out(2);
  EXPECT_EQ(edge_->receive(0, out, 9), 0U);
  ASSERT_EQ(edge_->receive(0, out, 10), 1U);
  EXPECT_EQ(out[0].from, kIsland);
  EXPECT_EQ(out[0].lane, 3U);
  ASSERT_EQ(out[0].bytes, kHeaderBytes + 100U);
  EXPECT_EQ(std::memcmp(out[0].buffer.data(), sent[0].header.data(), kHeaderBytes), 0);
  for (std::size_t i = 0; i < 100; ++i)
    ASSERT_EQ(out[0].buffer.data()[kHeaderBytes + i], static_cast<std::byte>(i));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(out[0].buffer.data() + kHeaderBytes) % 64, 0U);

  std::vector<TxPacket> reply = burst(packet(kIsland, 5));
  reply[0].payload = nullptr;
  reply[0].payload_bytes = 0;
  edge_->transmit(0, reply, 10);
  EXPECT_EQ(island_->next_arrival_ns(), 30U);
  ASSERT_EQ(island_->receive(0, out, 30), 1U);
  EXPECT_EQ(out[0].bytes, kHeaderBytes);
  EXPECT_EQ(out[0].from, kEdge);
}

TEST_F(InprocPortTest, KeepsTheOrderAndAtMostWhatIsAskedFor) {
  connect({.delay_ns = 10}, {});
  for (std::uint32_t i = 0; i < 40; ++i) {
    std::vector<TxPacket> one = burst(packet(kEdge, i));
    island_->transmit(0, one, i / 2);
  }
  Numbers all;
  for (const Nanoseconds now_ns : {15U, 40U, 40U}) {
    const Numbers some = numbers(*edge_, 0, now_ns);
    EXPECT_LE(some.size(), kBurst);
    all.insert(all.end(), some.begin(), some.end());
    if (now_ns == 15) {
      EXPECT_EQ(all.size(), 12U);
    }
  }
  ASSERT_EQ(all.size(), 40U);
  for (std::uint32_t i = 0; i < 40; ++i) EXPECT_EQ(all[i], i);
}

TEST_F(InprocPortTest, ALaneArrivesOnItsQueueOnly) {
  connect({.delay_ns = 1}, {}, 3);
  std::vector<TxPacket> sent;
  for (std::uint16_t lane = 0; lane < 8; ++lane) sent.push_back(packet(kEdge, lane, lane));
  island_->transmit(0, sent, 0);
  for (const std::uint32_t queue : {0U, 1U, 2U}) EXPECT_EQ(edge_->next_arrival_ns(queue), 1U);
  EXPECT_EQ(numbers(*edge_, 2, 1), (Numbers{2, 5}));
  EXPECT_EQ(edge_->next_arrival_ns(2), kNever);
  EXPECT_EQ(edge_->next_arrival_ns(), 1U);
  EXPECT_EQ(numbers(*edge_, 0, 1), (Numbers{0, 3, 6}));
  EXPECT_EQ(numbers(*edge_, 1, 1), (Numbers{1, 4, 7}));
  EXPECT_EQ(edge_->next_arrival_ns(), kNever);
}

TEST_F(InprocPortTest, OnlyThePeerCanBeAddressed) {
  connect({}, {});
  std::vector<TxPacket> sent =
      burst(packet(kStranger, 1), packet(kEdge, 2), packet(kIsland, 3), packet({kEdge.ipv4, 4801}, 4));
  EXPECT_EQ(island_->transmit(0, sent, 0), 4U);
  EXPECT_EQ(numbers(*edge_, 0, 0), Numbers{2});
  EXPECT_EQ(island_->tx().counters().unroutable.get(), 3U);
  EXPECT_EQ(island_->tx().link_counters().tx_packets.get(), 1U);
}

TEST_F(InprocPortTest, CountsEachDirectionWithFraming) {
  connect({}, {});
  std::vector<TxPacket> two = burst(packet(kEdge, 1), packet(kEdge, 2));
  island_->transmit(0, two, 0);
  numbers(*edge_, 0, 0);
  const std::uint64_t wire_bytes = 2 * (14 + 20 + 8 + 64 + 100);
  EXPECT_EQ(island_->tx().link_counters().tx_bytes.get(), wire_bytes);
  EXPECT_EQ(edge_->rx().counters().rx_bytes.get(), wire_bytes);
  EXPECT_EQ(edge_->rx().counters().rx_packets.get(), 2U);
  EXPECT_EQ(edge_->tx().link_counters().tx_packets.get(), 0U);
}

TEST_F(InprocPortTest, LostPacketsNeverShowUpAsArrivals) {
  connect({.delay_ns = 10, .loss = 1}, {});
  std::vector<TxPacket> sent = burst(packet(kEdge, 1), packet(kEdge, 2));
  EXPECT_EQ(island_->transmit(0, sent, 0), 2U);
  EXPECT_EQ(edge_->next_arrival_ns(), kNever);
  EXPECT_EQ(island_->tx().link_counters().losses.get(), 2U);
}

TEST_F(InprocPortTest, InjectedBytesArriveAmongTheOthersAtTheirTime) {
  connect({.delay_ns = 100}, {});
  std::vector<TxPacket> sent = burst(packet(kEdge, 1));
  island_->transmit(0, sent, 0);
  const std::vector<std::byte> junk(3, std::byte{0xee});
  edge_->inject(kStranger, 9, junk, 50);
  edge_->inject(kStranger, 9, {}, 60);
  EXPECT_EQ(edge_->next_arrival_ns(), 50U);
  std::vector<RxPacket> out(4);
  ASSERT_EQ(edge_->receive(0, out, 100), 3U);
  EXPECT_EQ(out[0].from, kStranger);
  EXPECT_EQ(out[0].lane, 9U);
  ASSERT_EQ(out[0].bytes, 3U);
  EXPECT_EQ(std::memcmp(out[0].buffer.data(), junk.data(), 3), 0);
  EXPECT_EQ(out[1].bytes, 0U);
  EXPECT_EQ(out[2].from, kIsland);
  EXPECT_EQ(edge_->rx().counters().injected.get(), 2U);
}

TEST_F(InprocPortTest, JitterReordersAndNothingIsMissing) {
  connect({.delay_ns = 1000, .jitter_ns = 1000}, {});
  for (std::uint32_t i = 0; i < 100; ++i) {
    std::vector<TxPacket> one = burst(packet(kEdge, i));
    island_->transmit(0, one, i);
  }
  std::vector<bool> seen(100);
  bool in_order = true;
  std::uint32_t last = 0;
  Nanoseconds now_ns = 0;
  while ((now_ns = edge_->next_arrival_ns()) != kNever) {
    for (const std::uint32_t number : numbers(*edge_, 0, now_ns)) {
      EXPECT_FALSE(seen.at(number));
      seen[number] = true;
      in_order = in_order && number >= last;
      last = number;
    }
  }
  EXPECT_EQ(seen, std::vector<bool>(100, true));
  EXPECT_FALSE(in_order);
}

TEST_F(InprocPortTest, RefusesBadWiresByName) {
  const InprocEnd good{kIsland, pool_.get(), 1}, other{kEdge, pool_.get(), 1};
  const std::vector<std::pair<InprocEnd, LinkConfig>> cases{
      {{kEdge, nullptr, 1}, {}}, {{kEdge, pool_.get(), 0}, {}}, {good, {}}, {other, {.loss = 2}}};
  for (const auto& [end, config] : cases) {
    const auto ports = network_.connect(good, end, {}, config);
    ASSERT_FALSE(ports.ok());
    EXPECT_EQ(ports.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(ports.error().message.find(to_string(end.address)), std::string::npos) << ports.error().message;
  }
  EXPECT_TRUE(network_.ports().empty());
}

/// Which of 200 packets survive on the first direction of each of two wires.
std::vector<std::vector<bool>> survivors(std::uint64_t seed, MemoryPool& pool) {
  InprocNetwork network(seed);
  std::vector<std::vector<bool>> result;
  for (std::uint16_t wire = 0; wire < 2; ++wire) {
    const auto ports = network.connect({kIsland, &pool, 1}, {kEdge, &pool, 1}, {.loss = 0.5}, {});
    result.emplace_back();
    for (int i = 0; i < 200; ++i) {
      std::vector<TxPacket> one(1);
      one[0].to = kEdge;
      ports->first->transmit(0, one, 0);
      std::vector<RxPacket> out(1);
      result.back().push_back(ports->second->receive(0, out, 0) == 1);
    }
  }
  return result;
}

TEST_F(InprocPortTest, ASeedGivesEveryWireItsOwnRepeatableChances) {
  const auto first = survivors(1, *pool_);
  EXPECT_EQ(first, survivors(1, *pool_));
  EXPECT_NE(first, survivors(2, *pool_));
  EXPECT_NE(first[0], first[1]);
}

/// One of two workers at one end: sends numbers on its lane and checks what comes the other way on its queue.
struct Worker {
  InprocPort* port = nullptr;
  std::uint16_t lane = 0;
  std::uint32_t received = 0;
  std::uint32_t wrong = 0;

  void run(std::uint32_t count, const std::vector<std::byte>& payload) {
    std::vector<TxPacket> tx(4);
    Nanoseconds now_ns = 0;
    for (std::uint32_t sent = 0; sent < count || received < count; ++now_ns) {
      // At most so far ahead that the wire's reserve suffices for all that is in flight.
      if (sent < count && sent < received + 32) {
        for (TxPacket& packet : tx) {
          packet.to = port->peer();
          packet.lane = lane;
          std::memcpy(packet.header.data(), &sent, sizeof(sent));
          packet.payload = payload.data();
          packet.payload_bytes = static_cast<std::uint32_t>(payload.size());
          ++sent;
        }
        port->transmit(lane, tx, now_ns);
      }
      take(now_ns, payload);
      if (port->next_arrival_ns(lane) == kNever) std::this_thread::yield();
    }
  }

  void take(Nanoseconds now_ns, const std::vector<std::byte>& payload) {
    std::vector<RxPacket> out(8);
    const std::size_t count = port->receive(lane, out, now_ns);
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t number = 0;
      std::memcpy(&number, out[i].buffer.data(), sizeof(number));
      const bool right =
          number == received && out[i].lane == lane && out[i].from == port->peer() &&
          out[i].bytes == kHeaderBytes + payload.size() &&
          std::memcmp(out[i].buffer.data() + kHeaderBytes, payload.data(), payload.size()) == 0;
      wrong += !right;
      ++received;
    }
  }
};

TEST_F(InprocPortTest, TwoWorkersAtEachEndLoseAndMixNothing) {
  constexpr std::uint32_t kPackets = 8000;
  connect({.delay_ns = 5}, {.delay_ns = 3}, 2);
  std::vector<Worker> workers{{island_, 0}, {island_, 1}, {edge_, 0}, {edge_, 1}};
  std::atomic<bool> done = false;
  // Counters are read while the workers count.
  std::thread reader([&] {
    while (!done) {
      EXPECT_LE(island_->tx().counters().rx_packets.get(), 2 * kPackets);
      EXPECT_EQ(island_->tx().growths() + pool_->empties(), 0U);
      std::this_thread::yield();
    }
  });
  std::vector<std::thread> threads;
  for (Worker& worker : workers) threads.emplace_back([&] { worker.run(kPackets, payload_); });
  for (std::thread& thread : threads) thread.join();
  done = true;
  reader.join();
  for (const Worker& worker : workers) {
    EXPECT_EQ(worker.received, kPackets);
    EXPECT_EQ(worker.wrong, 0U);
  }
  for (const InprocWire* wire : {&island_->tx(), &edge_->tx()}) {
    EXPECT_EQ(wire->link_counters().tx_packets.get(), 2 * kPackets);
    EXPECT_EQ(wire->counters().rx_packets.get(), 2 * kPackets);
  }
  EXPECT_EQ(pool_->in_use(), 0U);
}

}  // namespace
}  // namespace tombolo::dataplane
