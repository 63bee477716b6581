// ARP and ICMP: answered, asked, learnt, limited; on one queue and on several.
#include <rte_mbuf.h>

#include <algorithm>

#include "dataplane/port/dpdk/big_endian.h"
#include "tests/unit/dataplane/port/dpdk/port_harness.h"

namespace tombolo::dataplane {
namespace {

Bytes arp_frame(const ArpMessage& message) {
  Bytes frame(kArpFrameBytes);
  write_arp(frame.data(), message);
  return frame;
}

const ArpMessage kQuestion{ArpMessage::kRequest, kMacB, kEdgeB.ipv4, 0, kEdgeA.ipv4};

class PortControlTest : public PortTest {
 protected:
  /// A's configuration without B's Ethernet address.
  DpdkPortConfig asking_config() const {
    DpdkPortConfig config = config_a();
    config.neighbours = {{kEdgeB, {}}};
    return config;
  }
  bool can_send(DpdkPort& port) {
    TxPacket packet = packet_to_b(0, 0);
    port.transmit(0, {&packet, 1}, 0);
    const std::vector<Bytes> frames = sent_by_a();
    return std::any_of(frames.begin(), frames.end(), [](const Bytes& frame) { return frame.size() == 106; });
  }
};

TEST_F(PortControlTest, AnswersArpForItsAddress) {
  auto port = open(config_a());
  send_to_a(arp_frame(kQuestion));
  EXPECT_TRUE(receive(*port, 0).empty());
  const std::vector<Bytes> frames = sent_by_a();
  ASSERT_EQ(frames.size(), 1U);
  // By hand from RFC 826.
  const std::vector<unsigned> expected{0x02, 0, 0, 0, 0, 0x0b, 0x02, 0, 0,    0,    0,  0x0a, 0x08, 0x06,
                                       0,    1, 8, 0, 6, 4,    0,    2, 0x02, 0,    0,  0,    0,    0x0a,
                                       10,   0, 0, 1, 2, 0,    0,    0, 0,    0x0b, 10, 0,    0,    2};
  ASSERT_EQ(frames[0].size(), 60U);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(std::to_integer<unsigned>(frames[0][i]), expected[i]) << "byte " << i;
  EXPECT_EQ(port->counters().arp_answers.get(), 1U);
}

TEST_F(PortControlTest, AStrangerIsAnsweredButNotLearnt) {
  auto port = open(config_a());
  send_to_a(arp_frame({ArpMessage::kRequest, 0x0200000000cc, kStranger.ipv4, 0, kEdgeA.ipv4}));
  receive(*port, 0);
  EXPECT_EQ(sent_by_a().size(), 1U);
  EXPECT_EQ(port->resolved_neighbours(), 1U);
}

TEST_F(PortControlTest, OtherArpIsCounted) {
  auto port = open(config_a());
  std::vector<Bytes> others{
      arp_frame({ArpMessage::kRequest, kMacB, kEdgeB.ipv4, 0, kStranger.ipv4}),             // For another.
      arp_frame({ArpMessage::kReply, 0x0200000000cc, kStranger.ipv4, kMacA, kEdgeA.ipv4}),  // Not asked for.
      arp_frame({ArpMessage::kRequest, kMacB, kEdgeA.ipv4, 0, kEdgeA.ipv4}),          // Has our address.
      arp_frame({ArpMessage::kRequest, kBroadcastMac, kEdgeB.ipv4, 0, kEdgeA.ipv4}),  // From everybody.
      arp_frame(kQuestion),
      arp_frame(kQuestion),
      arp_frame(kQuestion),
      arp_frame(kQuestion)};
  others[4].resize(41);                // Too short.
  put16(&others[5][14], 6);            // Not Ethernet.
  put16(&others[6][20], 3);            // Neither question nor answer.
  put48(&others[7][6], kMacB + 0x20);  // Sent by another than it says.
  for (const Bytes& frame : others) send_to_a(frame);
  receive(*port, 0);
  EXPECT_EQ(port->drops(FrameDrop::kArpOther), others.size());
  EXPECT_TRUE(sent_by_a().empty());
}

TEST_F(PortControlTest, AsksOnceASecondUntilItKnowsAndEveryThirtySecondsThen) {
  auto port = open(asking_config());
  EXPECT_FALSE(can_send(*port));
  std::vector<Nanoseconds> asked;
  for (Nanoseconds now_ns = kSecond; now_ns < 70 * kSecond; now_ns += kSecond / 4) {
    receive(*port, now_ns);
    for (const Bytes& frame : sent_by_a()) {
      const auto question = parse_arp(frame);
      ASSERT_TRUE(question.has_value());
      EXPECT_EQ(question->operation, ArpMessage::kRequest);
      EXPECT_EQ(question->target_ipv4, kEdgeB.ipv4);
      EXPECT_EQ(question->sender_mac, kMacA);
      EXPECT_EQ(get48(frame.data()), kBroadcastMac);
      asked.push_back(now_ns / kSecond);
    }
    if (now_ns != 4 * kSecond) continue;
    send_to_a(arp_frame({ArpMessage::kReply, kMacB, kEdgeB.ipv4, kMacA, kEdgeA.ipv4}));
  }
  // The answer is seen at 4.25 s: the next question is due at 34.25 s, and nobody answers those that follow.
  ASSERT_GE(asked.size(), 6U);
  EXPECT_EQ(std::vector<Nanoseconds>(asked.begin(), asked.begin() + 6),
            (std::vector<Nanoseconds>{1, 2, 3, 4, 34, 35}));
  EXPECT_EQ(asked.back(), 69U);
  // A neighbour that is silent for a while keeps its address.
  EXPECT_TRUE(can_send(*port));
}

TEST_F(PortControlTest, NextDueIsTheNextQuestion) {
  auto port = open(asking_config());
  EXPECT_EQ(port->next_due_ns(0), 0U);
  receive(*port, 5 * kSecond);
  EXPECT_EQ(port->next_due_ns(0), 6 * kSecond);
}

TEST_F(PortControlTest, LearnsFromANeighboursQuestionToo) {
  auto port = open(asking_config());
  send_to_a(arp_frame(kQuestion));
  receive(*port, 0);
  EXPECT_EQ(port->resolved_neighbours(), 1U);
  EXPECT_TRUE(can_send(*port));
}

TEST_F(PortControlTest, AFixedAddressWins) {
  auto port = open(config_a());
  send_to_a(arp_frame({ArpMessage::kReply, 0x0200000000cc, kEdgeB.ipv4, kMacA, kEdgeA.ipv4}));
  receive(*port, 0);
  TxPacket packet = packet_to_b(0, 0);
  port->transmit(0, {&packet, 1}, 0);
  const std::vector<Bytes> frames = sent_by_a();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(get48(frames[0].data()), kMacB);
}

TEST_F(PortControlTest, AnArpStormCostsFewAnswersPerCall) {
  auto port = open(config_a());
  for (int i = 0; i < 320; ++i) send_to_a(arp_frame(kQuestion));
  for (int call = 0; call < 10; ++call) {
    receive(*port, 0);
    EXPECT_EQ(sent_by_a().size(), DpdkPort::kArpPerCall);
  }
  EXPECT_EQ(port->counters().arp_received.get(), 40U);
  EXPECT_EQ(port->drops(FrameDrop::kControlLimit), 280U);
}

TEST_F(PortControlTest, AnswersAnEchoWithTheSameBytes) {
  auto port = open(config_a());
  for (const std::size_t size : {42U, 60U, 98U, 1514U, 9014U}) {
    Bytes request(size);
    write_echo_request(request, {kMacA, kMacB, kEdgeB.ipv4, kEdgeA.ipv4, 0x1234, 7});
    for (std::size_t i = 42; i < size; ++i) request[i] = pattern(i);
    put16(&request[36], 0);
    put16(&request[36], internet_checksum(std::span(request).subspan(34)));
    send_to_a(request);
    EXPECT_TRUE(receive(*port, 0).empty());
    const std::vector<Bytes> frames = sent_by_a();
    ASSERT_EQ(frames.size(), 1U) << size;
    const Bytes& answer = frames[0];
    ASSERT_EQ(answer.size(), size);
    EXPECT_EQ(get48(&answer[0]), kMacB);
    EXPECT_EQ(get48(&answer[6]), kMacA);
    EXPECT_EQ(get32(&answer[26]), kEdgeA.ipv4);
    EXPECT_EQ(get32(&answer[30]), kEdgeB.ipv4);
    EXPECT_EQ(internet_checksum(std::span(answer).subspan(14, 20)), 0U);
    EXPECT_EQ(internet_checksum(std::span(answer).subspan(34)), 0U);
    EXPECT_EQ(answer[34], std::byte{0});
    EXPECT_TRUE(std::equal(answer.begin() + 38, answer.end(), request.begin() + 38));
  }
  EXPECT_EQ(port->counters().echo_answers.get(), 5U);
}

TEST_F(PortControlTest, OtherIcmpIsCounted) {
  auto port = open(config_a());
  Bytes damaged(98), unasked(98), unreachable(98);
  for (Bytes* frame : {&damaged, &unasked, &unreachable})
    write_echo_request(*frame, {kMacA, kMacB, kEdgeB.ipv4, kEdgeA.ipv4, 1, 1});
  damaged[70] = std::byte{1};
  turn_into_echo_reply(unasked, kMacB);
  // Addresses were swapped on the way: swap them back.
  put48(&unasked[0], kMacA);
  write_ipv4(&unasked[14], kEdgeB.ipv4, kEdgeA.ipv4, kProtocolIcmp, 64);
  unreachable[34] = std::byte{3};
  put16(&unreachable[36], 0);
  put16(&unreachable[36], internet_checksum(std::span(unreachable).subspan(34)));
  for (const Bytes& frame : {damaged, unasked, unreachable}) send_to_a(frame);
  receive(*port, 0);
  EXPECT_EQ(port->drops(FrameDrop::kIcmpOther), 3U);
  EXPECT_TRUE(sent_by_a().empty());
}

TEST_F(PortControlTest, WhatArrivesOnAnotherQueueIsAnsweredByQueueZero) {
  auto port = open(config_a(2));
  Cable& cable = Cable::get(2);
  Bytes echo(98);
  write_echo_request(echo, {kMacA, kMacB, kEdgeB.ipv4, kEdgeA.ipv4, 1, 1});
  ASSERT_TRUE(cable.to_a(make_frame(arp_frame(kQuestion)), 1));
  ASSERT_TRUE(cable.to_a(make_frame(echo), 1));
  ASSERT_TRUE(cable.to_a(make_frame(data_frame(1, kHeaderBytes)), 1));
  EXPECT_EQ(receive(*port, 0, 1).size(), 1U);
  EXPECT_EQ(cable.waiting_from_a(0) + cable.waiting_from_a(1), 0U);
  EXPECT_EQ(port->next_due_ns(0), 0U);
  EXPECT_TRUE(receive(*port, 0, 0).empty());
  EXPECT_EQ(cable.waiting_from_a(0), 2U);
  EXPECT_EQ(cable.waiting_from_a(1), 0U);
  const DpdkPortCounters& zero = port->counters(0);
  const DpdkPortCounters& one = port->counters(1);
  EXPECT_EQ(zero.rx_frames.get() + one.rx_frames.get(),
            one.rx_packets.get() + zero.arp_received.get() + zero.echo_received.get());
  EXPECT_NE(port->next_due_ns(0), 0U);
}

TEST_F(PortControlTest, TheWayToQueueZeroIsBounded) {
  auto port = open(config_a(2));
  Cable& cable = Cable::get(2);
  for (int i = 0; i < 320; ++i) ASSERT_TRUE(cable.to_a(make_frame(arp_frame(kQuestion)), 1));
  for (int call = 0; call < 10; ++call) receive(*port, 0, 1);
  // A ring of 256 holds 255.
  EXPECT_EQ(port->counters(1).drops.get(FrameDrop::kControlLimit), 320U - 255);
}

}  // namespace
}  // namespace tombolo::dataplane
