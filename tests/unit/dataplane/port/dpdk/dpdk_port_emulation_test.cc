// The built-in WAN and the probe, in virtual time: what arrives when, against arithmetic.
#include <rte_mbuf.h>

#include <algorithm>
#include <cstring>

#include "tests/unit/dataplane/port/dpdk/port_harness.h"

namespace tombolo::dataplane {
namespace {

class PortEmulationTest : public PortTest {
 protected:
  DpdkPortConfig emulated(const LinkConfig& tx, const LinkConfig& rx) const {
    DpdkPortConfig config = config_a();
    config.emulation = Emulation{tx, rx, 7};
    return config;
  }
  void send(DpdkPort& port, std::uint32_t number, std::uint32_t payload_bytes, Nanoseconds now_ns) {
    TxPacket packet = packet_to_b(number, payload_bytes);
    ASSERT_EQ(port.transmit(0, {&packet, 1}, now_ns), 1U);
  }
  std::size_t sent_at(DpdkPort& port, Nanoseconds now_ns) {
    receive(port, now_ns);
    return sent_by_a().size();
  }
  /// Moves both ends to the next event until the probe is done.
  ProbeResult run_probe(DpdkPort& a, DpdkPort& b, const ProbeRequest& request, Nanoseconds start_ns) {
    EXPECT_TRUE(a.start_probe(request).ok());
    Nanoseconds now_ns = start_ns;
    for (int step = 0; step < 100'000; ++step) {
      receive(a, now_ns);
      receive(b, now_ns);
      receive(a, now_ns);
      if (const auto result = a.take_probe_result()) return *result;
      now_ns = std::max(now_ns + 1, std::min(a.next_due_ns(0), b.next_due_ns(0)));
    }
    ADD_FAILURE() << "the probe does not end";
    return {};
  }
};

TEST_F(PortEmulationTest, DelayHoldsBackWhatIsSentWithoutCopyingIt) {
  auto port = open(emulated({.delay_ns = 5000}, {}));
  send(*port, 1, 1000, 100);
  EXPECT_EQ(pool_->in_use(), 1U);
  EXPECT_EQ(port->next_due_ns(0), 5100U);
  EXPECT_EQ(sent_at(*port, 5099), 0U);
  EXPECT_EQ(sent_at(*port, 5100), 1U);
  EXPECT_EQ(port->counters().tx_copies.get(), 0U);
  EXPECT_EQ(port->next_due_ns(0), kNever);
}

TEST_F(PortEmulationTest, DelayHoldsBackWhatArrives) {
  auto port = open(emulated({}, {.delay_ns = 5000}));
  send_to_a(data_frame(1, kHeaderBytes));
  EXPECT_TRUE(receive(*port, 100).empty());
  EXPECT_EQ(port->counters().rx_frames.get(), 0U);
  EXPECT_EQ(port->next_due_ns(0), 5100U);
  EXPECT_TRUE(receive(*port, 5099).empty());
  const std::vector<RxPacket> packets = receive(*port, 5100);
  ASSERT_EQ(packets.size(), 1U);
  EXPECT_EQ(packets[0].buffer.data()[10], pattern(10));
  EXPECT_EQ(port->counters().rx_copies.get(), 0U);
}

TEST_F(PortEmulationTest, RateSpacesFramesByTheirBits) {
  // 106 + 894 = 1000 bytes at 1 Gbit/s: 8 us each.
  auto port = open(emulated({.delay_ns = 1000, .rate_bps = 1'000'000'000}, {}));
  for (std::uint32_t i = 0; i < 5; ++i) send(*port, i, 894, 0);
  for (Nanoseconds i = 1; i <= 5; ++i) {
    EXPECT_EQ(sent_at(*port, i * 8000 + 999), 0U);
    EXPECT_EQ(sent_at(*port, i * 8000 + 1000), 1U);
  }
}

TEST_F(PortEmulationTest, AFullQueueAndLossesAreCountedAndGivenBack) {
  auto port = open(emulated({.rate_bps = 1'000'000, .queue_bytes = 5000}, {.loss = 1}));
  for (std::uint32_t i = 0; i < 8; ++i) send(*port, i, 894, 0);
  EXPECT_EQ(port->tx_link()->link_counters().queue_drops.get(), 3U);
  EXPECT_EQ(port->tx_link()->link_counters().tx_packets.get(), 5U);
  EXPECT_EQ(pool_->in_use(), 5U);
  send_to_a(data_frame(0, kHeaderBytes));
  EXPECT_TRUE(receive(*port, 0).empty());
  EXPECT_EQ(port->rx_link()->link_counters().losses.get(), 1U);
  EXPECT_EQ(pool_->in_use(), 5U);
  // What is held when the port goes away is freed: TearDown() looks.
}

TEST_F(PortEmulationTest, LossIsAsOftenAsConfigured) {
  auto port = open(emulated({.loss = 0.1}, {}));
  std::uint64_t left = 0;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    send(*port, i, 0, i);
    left += sent_by_a().size();
  }
  EXPECT_EQ(left + port->tx_link()->link_counters().losses.get(), 20'000U);
  // 18,000 expected, with a standard deviation of sqrt(20,000 x 0.1 x 0.9) = 42.4: five of them.
  EXPECT_NEAR(static_cast<double>(left), 18'000, 212);
}

TEST_F(PortEmulationTest, ArpAndEchoTakeTheSameWay) {
  auto port = open(emulated({.delay_ns = 3000}, {.delay_ns = 2000}));
  Bytes arp(kArpFrameBytes);
  write_arp(arp.data(), {ArpMessage::kRequest, kMacB, kEdgeB.ipv4, 0, kEdgeA.ipv4});
  send_to_a(arp);
  EXPECT_EQ(sent_at(*port, 0), 0U);
  EXPECT_EQ(sent_at(*port, 2000), 0U);
  EXPECT_EQ(sent_at(*port, 4999), 0U);
  EXPECT_EQ(sent_at(*port, 5000), 1U);
}

TEST_F(PortEmulationTest, RoomForFramesOnTheWayIsBounded) {
  // 10 Mbit/s x 10 ms = 12,500 bytes, 5,000 of queue: 17,500 / 106 + 32 = 197 frames, and so the least, 256.
  const LinkConfig small{.delay_ns = 10 * kMillisecond, .rate_bps = 10'000'000, .queue_bytes = 5000};
  EXPECT_EQ(held_frames(small), 256U);
  // 1 Gbit/s x 100 ms = 12.5 MB and 10.6 MB of queue: 23,100,000 / 106 + 32 = 217,956, above the most.
  EXPECT_EQ(
      held_frames({.delay_ns = 100 * kMillisecond, .rate_bps = 1'000'000'000, .queue_bytes = 10'600'000}),
      131'072U);
  // 100 Mbit/s x 80 ms = 1 MB and 60,000 bytes: 1,060,000 / 106 + 32.
  EXPECT_EQ(held_frames({.delay_ns = 80 * kMillisecond, .rate_bps = 100'000'000, .queue_bytes = 60'000}),
            10'032U);
  EXPECT_EQ(held_frames({}), 16'384U);

  auto port = open(emulated({}, small));
  // Frames smaller than any packet of ours: 300 of 60 bytes are within the link's bytes, but not its frames.
  Bytes arp(kArpFrameBytes);
  write_arp(arp.data(), {ArpMessage::kReply, kMacB, kEdgeB.ipv4, kMacA, kEdgeA.ipv4});
  for (Nanoseconds i = 0; i < 300; ++i) {
    send_to_a(arp);
    receive(*port, i * 30'000);
  }
  EXPECT_EQ(port->drops(FrameDrop::kHeldFull) + port->rx_link()->link_counters().queue_drops.get() +
                port->rx_link()->link_counters().tx_packets.get(),
            300U);
  EXPECT_LE(pool_->in_use(), 256U);
}

TEST_F(PortEmulationTest, JitterIsRefusedByName) {
  const auto port = DpdkPort::create(emulated({}, {.jitter_ns = 1}), *pool_);
  ASSERT_FALSE(port.ok());
  EXPECT_EQ(port.error().code, ErrorCode::kNotSupported);
  EXPECT_NE(port.error().message.find("port wan0: emulation: rx"), std::string::npos) << port.error().message;
}

TEST_F(PortEmulationTest, AProbeMeasuresTheRoundTrip) {
  auto a = open(emulated({.delay_ns = 20 * kMillisecond}, {.delay_ns = 30 * kMillisecond}));
  auto b = open(config_b());
  ProbeRequest request;
  request.neighbour = kEdgeB.ipv4;
  const ProbeResult result = run_probe(*a, *b, request, kSecond);
  EXPECT_EQ(result.sent, 10U);
  EXPECT_EQ(result.received, 10U);
  EXPECT_EQ(result.min_rtt_ns, 50 * kMillisecond);
  EXPECT_EQ(result.median_rtt_ns, 50 * kMillisecond);
  EXPECT_EQ(result.rate_bps, 0U);
}

TEST_F(PortEmulationTest, AProbeMeasuresTheRateOfTheSlowerDirection) {
  for (const bool slow_out : {true, false}) {
    const LinkConfig slow{.delay_ns = 1000, .rate_bps = 50'000'000, .queue_bytes = 2'000'000};
    const LinkConfig fast{.delay_ns = 1000, .rate_bps = 200'000'000, .queue_bytes = 2'000'000};
    auto a = open(slow_out ? emulated(slow, fast) : emulated(fast, slow));
    auto b = open(config_b());
    ProbeRequest request{ProbeRequest::Kind::kRate, kEdgeB.ipv4, 100, 8000, kSecond};
    const ProbeResult result = run_probe(*a, *b, request, 0);
    EXPECT_EQ(result.received, 100U);
    EXPECT_NEAR(static_cast<double>(result.rate_bps), 50e6, 50e6 * 0.001);
  }
}

TEST_F(PortEmulationTest, LostEchoesEndAProbeByItsTimeout) {
  auto a = open(emulated({.loss = 1}, {}));
  auto b = open(config_b());
  ProbeRequest request{ProbeRequest::Kind::kRoundTrip, kEdgeB.ipv4, 3, 98, kMillisecond};
  const ProbeResult result = run_probe(*a, *b, request, 0);
  EXPECT_EQ(result.sent, 3U);
  EXPECT_EQ(result.received, 0U);
  EXPECT_EQ(result.min_rtt_ns, 0U);
  request.kind = ProbeRequest::Kind::kRate;
  EXPECT_EQ(run_probe(*a, *b, request, kSecond).rate_bps, 0U);
}

TEST_F(PortEmulationTest, BadProbesAreRefusedByName) {
  auto port = open(config_a());
  ProbeRequest request;
  request.neighbour = kStranger.ipv4;
  EXPECT_NE(port->start_probe(request).error().message.find("10.0.0.255 is not a neighbour"),
            std::string::npos);
  request.neighbour = kEdgeB.ipv4;
  request.frame_bytes = 9015;
  EXPECT_NE(port->start_probe(request).error().message.find("the MTU allows 9014"), std::string::npos);
  request.frame_bytes = 41;
  EXPECT_FALSE(port->start_probe(request).ok());
  request.frame_bytes = 98;
  request.count = 0;
  EXPECT_FALSE(port->start_probe(request).ok());
  request.count = 1;
  EXPECT_TRUE(port->start_probe(request).ok());
  EXPECT_EQ(port->start_probe(request).error().code, ErrorCode::kUnavailable);
}

TEST_F(PortEmulationTest, TwoQueuesShareTheLinksRate) {
  DpdkPortConfig config = config_a(2);
  config.emulation = Emulation{{.rate_bps = 1'000'000'000}, {}, 1};
  auto port = open(config);
  Cable& cable = Cable::get(2);
  for (std::uint32_t queue = 0; queue < 2; ++queue) {
    TxPacket packet = packet_to_b(queue, 894);
    ASSERT_EQ(port->transmit(queue, {&packet, 1}, 0), 1U);
  }
  EXPECT_EQ(port->next_due_ns(0), 8000U);
  EXPECT_EQ(port->next_due_ns(1), 16'000U);
  receive(*port, 16'000, 0);
  EXPECT_EQ(cable.waiting_from_a(0), 1U);
  EXPECT_EQ(cable.waiting_from_a(1), 0U);
  receive(*port, 16'000, 1);
  EXPECT_EQ(cable.waiting_from_a(1), 1U);
}

}  // namespace
}  // namespace tombolo::dataplane
