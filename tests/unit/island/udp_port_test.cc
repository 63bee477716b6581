#include "island/udp_port.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "protocol/memory_pool.h"

namespace tombolo::island {
namespace {

constexpr std::uint32_t kLoopback = 0x7f000000;
constexpr Nanoseconds kPatience = 5 * kSecond;

std::unique_ptr<MemoryPool> make_pool(std::uint32_t buffers, std::uint32_t bytes = kMaxPacketBytes) {
  return std::move(MemoryPool::create(buffers, PoolSharing::kSingleOwner, bytes)).value();
}

/// Opens a port at 127.x.y.z with the first base port that is free. The address comes from the process's id,
/// so that tests that run side by side rarely meet.
std::unique_ptr<UdpPort> open_port(UdpPortConfig config, std::uint32_t host) {
  const auto process = static_cast<std::uint32_t>(::getpid());
  config.address.ipv4 = kLoopback | ((process & 0x7fff) << 8) | host;
  std::string reason;
  for (std::uint32_t base_port = 20'000; base_port < 60'000; base_port += 997) {
    config.address.base_port = static_cast<std::uint16_t>(base_port);
    auto port = UdpPort::create(config);
    if (port.ok()) return std::move(port).value();
    reason = port.error().message;
  }
  ADD_FAILURE() << "no free port; the last: " << reason;
  return nullptr;
}

class UdpPortTest : public testing::Test {
 protected:
  void open(std::uint16_t lanes, std::uint32_t queues = 1) {
    a_ = open_port({.address = {}, .lanes = lanes, .queues = queues, .pool = pool_.get()}, 1);
    b_ = open_port({.address = {}, .lanes = lanes, .queues = queues, .pool = pool_.get()}, 2);
    ASSERT_TRUE(a_ && b_);
  }

  static TxPacket packet(const Address& to, std::uint16_t lane, std::uint32_t number,
                         const std::vector<std::byte>& payload) {
    TxPacket result;
    result.to = to;
    result.lane = lane;
    std::memcpy(result.header.data(), &number, sizeof(number));
    result.payload = payload.data();
    result.payload_bytes = static_cast<std::uint32_t>(payload.size());
    return result;
  }

  static std::uint32_t number(const RxPacket& packet) {
    std::uint32_t result = 0;
    std::memcpy(&result, packet.buffer.data(), sizeof(result));
    return result;
  }

  /// Waits until `count` packets are there, or until patience ends.
  static std::vector<RxPacket> collect(UdpPort& port, std::size_t count, std::uint32_t queue = 0) {
    std::vector<RxPacket> all;
    while (all.size() < count && port.wait(kPatience, queue)) {
      std::vector<RxPacket> some(kBurst);
      const std::size_t received = port.receive(queue, some, 0);
      for (std::size_t i = 0; i < received; ++i) all.push_back(std::move(some[i]));
    }
    return all;
  }

  std::unique_ptr<MemoryPool> pool_ = make_pool(512);
  std::unique_ptr<UdpPort> a_;
  std::unique_ptr<UdpPort> b_;
};

TEST_F(UdpPortTest, CarriesPacketsOfEverySizeBothWays) {
  open(1);
  for (const auto& [from, to] : {std::pair{a_.get(), b_.get()}, std::pair{b_.get(), a_.get()}}) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1408}, std::size_t{8192}}) {
      std::vector<std::byte> payload(bytes);
      for (std::size_t i = 0; i < bytes; ++i) payload[i] = static_cast<std::byte>(i * 31 + 7);
      std::vector<TxPacket> sent;
      sent.push_back(packet(to->address(), 0, 0xfeed, payload));
      for (std::size_t i = 4; i < kHeaderBytes; ++i) sent[0].header[i] = static_cast<std::byte>(i);
      ASSERT_EQ(from->transmit(0, sent, 0), 1U);
      const auto received = collect(*to, 1);
      ASSERT_EQ(received.size(), 1U);
      EXPECT_EQ(received[0].from, from->address());
      EXPECT_EQ(received[0].lane, 0U);
      ASSERT_EQ(received[0].bytes, kHeaderBytes + bytes);
      EXPECT_EQ(std::memcmp(received[0].buffer.data(), sent[0].header.data(), kHeaderBytes), 0);
      EXPECT_TRUE(std::equal(payload.begin(), payload.end(), received[0].buffer.data() + kHeaderBytes));
    }
    const std::uint64_t wire_bytes = 4 * (kFramingBytes + kHeaderBytes) + 0 + 1 + 1408 + 8192;
    EXPECT_EQ(from->counters().tx_bytes.get(), wire_bytes);
    EXPECT_EQ(to->counters().rx_bytes.get(), wire_bytes);
    EXPECT_EQ(to->counters().rx_packets.get(), 4U);
  }
}

TEST_F(UdpPortTest, LanesKeepTheirOrderAndTellTheirSendersBaseAddress) {
  open(3);
  const std::vector<std::byte> payload(200, std::byte{1});
  std::vector<TxPacket> sent;
  for (std::uint32_t i = 0; i < 90; ++i)
    sent.push_back(packet(b_->address(), static_cast<std::uint16_t>(i / 5 % 3), i, payload));
  ASSERT_EQ(a_->transmit(0, sent, 0), 90U);
  const auto received = collect(*b_, 90);
  ASSERT_EQ(received.size(), 90U);
  std::vector<std::int64_t> last(3, -1);
  for (const RxPacket& packet : received) {
    EXPECT_EQ(packet.from, a_->address());
    EXPECT_EQ(packet.lane, number(packet) / 5 % 3);
    EXPECT_GT(number(packet), last[packet.lane]);
    last[packet.lane] = number(packet);
  }
}

TEST_F(UdpPortTest, ALaneArrivesOnItsQueueOnly) {
  open(4, 2);
  std::vector<TxPacket> sent;
  for (std::uint16_t lane = 0; lane < 4; ++lane) sent.push_back(packet(b_->address(), lane, lane, {}));
  ASSERT_EQ(a_->transmit(1, sent, 0), 4U);
  for (const std::uint32_t queue : {0U, 1U}) {
    const auto received = collect(*b_, 2, queue);
    ASSERT_EQ(received.size(), 2U);
    for (const RxPacket& packet : received) EXPECT_EQ(packet.lane % 2, queue);
    EXPECT_EQ(b_->counters(queue).rx_packets.get(), 2U);
  }
  EXPECT_EQ(a_->counters(1).tx_packets.get(), 4U);
}

TEST_F(UdpPortTest, WaitEndsWithTheTimeoutOrWithAPacket) {
  open(2);
  const MonotonicClock clock;
  const Nanoseconds start_ns = clock.now_ns();
  EXPECT_FALSE(b_->wait(20 * kMillisecond));
  EXPECT_GE(clock.now_ns() - start_ns, 20 * kMillisecond);
  std::vector<RxPacket> out(4);
  EXPECT_EQ(b_->receive(0, out, 0), 0U);
  std::vector<TxPacket> sent;
  sent.push_back(packet(b_->address(), 1, 0, {}));
  a_->transmit(0, sent, 0);
  EXPECT_TRUE(b_->wait(kPatience));
}

TEST_F(UdpPortTest, WithoutABufferArrivalsAreDroppedAndCounted) {
  open(1);
  const auto small_pool = make_pool(3);
  const auto receiver = open_port({.address = {}, .pool = small_pool.get()}, 3);
  ASSERT_TRUE(receiver);
  std::vector<TxPacket> sent;
  for (std::uint32_t i = 0; i < 5; ++i) sent.push_back(packet(receiver->address(), 0, i, {}));
  ASSERT_EQ(a_->transmit(0, sent, 0), 5U);
  std::vector<RxPacket> held(kBurst);
  ASSERT_TRUE(receiver->wait(kPatience));
  ASSERT_EQ(receiver->receive(0, held, 0), 3U);
  std::vector<RxPacket> more(kBurst);
  EXPECT_EQ(receiver->receive(0, more, 0), 0U);
  EXPECT_EQ(receiver->counters().no_buffer.get(), 2U);
  EXPECT_FALSE(receiver->wait(0));
  held.clear();
  a_->transmit(0, std::span(sent).first(1), 0);
  EXPECT_EQ(collect(*receiver, 1).size(), 1U);
}

TEST_F(UdpPortTest, WhatDoesNotFitIsDroppedAndCounted) {
  open(1);
  const auto small_pool = make_pool(8, 128);
  const auto receiver = open_port({.address = {}, .pool = small_pool.get()}, 3);
  ASSERT_TRUE(receiver);
  const std::vector<std::byte> fits(64), too_large(65);
  std::vector<TxPacket> sent;
  sent.push_back(packet(receiver->address(), 0, 1, too_large));
  sent.push_back(packet(receiver->address(), 0, 2, fits));
  a_->transmit(0, sent, 0);
  const auto received = collect(*receiver, 1);
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(number(received[0]), 2U);
  EXPECT_EQ(receiver->counters().rx_too_big.get(), 1U);
}

TEST_F(UdpPortTest, WhatCanNeverLeaveDoesNotHoldUpTheRest) {
  open(2);
  // Larger than any UDP datagram; and a lane beyond the last port number.
  const std::vector<std::byte> endless(70'000);
  std::vector<TxPacket> sent;
  sent.push_back(packet(b_->address(), 0, 1, {}));
  sent.push_back(packet(b_->address(), 0, 2, endless));
  sent.push_back(packet(b_->address(), 0, 3, {}));
  sent.push_back(packet({b_->address().ipv4, 65'535}, 1, 4, {}));
  sent.push_back(packet(b_->address(), 1, 5, {}));
  EXPECT_EQ(a_->transmit(0, sent, 0), 5U);
  EXPECT_EQ(collect(*b_, 3).size(), 3U);
  EXPECT_EQ(a_->counters().tx_packets.get(), 3U);
  EXPECT_EQ(a_->counters().tx_too_big.get(), 1U);
  EXPECT_EQ(a_->counters().tx_errors.get(), 1U);
}

TEST_F(UdpPortTest, AnAbsentPeerStopsNobody) {
  open(1);
  const Address gone = b_->address();
  b_.reset();
  for (std::uint32_t i = 0; i < 5; ++i) {
    std::vector<TxPacket> sent;
    sent.push_back(packet(gone, 0, i, {}));
    EXPECT_EQ(a_->transmit(0, sent, 0), 1U);
    std::vector<RxPacket> out(4);
    EXPECT_EQ(a_->receive(0, out, 0), 0U);
  }
  EXPECT_EQ(a_->counters().tx_errors.get(), 0U);
}

TEST_F(UdpPortTest, TheKernelsDropsAreCounted) {
  open(1);
  const auto receiver = open_port({.address = {}, .pool = pool_.get(), .socket_buffer_bytes = 1}, 3);
  ASSERT_TRUE(receiver);
  const std::vector<std::byte> payload(1400);
  std::vector<TxPacket> sent;
  for (std::uint32_t i = 0; i < 200; ++i) sent.push_back(packet(receiver->address(), 0, i, payload));
  const std::size_t gone = a_->transmit(0, sent, 0);
  std::uint64_t received = 0;
  std::vector<RxPacket> out(kBurst);
  while (const std::size_t some = receiver->receive(0, out, 0)) received += some;
  ASSERT_LT(received, gone);
  // The kernel tells its count with the next packet that it does not drop.
  a_->transmit(0, std::span(sent).first(1), 0);
  ASSERT_EQ(collect(*receiver, 1).size(), 1U);
  EXPECT_EQ(receiver->counters().kernel_drops.get(), gone - received);
}

TEST_F(UdpPortTest, AsksForALargeSocketBuffer) {
  open(2);
  const auto small = open_port({.address = {}, .pool = pool_.get(), .socket_buffer_bytes = 1}, 3);
  ASSERT_TRUE(small);
  EXPECT_GT(a_->receive_buffer_bytes(), small->receive_buffer_bytes());
}

TEST_F(UdpPortTest, ABadConfigurationIsRefusedByName) {
  const Address address{kLoopback | 1, 30'000};
  const std::vector<UdpPortConfig> cases{
      {.address = address, .pool = nullptr},
      {.address = address, .lanes = 0, .pool = pool_.get()},
      {.address = address, .lanes = 2, .queues = 3, .pool = pool_.get()},
      {.address = address, .lanes = 2, .queues = 0, .pool = pool_.get()},
      {.address = {kLoopback | 1, 0}, .pool = pool_.get()},
      {.address = {kLoopback | 1, 65'535}, .lanes = 2, .pool = pool_.get()}};
  for (const UdpPortConfig& config : cases) {
    const auto port = UdpPort::create(config);
    ASSERT_FALSE(port.ok());
    EXPECT_EQ(port.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(port.error().message.find(to_string(config.address)), std::string::npos)
        << port.error().message;
  }
}

TEST_F(UdpPortTest, AnAddressInUseIsNamedWithTheKernelsReason) {
  open(2);
  // One port below: lane 0 may be had, lane 1 is a's lane 0.
  const Address below{a_->address().ipv4, static_cast<std::uint16_t>(a_->address().base_port - 1)};
  const auto port = UdpPort::create({.address = below, .lanes = 2, .pool = pool_.get()});
  ASSERT_FALSE(port.ok());
  EXPECT_EQ(port.error().code, ErrorCode::kUnavailable);
  for (const std::string& part :
       {to_string(below), std::string("lane 1"), std::string("bind"), std::string("errno 98")})
    EXPECT_NE(port.error().message.find(part), std::string::npos) << port.error().message;
}

}  // namespace
}  // namespace tombolo::island
