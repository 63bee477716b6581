#include "dataplane/port/dpdk/big_endian.h"
#include "tests/unit/dataplane/port/dpdk/port_harness.h"

namespace tombolo::dataplane {
namespace {

constexpr std::uint32_t kOld = 0xefc00001;  // 239.192.0.1
constexpr std::uint32_t kNew = 0xef8a0102;  // 239.138.1.2

/// A packet's frame from B to a group, as B would send it; or from somebody else.
class PortGroupsTest : public PortTest {
 protected:
  std::unique_ptr<DpdkPort> open_a() {
    DpdkPortConfig config = config_a();
    config.multicast = true;
    config.neighbours.push_back({kStranger, kMacB});
    return open(config);
  }

  static Bytes group_frame(std::uint32_t group, std::uint32_t source = kEdgeB.ipv4) {
    Bytes frame = data_frame(2, kHeaderBytes);
    put48(&frame[0], group_mac(group));
    put32(&frame[26], source);
    put32(&frame[30], group);
    put16(&frame[24], 0);
    put16(&frame[24], internet_checksum(std::span(frame).subspan(14, 20)));
    return frame;
  }

  /// How many packets such a frame becomes.
  std::size_t taken(DpdkPort& port, const Bytes& frame) {
    send_to_a(frame);
    return receive(port, 0).size();
  }

  /// Where A's next packet to B goes: Ethernet and IPv4.
  std::pair<Mac, std::uint32_t> next_destination(DpdkPort& port) {
    TxPacket packet = packet_to_b(1, 4);
    EXPECT_EQ(port.transmit(0, {&packet, 1}, 0), 1U);
    packet.keep.reset();
    const std::vector<Bytes> frames = sent_by_a();
    if (frames.size() != 1) return {};
    return {get48(frames[0].data()), get32(&frames[0][30])};
  }
};

TEST_F(PortGroupsTest, TakesAGroupFromItsSourceAndSaysWhoItComesFrom) {
  auto port = open_a();
  ASSERT_TRUE(port->set_groups(kEdgeB.ipv4, {0, {kOld, 0}}).ok());
  send_to_a(group_frame(kOld));
  const std::vector<RxPacket> packets = receive(*port, 0);
  ASSERT_EQ(packets.size(), 1U);
  EXPECT_EQ(packets[0].from, kEdgeB);
  EXPECT_EQ(packets[0].lane, 2U);
  // Straight to the port goes as well: so do a neighbour's first packets, before it has an epoch.
  EXPECT_EQ(taken(*port, data_frame(0, kHeaderBytes)), 1U);
}

TEST_F(PortGroupsTest, CountsAGroupFromAnotherSourceAndOneOfNobodys) {
  auto port = open_a();
  ASSERT_TRUE(port->set_groups(kEdgeB.ipv4, {0, {kOld, 0}}).ok());
  // Another neighbour, and somebody who is none.
  EXPECT_EQ(taken(*port, group_frame(kOld, kStranger.ipv4)), 0U);
  EXPECT_EQ(taken(*port, group_frame(kOld, kStranger.ipv4 - 1)), 0U);
  EXPECT_EQ(port->drops(FrameDrop::kOtherSource), 2U);
  EXPECT_EQ(taken(*port, group_frame(kNew)), 0U);
  EXPECT_EQ(port->drops(FrameDrop::kOtherAddress), 1U);
  // The right group to another Ethernet address, as a switch would not make it.
  Bytes frame = group_frame(kOld);
  put48(&frame[0], kMacA);
  EXPECT_EQ(taken(*port, frame), 0U);
  EXPECT_EQ(port->drops(FrameDrop::kOtherAddress), 2U);
  EXPECT_EQ(port->counters().rx_packets.get(), 0U);
}

TEST_F(PortGroupsTest, SendsToTheGroupOfTheNewestEpoch) {
  auto port = open_a();
  EXPECT_EQ(next_destination(*port), std::pair(kMacB, kEdgeB.ipv4));
  ASSERT_TRUE(port->set_groups(kEdgeB.ipv4, {kNew, {}}).ok());
  // RFC 1112: the low 23 bits, so 138 becomes 10.
  EXPECT_EQ(next_destination(*port), std::pair(Mac{0x01005e0a0102}, kNew));
  ASSERT_TRUE(port->set_groups(kEdgeB.ipv4, {}).ok());
  EXPECT_EQ(next_destination(*port), std::pair(kMacB, kEdgeB.ipv4));
}

/// The steps of a change, as the control thread tells them, with frames of both epochs at each of them.
TEST_F(PortGroupsTest, LosesNothingWhileTheGroupChanges) {
  auto port = open_a();
  struct Step {
    LinkGroups groups;
    std::size_t old_taken, new_taken;
    std::uint32_t sent_to;
  };
  const std::vector<Step> steps{
      {{kOld, {kOld, 0}}, 1, 0, kOld},     // The old epoch runs,
      {{kOld, {kOld, kNew}}, 1, 1, kOld},  // the new one is staged,
      {{kNew, {kNew, kOld}}, 1, 1, kNew},  // committed,
      {{kNew, {kNew, kNew}}, 0, 1, kNew},  // and has the link to itself.
  };
  for (const Step& step : steps) {
    ASSERT_TRUE(port->set_groups(kEdgeB.ipv4, step.groups).ok());
    EXPECT_EQ(taken(*port, group_frame(kOld)), step.old_taken);
    EXPECT_EQ(taken(*port, group_frame(kNew)), step.new_taken);
    EXPECT_EQ(taken(*port, data_frame(1, kHeaderBytes)), 1U);
    EXPECT_EQ(next_destination(*port).second, step.sent_to);
  }
  EXPECT_EQ(port->drops(FrameDrop::kOtherAddress), 2U);
}

TEST_F(PortGroupsTest, ProbesGoToTheNeighbourItself) {
  auto port = open_a();
  ASSERT_TRUE(port->set_groups(kEdgeB.ipv4, {kNew, {}}).ok());
  ASSERT_TRUE(port->start_probe({ProbeRequest::Kind::kRoundTrip, kEdgeB.ipv4, 1, 98, kSecond}).ok());
  EXPECT_TRUE(receive(*port, 1).empty());
  const std::vector<Bytes> frames = sent_by_a();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(get48(frames[0].data()), kMacB);
  EXPECT_EQ(get32(&frames[0][30]), kEdgeB.ipv4);
}

TEST_F(PortGroupsTest, OnlyNeighboursHaveGroups) {
  auto port = open_a();
  const Status set = port->set_groups(0x0a000009, {kNew, {}});
  ASSERT_FALSE(set.ok());
  EXPECT_NE(set.error().message.find("10.0.0.9 is not a neighbour"), std::string::npos)
      << set.error().message;
}

}  // namespace
}  // namespace tombolo::dataplane
