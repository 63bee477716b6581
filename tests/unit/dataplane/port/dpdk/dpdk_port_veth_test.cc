// Ports over AF_PACKET on a pair of veth interfaces, in a network namespace that only this test's thread sees
// and that vanishes with it. The kernel at the other end is an independent implementation of ARP, IP, UDP and
// ICMP.
#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#include "dataplane/port/dpdk/device_check.h"
#include "tests/unit/dataplane/port/dpdk/port_harness.h"

namespace tombolo::dataplane {
namespace {

constexpr std::chrono::seconds kPatience{20};

bool run(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

class PortVethTest : public PortTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "network namespaces need root";
    if (!run("ip -V")) GTEST_SKIP() << "no ip command (package iproute2)";
    home_ = ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (home_ < 0 || ::unshare(CLONE_NEWNET) != 0) GTEST_SKIP() << "no network namespaces";
    // IPv6 is off before the interfaces are up, or the kernel would send neighbour discovery.
    ASSERT_TRUE(run("sysctl -w net.ipv6.conf.default.disable_ipv6=1") || run("true"));
    ASSERT_TRUE(run("ip link add tv0 mtu 9018 type veth peer name tv1 mtu 9018"));
    ASSERT_TRUE(run("ip link set tv0 up && ip link set tv1 up"));
  }
  void TearDown() override {
    if (home_ >= 0) {
      EXPECT_EQ(::setns(home_, CLONE_NEWNET), 0);
      ::close(home_);
    }
    PortTest::TearDown();
  }

  DpdkPortConfig on_interface(DpdkPortConfig config, const char* interface, bool jumbo) const {
    config.device = af_packet_device(interface, jumbo, 1);
    config.mac.reset();
    config.mtu = jumbo ? 9000 : 1500;
    for (Neighbour& neighbour : config.neighbours) neighbour.mac.reset();
    return config;
  }
  static Nanoseconds now() { return MonotonicClock().now_ns(); }
  /// Polls until the condition holds; false when it does not for long.
  static bool poll_until(const std::function<bool()>& holds) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!holds()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return true;
  }

  int home_ = -1;
};

TEST_F(PortVethTest, TwoPortsExchangeJumboPacketsOfAllSizes) {
  auto a = open(on_interface(config_a(), "tv0", true));
  auto b = open(on_interface(config_b(), "tv1", true));
  ASSERT_TRUE(a != nullptr && b != nullptr);
  EXPECT_NE(a->mac(), b->mac());
  // They find one another by ARP.
  ASSERT_TRUE(poll_until([&] {
    receive(*a, now());
    receive(*b, now());
    return a->resolved_neighbours() == 1 && b->resolved_neighbours() == 1;
  }));
  std::uint32_t number = 0;
  for (const std::uint32_t size : {0U, 1U, 1280U, 1408U, 4096U, kMaxPayloadBytes}) {
    TxPacket packet = packet_to_b(++number, size, 3);
    ASSERT_EQ(a->transmit(0, {&packet, 1}, now()), 1U);
    std::vector<RxPacket> packets;
    ASSERT_TRUE(poll_until([&] {
      packets = receive(*b, now());
      return !packets.empty();
    }));
    ASSERT_EQ(packets.size(), 1U);
    EXPECT_EQ(packets[0].from, kEdgeA);
    EXPECT_EQ(packets[0].lane, 3U);
    ASSERT_EQ(packets[0].bytes, kHeaderBytes + size);
    const std::byte* const data = packets[0].buffer.data();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0U);
    EXPECT_EQ(std::memcmp(data, packet.header.data(), kHeaderBytes), 0);
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(data[kHeaderBytes + i], pattern(i + number));
  }
  // The kernel wrote each frame where it stays.
  EXPECT_EQ(b->counters().rx_copies.get(), 0U);
  EXPECT_EQ(a->counters().tx_copies.get(), 0U);
}

TEST_F(PortVethTest, TheKernelAndThePortUnderstandOneAnother) {
  ASSERT_TRUE(run("ip addr add 10.0.0.2/24 dev tv1"));
  auto port = open(on_interface(config_a(), "tv0", false));
  ASSERT_NE(port, nullptr);
  const int udp = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in local{}, remote{};
  local.sin_family = remote.sin_family = AF_INET;
  local.sin_addr.s_addr = htonl(kEdgeB.ipv4);
  local.sin_port = htons(kEdgeB.base_port + 2);
  remote.sin_addr.s_addr = htonl(kEdgeA.ipv4);
  remote.sin_port = htons(kEdgeA.base_port + 2);
  ASSERT_EQ(::bind(udp, reinterpret_cast<const sockaddr*>(&local), sizeof local), 0);

  // The kernel asks for our Ethernet address before it sends.
  Bytes sent(kHeaderBytes + 700);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = pattern(i);
  ASSERT_EQ(
      ::sendto(udp, sent.data(), sent.size(), 0, reinterpret_cast<const sockaddr*>(&remote), sizeof remote),
      static_cast<ssize_t>(sent.size()));
  std::vector<RxPacket> packets;
  ASSERT_TRUE(poll_until([&] {
    packets = receive(*port, now());
    return !packets.empty();
  }));
  EXPECT_EQ(packets[0].from, kEdgeB);
  EXPECT_EQ(packets[0].lane, 2U);
  ASSERT_EQ(packets[0].bytes, sent.size());
  EXPECT_EQ(std::memcmp(packets[0].buffer.data(), sent.data(), sent.size()), 0);
  EXPECT_GE(port->counters().arp_answers.get(), 1U);

  // And our packets pass its checks.
  ASSERT_TRUE(poll_until([&] {
    receive(*port, now());
    return port->resolved_neighbours() == 1;
  }));
  TxPacket packet = packet_to_b(77, 1400, 2);
  ASSERT_EQ(port->transmit(0, {&packet, 1}, now()), 1U);
  Bytes got(2000);
  ssize_t count = 0;
  ASSERT_TRUE(poll_until([&] { return (count = ::recv(udp, got.data(), got.size(), 0)) > 0; }));
  ASSERT_EQ(count, static_cast<ssize_t>(kHeaderBytes + 1400));
  EXPECT_EQ(std::memcmp(got.data(), packet.header.data(), kHeaderBytes), 0);
  EXPECT_EQ(std::memcmp(&got[kHeaderBytes], packet.payload, 1400), 0);
  ::close(udp);

  // It answers our echoes.
  ASSERT_TRUE(port->start_probe({ProbeRequest::Kind::kRoundTrip, kEdgeB.ipv4, 5, 1000, 5 * kSecond}).ok());
  std::optional<ProbeResult> result;
  ASSERT_TRUE(poll_until([&] {
    receive(*port, now());
    return (result = port->take_probe_result()).has_value();
  }));
  EXPECT_EQ(result->received, 5U);
  EXPECT_LT(result->median_rtt_ns, 5 * kSecond);
}

TEST_F(PortVethTest, AGroupArrivesAndTheInterfaceIsLeftAsItWas) {
  DpdkPortConfig config = on_interface(config_a(), "tv0", true);
  auto a = open(config);
  config = on_interface(config_b(), "tv1", true);
  config.multicast = true;
  auto b = open(config);
  ASSERT_TRUE(a != nullptr && b != nullptr);
  ASSERT_TRUE(a->set_groups(kEdgeB.ipv4, {0xef000001, {}}).ok());
  ASSERT_TRUE(b->set_groups(kEdgeA.ipv4, {0, {0xef000001, 0}}).ok());
  EXPECT_FALSE(run("ip link show tv0 | grep PROMISC"));
  EXPECT_TRUE(run("ip link show tv1 | grep PROMISC"));
  TxPacket packet = packet_to_b(1, 8192);
  ASSERT_EQ(a->transmit(0, {&packet, 1}, now()), 1U);
  std::vector<RxPacket> packets;
  ASSERT_TRUE(poll_until([&] {
    packets = receive(*b, now());
    return !packets.empty();
  }));
  EXPECT_EQ(packets[0].from, kEdgeA);
  EXPECT_EQ(packets[0].bytes, kHeaderBytes + 8192);
  packets.clear();
  b.reset();
  EXPECT_FALSE(run("ip link show tv1 | grep PROMISC"));
}

TEST_F(PortVethTest, WhatOthersSendOutOfItsInterfaceIsNotTakenForAnArrival) {
  // With known neighbours neither asks for the other.
  DpdkPortConfig config = on_interface(config_a(), "tv0", false);
  config.neighbours[0].mac = kMacB;
  auto a = open(config);
  config = on_interface(config_b(), "tv1", false);
  config.neighbours[0].mac = kMacA;
  auto b = open(config);
  ASSERT_TRUE(a != nullptr && b != nullptr);
  // The kernel asks on tv0 for a host that is not there.
  ASSERT_TRUE(run("ip addr add 10.9.9.1/24 dev tv0"));
  const int udp = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in remote{};
  remote.sin_family = AF_INET;
  remote.sin_addr.s_addr = htonl(0x0a090902);
  remote.sin_port = htons(9);
  EXPECT_EQ(::sendto(udp, "?", 1, 0, reinterpret_cast<const sockaddr*>(&remote), sizeof remote), 1);
  ::close(udp);
  ASSERT_TRUE(poll_until([&] {
    receive(*b, 0);
    return b->counters().rx_frames.get() > 0;
  }));
  receive(*a, 0);
  EXPECT_EQ(a->counters().rx_frames.get(), 0U);
}

TEST_F(PortVethTest, AnswersThePingCommand) {
  if (!run("ping -V")) GTEST_SKIP() << "no ping command (package iputils-ping)";
  ASSERT_TRUE(run("ip addr add 10.0.0.2/24 dev tv1"));
  auto port = open(on_interface(config_a(), "tv0", false));
  ASSERT_NE(port, nullptr);
  std::FILE* const ping = ::popen("ping -c 3 -i 0.2 -w 20 -s 1000 10.0.0.1 2>&1", "r");
  ASSERT_NE(ping, nullptr);
  ASSERT_EQ(::fcntl(::fileno(ping), F_SETFL, O_NONBLOCK), 0);
  std::string output;
  EXPECT_TRUE(poll_until([&] {
    receive(*port, now());
    char bytes[512];
    const ssize_t count = ::read(::fileno(ping), bytes, sizeof bytes);
    if (count > 0) output.append(bytes, static_cast<std::size_t>(count));
    return count == 0;
  }));
  ::pclose(ping);
  EXPECT_NE(output.find("3 received, 0% packet loss"), std::string::npos) << output;
  EXPECT_EQ(port->counters().echo_answers.get(), 3U);
}

TEST_F(PortVethTest, AnInterfaceThatIsNotReadyIsRefusedWithTheCommandThatMendsIt) {
  DpdkPortConfig config = on_interface(config_a(), "tv0", true);
  ASSERT_TRUE(run("ip link set tv0 mtu 1500"));
  auto port = DpdkPort::create(config, *pool_);
  ASSERT_FALSE(port.ok());
  EXPECT_NE(port.error().message.find("ip link set dev tv0 mtu 9000"), std::string::npos)
      << port.error().message;
  ASSERT_TRUE(run("ip link set tv0 down"));
  port = DpdkPort::create(config, *pool_);
  ASSERT_FALSE(port.ok());
  EXPECT_NE(port.error().message.find("ip link set dev tv0 up"), std::string::npos) << port.error().message;
}

}  // namespace
}  // namespace tombolo::dataplane
