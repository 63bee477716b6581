// Ports over memif: two devices of this process that share memory by a socket, as two processes would. The
// socket's messages are handled by DPDK's own thread, so what depends on them is waited for.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <thread>

#include "tests/unit/dataplane/port/dpdk/port_harness.h"

namespace tombolo::dataplane {
namespace {

constexpr std::chrono::seconds kPatience{20};

class PortMemifTest : public PortTest {
 protected:
  void SetUp() override {
    char folder[] = "/tmp/memif-XXXXXX";
    ASSERT_NE(::mkdtemp(folder), nullptr);
    folder_ = folder;
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    PortTest::TearDown();
  }

  /// Rings of 256 frames. The driver has one table of sockets by their paths' spelling: two processes would
  /// have two, and so the client spells it differently.
  std::string device(const std::string& role, const std::string& buffer_bytes) const {
    return "net_memif_" + role + ",role=" + role + ",id=0,socket=" + folder_ +
           (role == "client" ? "/." : "") + "/link.sock,socket-abstract=no,rsize=8,bsize=" + buffer_bytes;
  }
  DpdkPortConfig server(const std::string& buffer_bytes = "9216") const {
    return over(config_a(), device("server", buffer_bytes));
  }
  DpdkPortConfig client(const std::string& buffer_bytes = "9216") const {
    return over(config_b(), device("client", buffer_bytes));
  }

  /// Polls until the condition holds; false when it does not for long.
  static bool poll_until(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return true;
  }
  /// Until both know of one another; the client's first receive() gives the server buffers to send with.
  static bool join(DpdkPort& server, DpdkPort& client) {
    return poll_until([&] { return server.is_up() && client.is_up(); }) && receive(client, 0).empty();
  }
  /// Sends one packet and takes it at the other end; the packet's number is its size.
  static void expect_delivery(DpdkPort& from, DpdkPort& to, TxPacket packet, Address source) {
    const std::uint32_t size = packet.payload_bytes;
    ASSERT_EQ(from.transmit(0, {&packet, 1}, 0), 1U);
    std::vector<RxPacket> packets;
    ASSERT_TRUE(poll_until([&] { return !(packets = receive(to, 0)).empty(); })) << size;
    ASSERT_EQ(packets.size(), 1U);
    EXPECT_EQ(packets[0].from, source);
    EXPECT_EQ(packets[0].lane, packet.lane);
    ASSERT_EQ(packets[0].bytes, kHeaderBytes + size);
    const std::byte* const data = packets[0].buffer.data();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0U);
    EXPECT_EQ(std::memcmp(data, packet.header.data(), kHeaderBytes), 0);
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(data[kHeaderBytes + i], pattern(i + size));
  }
  TxPacket packet_to(Address to, std::uint32_t size) {
    TxPacket packet = packet_to_b(size, size, 3);
    packet.to = to;
    return packet;
  }

  std::string folder_;

 private:
  static DpdkPortConfig over(DpdkPortConfig config, const std::string& device) {
    config.device = device;
    return config;
  }
};

TEST_F(PortMemifTest, PacketsOfAllSizesGoBothWaysInTheBufferTheyWereWrittenTo) {
  auto a = open(server());
  auto b = open(client());
  ASSERT_TRUE(a != nullptr && b != nullptr);
  ASSERT_TRUE(join(*a, *b));
  const std::vector<std::uint32_t> sizes{0, 1, 1280, 1408, 4096, kMaxPayloadBytes};
  std::uint64_t bytes = 0;
  for (const std::uint32_t size : sizes) {
    expect_delivery(*a, *b, packet_to(kEdgeB, size), kEdgeA);
    expect_delivery(*b, *a, packet_to(kEdgeA, size), kEdgeB);
    bytes += 42 + 64 + size;
  }
  for (const DpdkPort* const port : {a.get(), b.get()}) {
    const DpdkPortCounters& counters = port->counters();
    EXPECT_EQ(counters.tx_packets.get(), sizes.size());
    EXPECT_EQ(counters.rx_packets.get(), sizes.size());
    EXPECT_EQ(counters.tx_bytes.get(), bytes);
    EXPECT_EQ(counters.rx_bytes.get(), bytes);
    EXPECT_EQ(counters.rx_frames.get(), counters.rx_packets.get());
    EXPECT_EQ(counters.rx_copies.get(), 0U);
    EXPECT_EQ(counters.tx_copies.get(), 0U);
  }
}

TEST_F(PortMemifTest, TheEndsFindOneAnotherByArp) {
  DpdkPortConfig config_a = server(), config_b = client();
  for (DpdkPortConfig* const config : {&config_a, &config_b}) {
    config->mac.reset();
    config->neighbours[0].mac.reset();
  }
  auto a = open(config_a);
  auto b = open(config_b);
  ASSERT_TRUE(a != nullptr && b != nullptr);
  ASSERT_TRUE(join(*a, *b));
  EXPECT_NE(a->mac(), b->mac());
  Nanoseconds now_ns = 0;
  EXPECT_TRUE(poll_until([&] {
    receive(*a, now_ns);
    receive(*b, now_ns);
    now_ns += kSecond;
    return a->resolved_neighbours() == 1 && b->resolved_neighbours() == 1;
  }));
}

TEST_F(PortMemifTest, AFrameInSeveralBuffersIsPutTogether) {
  auto a = open(server("2048"));
  auto b = open(client("2048"));
  ASSERT_TRUE(a != nullptr && b != nullptr);
  ASSERT_TRUE(join(*a, *b));
  expect_delivery(*a, *b, packet_to(kEdgeB, kMaxPayloadBytes), kEdgeA);
}

TEST_F(PortMemifTest, AFullRingLeavesTheRestWithTheCaller) {
  auto a = open(server());
  auto b = open(client());
  ASSERT_TRUE(a != nullptr && b != nullptr);
  ASSERT_TRUE(join(*a, *b));
  std::uint64_t taken = 0, left = 0;
  while (left == 0) {
    ASSERT_LE(taken, 256U);
    std::vector<TxPacket> burst;
    for (std::uint32_t i = 0; i < 32; ++i) burst.push_back(packet_to_b(i, 100));
    const std::size_t gone = a->transmit(0, burst, 0);
    taken += gone;
    left = burst.size() - gone;
  }
  EXPECT_GT(taken, 0U);
  EXPECT_EQ(a->counters().tx_packets.get(), taken);
  EXPECT_EQ(a->drops(FrameDrop::kTxFull), left);
  std::uint64_t received = 0;
  EXPECT_TRUE(poll_until([&] { return (received += receive(*b, 0).size()) == taken; })) << received;
}

TEST_F(PortMemifTest, AClientThatGoesAndComesBackJoinsAgain) {
  auto a = open(server());
  auto b = open(client());
  ASSERT_TRUE(a != nullptr && b != nullptr);
  ASSERT_TRUE(join(*a, *b));
  b.reset();
  ASSERT_TRUE(poll_until([&] { return !a->is_up(); }));
  TxPacket lost = packet_to(kEdgeB, 100);
  EXPECT_EQ(a->transmit(0, {&lost, 1}, 0), 0U);
  EXPECT_EQ(a->drops(FrameDrop::kTxFull), 1U);
  b = open(client());
  ASSERT_NE(b, nullptr);
  ASSERT_TRUE(join(*a, *b));
  expect_delivery(*b, *a, packet_to(kEdgeA, 1408), kEdgeB);
  expect_delivery(*a, *b, packet_to(kEdgeB, 1408), kEdgeA);
}

TEST_F(PortMemifTest, AClientJoinsAServerThatComesLaterAndOneThatComesBack) {
  auto b = open(client());
  ASSERT_NE(b, nullptr);
  Nanoseconds now_ns = 0;
  for (int start = 0; start < 3; ++start) {
    SCOPED_TRACE(start);
    ASSERT_TRUE(poll_until([&] { return !b->is_up(); }));
    for (int look = 0; look < 4; ++look) b->tend(now_ns += kSecond);
    EXPECT_TRUE(receive(*b, 0).empty());
    TxPacket left = packet_to(kEdgeA, 100);
    EXPECT_EQ(b->transmit(0, {&left, 1}, 0), 0U);
    auto a = open(server());
    ASSERT_NE(a, nullptr);
    for (int look = 0; look < 2; ++look) b->tend(now_ns += kSecond);
    ASSERT_TRUE(join(*a, *b));
    expect_delivery(*b, *a, packet_to(kEdgeA, 8192), kEdgeB);
    expect_delivery(*a, *b, packet_to(kEdgeB, 8192), kEdgeA);
    // It stays joined, however often it is looked at.
    for (int look = 0; look < 4; ++look) b->tend(now_ns += kSecond);
    expect_delivery(*b, *a, packet_to(kEdgeA, 1), kEdgeB);
  }
  EXPECT_EQ(b->drops(FrameDrop::kTxFull), 3U);
}

/// Binds a socket to the path, as a server does.
int listen_at(const std::string& path) {
  const int descriptor = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  EXPECT_EQ(::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(descriptor, 1), 0);
  return descriptor;
}

TEST_F(PortMemifTest, WhatAKilledServerLeftIsNotInTheWay) {
  const std::string path = folder_ + "/link.sock";
  const int descriptor = listen_at(path);
  // Another's that lives is. (The driver keeps the name of what it could not make.)
  DpdkPortConfig config = server();
  config.device.replace(0, std::strlen("net_memif_server"), "net_memif_refused");
  const auto refused = DpdkPort::create(config, *pool_);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find(path), std::string::npos) << refused.error().message;
  ::close(descriptor);
  ASSERT_TRUE(std::filesystem::exists(path));
  auto a = open(server());
  auto b = open(client());
  ASSERT_TRUE(a != nullptr && b != nullptr);
  EXPECT_TRUE(join(*a, *b));
}

}  // namespace
}  // namespace tombolo::dataplane
