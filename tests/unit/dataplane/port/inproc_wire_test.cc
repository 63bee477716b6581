#include "dataplane/port/inproc_wire.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "protocol/memory_pool.h"

namespace tombolo::dataplane {
namespace {

constexpr Address kHere{0x0a000001, 4700};
constexpr Address kThere{0x0a000002, 4800};
constexpr std::uint32_t kPayloadBytes = 1000;
constexpr std::uint64_t kWireBytes = kFramingBytes + kHeaderBytes + kPayloadBytes;

std::unique_ptr<MemoryPool> make_pool(std::uint32_t buffers, std::uint32_t bytes = kMaxPacketBytes) {
  return std::move(MemoryPool::create(buffers, PoolSharing::kShared, bytes)).value();
}

/// A burst of packets whose first header byte is their index.
struct Burst {
  explicit Burst(std::size_t count) : payload(kPayloadBytes, std::byte{0x5a}), packets(count) {
    for (std::size_t i = 0; i < count; ++i) {
      packets[i].to = kThere;
      packets[i].header[0] = static_cast<std::byte>(i);
      packets[i].payload = payload.data();
      packets[i].payload_bytes = kPayloadBytes;
    }
  }
  std::vector<std::byte> payload;
  std::vector<TxPacket> packets;
};

std::uint64_t accounted(const InprocWire& wire) {
  const WireCounters& counters = wire.counters();
  return wire.link_counters().losses.get() + counters.rx_packets.get() + counters.no_buffer.get() +
         counters.too_large.get() + counters.no_frame.get();
}

TEST(InprocWire, WithoutABufferArrivalsAreDroppedAndCounted) {
  const auto pool = make_pool(2);
  InprocWire wire(kHere, kThere, 1, {}, 1);
  Burst burst(5);
  wire.transmit(burst.packets, 0);
  std::vector<RxPacket> out(8);
  EXPECT_EQ(wire.receive(0, *pool, out, 0), 2U);
  EXPECT_EQ(wire.counters().no_buffer.get(), 3U);
  EXPECT_EQ(wire.next_arrival_ns(0), kNever);
  EXPECT_EQ(accounted(wire), 5U);
  // With room again the wire goes on as before.
  out.clear();
  out.resize(8);
  wire.transmit(std::span(burst.packets).first(1), 0);
  EXPECT_EQ(wire.receive(0, *pool, out, 0), 1U);
}

TEST(InprocWire, APacketLargerThanTheReceiversBuffersIsDroppedAndCounted) {
  const auto pool = make_pool(4, 512);
  InprocWire wire(kHere, kThere, 1, {}, 1);
  Burst burst(2);
  burst.packets[1].payload_bytes = 512 - kHeaderBytes;
  wire.transmit(burst.packets, 0);
  std::vector<RxPacket> out(2);
  ASSERT_EQ(wire.receive(0, *pool, out, 0), 1U);
  EXPECT_EQ(out[0].bytes, 512U);
  EXPECT_EQ(wire.counters().too_large.get(), 1U);
  EXPECT_EQ(pool->in_use(), 1U);
}

TEST(InprocWire, LosesInTheQueueWhatIsAboveItsBytes) {
  const auto pool = make_pool(32);
  InprocWire wire(kHere, kThere, 1, {.rate_bps = 1'000'000'000, .queue_bytes = 3 * kWireBytes}, 1);
  Burst burst(10);
  wire.transmit(burst.packets, 0);
  EXPECT_EQ(wire.link_counters().queue_drops.get(), 7U);
  std::vector<RxPacket> out(32);
  // One packet takes 8 x kWireBytes ns at 1 Gbit/s.
  EXPECT_EQ(wire.next_arrival_ns(0), 8 * kWireBytes);
  EXPECT_EQ(wire.receive(0, *pool, out, 16 * kWireBytes - 1), 1U);
  EXPECT_EQ(wire.receive(0, *pool, std::span(out).subspan(1), kSecond), 2U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(out[i].buffer.data()[0], static_cast<std::byte>(i));
  EXPECT_EQ(wire.link_counters().tx_bytes.get(), 3 * kWireBytes);
  EXPECT_EQ(wire.counters().rx_bytes.get(), 3 * kWireBytes);
}

TEST(InprocWire, CorruptionFlipsOneBitOfTheCopyOnly) {
  const auto pool = make_pool(32);
  InprocWire wire(kHere, kThere, 1, {.corrupt = 1}, 3);
  Burst burst(16);
  wire.transmit(burst.packets, 0);
  std::vector<RxPacket> out(16);
  ASSERT_EQ(wire.receive(0, *pool, out, 0), 16U);
  for (std::size_t i = 0; i < out.size(); ++i) {
    int flipped = 0;
    for (std::uint32_t at = 0; at < out[i].bytes; ++at) {
      const std::byte sent = at < kHeaderBytes ? burst.packets[i].header[at] : std::byte{0x5a};
      flipped += std::popcount(std::to_integer<unsigned>(out[i].buffer.data()[at] ^ sent));
    }
    EXPECT_EQ(flipped, 1);
  }
  for (const std::byte byte : burst.payload) ASSERT_EQ(byte, std::byte{0x5a});
}

TEST(InprocWire, EveryPacketIsAccountedForUnderAllChancesAtOnce) {
  const std::uint64_t seed = 99;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const auto pool = make_pool(8);
  InprocWire wire(kHere, kThere, 2,
                  {.delay_ns = 100'000,
                   .rate_bps = 1'000'000'000,
                   .queue_bytes = 20'000,
                   .loss = 0.1,
                   .jitter_ns = 50'000,
                   .reorder = 0.1,
                   .duplicate = 0.2,
                   .corrupt = 0.1},
                  seed);
  Burst burst(8);
  for (std::size_t i = 0; i < 8; ++i) burst.packets[i].lane = static_cast<std::uint16_t>(i);
  Nanoseconds now_ns = 0;
  for (int turn = 0; turn < 1000; ++turn, now_ns += 50'000) {
    wire.transmit(burst.packets, now_ns);
    std::vector<RxPacket> out(6);
    for (const std::uint32_t queue : {0U, 1U})
      wire.receive(queue, *pool, std::span(out).subspan(3 * queue, 3), now_ns);
  }
  for (const std::uint32_t queue : {0U, 1U}) {
    while (wire.next_arrival_ns(queue) != kNever) {
      std::vector<RxPacket> out(4);
      wire.receive(queue, *pool, out, kNever - 1);
    }
  }
  const LinkCounters& link = wire.link_counters();
  EXPECT_EQ(link.tx_packets.get() + link.queue_drops.get(), 8000U);
  EXPECT_GT(link.queue_drops.get(), 0U);
  EXPECT_GT(link.duplicates.get(), 0U);
  EXPECT_EQ(link.tx_packets.get() + link.duplicates.get(), accounted(wire));
}

TEST(InprocWire, ASteadyStateNeedsNoMoreMemoryThanWasReserved) {
  const auto pool = make_pool(64);
  // 25 ms at 100 Mbit/s: 312,500 bytes on their way, and the queue.
  InprocWire wire(kHere, kThere, 1,
                  {.delay_ns = 25 * kMillisecond, .rate_bps = 100'000'000, .queue_bytes = 100'000}, 1);
  Burst burst(16);
  for (Nanoseconds now_ns = 0; now_ns < kSecond; now_ns += kMillisecond) {
    wire.transmit(burst.packets, now_ns);
    std::vector<RxPacket> out(32);
    wire.receive(0, *pool, out, now_ns);
  }
  EXPECT_GT(wire.counters().rx_packets.get(), 10'000U);
  EXPECT_GT(wire.link_counters().queue_drops.get(), 0U);
  EXPECT_EQ(wire.growths(), 0U);
}

}  // namespace
}  // namespace tombolo::dataplane
