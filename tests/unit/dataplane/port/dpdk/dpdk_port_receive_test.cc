// What a port takes in: every byte of what is ours, a reason for all else, and nothing lost of the pool.
#include <rte_mbuf.h>

#include <cstring>
#include <functional>

#include "base/random.h"
#include "dataplane/port/dpdk/big_endian.h"
#include "tests/unit/dataplane/port/dpdk/port_harness.h"

namespace tombolo::dataplane {
namespace {

class PortReceiveTest : public PortTest {
 protected:
  static std::uint64_t all_drops(const DpdkPort& port) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kFrameDrops; ++i) sum += port.drops(static_cast<FrameDrop>(i));
    return sum;
  }
};

TEST_F(PortReceiveTest, HandsOnTheBufferThatTheDeviceWroteTo) {
  auto port = open(config_a());
  rte_mbuf* const frame = make_frame(data_frame(3, kHeaderBytes + 1280));
  const std::byte* const packet = rte_pktmbuf_mtod(frame, const std::byte*) + kFramingBytes;
  ASSERT_TRUE(cable_.to_a(frame));
  std::vector<RxPacket> packets = receive(*port, 0);
  ASSERT_EQ(packets.size(), 1U);
  EXPECT_EQ(packets[0].buffer.data(), packet);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(packet + kHeaderBytes) % 64, 0U);
  EXPECT_EQ(packets[0].from, kEdgeB);
  EXPECT_EQ(packets[0].lane, 3U);
  EXPECT_EQ(packets[0].bytes, kHeaderBytes + 1280);
  EXPECT_GE(packets[0].buffer.capacity(), kMaxPacketBytes);
  EXPECT_EQ(port->counters().rx_copies.get(), 0U);
  EXPECT_EQ(port->counters().rx_bytes.get(), 42U + 64 + 1280);
  EXPECT_EQ(pool_->in_use(), 1U);
  packets.clear();
  EXPECT_EQ(pool_->in_use(), 0U);
}

TEST_F(PortReceiveTest, PaddingBehindThePacketIsNotPartOfIt) {
  auto port = open(config_a());
  Bytes frame = data_frame(0, 4);
  frame.resize(60, std::byte{0xee});
  send_to_a(frame);
  const std::vector<RxPacket> packets = receive(*port, 0);
  ASSERT_EQ(packets.size(), 1U);
  EXPECT_EQ(packets[0].bytes, 4U);
}

TEST_F(PortReceiveTest, PutsPiecesTogetherWhereverTheyAreCut) {
  auto port = open(config_a());
  const Bytes frame = data_frame(1, kHeaderBytes + 2000);
  for (const std::vector<std::size_t>& cut : std::vector<std::vector<std::size_t>>{
           {0, 0}, {1, 1, 0}, {13, 0}, {42, 0}, {106, 0}, {50, 1000, 7, 0}}) {
    ASSERT_TRUE(cable_.to_a(make_frame(frame, cut)));
    const std::vector<RxPacket> packets = receive(*port, 0);
    ASSERT_EQ(packets.size(), 1U);
    ASSERT_EQ(packets[0].bytes, kHeaderBytes + 2000);
    for (std::size_t i = 0; i < packets[0].bytes; ++i) ASSERT_EQ(packets[0].buffer.data()[i], pattern(i));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(packets[0].buffer.data()) % 64, 0U);
  }
  EXPECT_EQ(port->counters().rx_copies.get(), 6U);
}

TEST_F(PortReceiveTest, AFrameAtAnotherPlaceInItsBufferIsMovedIntoAlignment) {
  auto port = open(config_a());
  rte_mbuf* const frame = make_frame(data_frame(0, kHeaderBytes));
  auto* const bytes = rte_pktmbuf_mtod(frame, std::byte*);
  std::memmove(bytes + 2, bytes, frame->data_len);
  frame->data_off = static_cast<std::uint16_t>(frame->data_off + 2);
  ASSERT_TRUE(cable_.to_a(frame));
  const std::vector<RxPacket> packets = receive(*port, 0);
  ASSERT_EQ(packets.size(), 1U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(packets[0].buffer.data()) % 64, 0U);
  EXPECT_EQ(packets[0].buffer.data()[63], pattern(63));
}

TEST_F(PortReceiveTest, APieceTooManyIsTooLarge) {
  auto port = open(config_a());
  const Bytes frame(kJumboFrameBytes + 1, std::byte{1});
  const std::vector<std::size_t> cut{5000, 0};
  ASSERT_TRUE(cable_.to_a(make_frame(frame, cut)));
  EXPECT_TRUE(receive(*port, 0).empty());
  EXPECT_EQ(port->drops(FrameDrop::kRxTooLarge), 1U);
}

TEST_F(PortReceiveTest, TakesAtMostWhatIsAskedForAndSaysThatThereIsMore) {
  auto port = open(config_a());
  for (int i = 0; i < 40; ++i) send_to_a(data_frame(0, kHeaderBytes));
  std::vector<RxPacket> few(5);
  EXPECT_EQ(port->receive(0, few, 7), 5U);
  EXPECT_EQ(port->next_due_ns(0), 0U);
  EXPECT_EQ(receive(*port, 7).size(), 32U);
  EXPECT_EQ(port->next_due_ns(0), 0U);
  EXPECT_EQ(receive(*port, 7).size(), 3U);
  // The neighbour's Ethernet address is fixed, so nothing is due.
  EXPECT_EQ(port->next_due_ns(0), kNever);
}

struct Crafted {
  const char* name;
  FrameDrop reason;
  std::function<void(Bytes&)> change;
};

/// Makes the IPv4 header's checksum right again after a change.
void seal(Bytes& frame) {
  put16(&frame[24], 0);
  put16(&frame[24], internet_checksum(std::span(frame).subspan(14, 20)));
}

std::vector<Crafted> crafted_frames() {
  const auto set = [](std::size_t at, unsigned value) {
    return [at, value](Bytes& frame) {
      frame[at] = static_cast<std::byte>(value);
      seal(frame);
    };
  };
  const auto type = [](unsigned value) { return [value](Bytes& frame) { put16(&frame[12], value); }; };
  return {
      {"empty", FrameDrop::kTruncated, [](Bytes& frame) { frame.clear(); }},
      {"ends in Ethernet", FrameDrop::kTruncated, [](Bytes& frame) { frame.resize(13); }},
      {"ends in IPv4", FrameDrop::kTruncated, [](Bytes& frame) { frame.resize(14 + 19); }},
      {"shorter than its total length", FrameDrop::kTruncated, [](Bytes& frame) { frame.pop_back(); }},
      {"802.1Q", FrameDrop::kVlan, type(0x8100)},
      {"802.1ad", FrameDrop::kVlan, type(0x88a8)},
      {"IPv6", FrameDrop::kIpv6, type(0x86dd)},
      {"LLDP", FrameDrop::kNotIpv4, type(0x88cc)},
      {"an 802.3 length", FrameDrop::kNotIpv4, type(100)},
      {"version 6 in IPv4's type", FrameDrop::kBadIpHeader, set(14, 0x65)},
      {"header of 16 bytes", FrameDrop::kBadIpHeader, set(14, 0x44)},
      {"wrong checksum", FrameDrop::kBadIpHeader, [](Bytes& frame) { frame[22] ^= std::byte{1}; }},
      {"total length below the header's", FrameDrop::kBadIpHeader,
       [](Bytes& frame) {
         put16(&frame[16], 19);
         seal(frame);
       }},
      {"options", FrameDrop::kIpOptions, set(14, 0x46)},
      {"first fragment", FrameDrop::kFragment, set(20, 0x20)},
      {"last fragment", FrameDrop::kFragment, set(21, 0x01)},
      {"another host", FrameDrop::kOtherAddress, set(33, 9)},
      {"a group that we do not listen to", FrameDrop::kOtherAddress,
       [](Bytes& frame) {
         put32(&frame[30], 0xef000001);
         put48(&frame[0], group_mac(0xef000001));
         seal(frame);
       }},
      {"another Ethernet address", FrameDrop::kOtherAddress, [](Bytes& frame) { frame[5] ^= std::byte{1}; }},
      {"broadcast on Ethernet", FrameDrop::kOtherAddress,
       [](Bytes& frame) { put48(&frame[0], kBroadcastMac); }},
      {"from our own address", FrameDrop::kBadSource, set(29, 1)},
      {"from a group", FrameDrop::kBadSource, set(26, 224)},
      {"from nobody", FrameDrop::kBadSource,
       [](Bytes& frame) {
         put32(&frame[26], 0);
         seal(frame);
       }},
      {"from a port below the lane", FrameDrop::kBadSource, [](Bytes& frame) { put16(&frame[34], 2); }},
      {"TCP", FrameDrop::kNotUdp, set(23, 6)},
      {"ICMP without an echo", FrameDrop::kIcmpOther, set(23, 1)},
      {"UDP length too short", FrameDrop::kBadUdp, [](Bytes& frame) { put16(&frame[38], 71); }},
      {"UDP length too long", FrameDrop::kBadUdp, [](Bytes& frame) { put16(&frame[38], 73); }},
      {"no room for UDP", FrameDrop::kBadUdp,
       [](Bytes& frame) {
         put16(&frame[16], 27);
         seal(frame);
       }},
      {"port below the base", FrameDrop::kOtherPort, [](Bytes& frame) { put16(&frame[36], 4699); }},
      {"port above the lanes", FrameDrop::kOtherPort, [](Bytes& frame) { put16(&frame[36], 4704); }},
  };
}

TEST_F(PortReceiveTest, EveryForeignFrameIsCountedByItsReason) {
  auto port = open(config_a());
  for (const Crafted& crafted : crafted_frames()) {
    SCOPED_TRACE(crafted.name);
    Bytes frame = data_frame(3, kHeaderBytes);
    crafted.change(frame);
    const std::uint64_t before = port->drops(crafted.reason);
    const std::uint64_t all_before = all_drops(*port);
    send_to_a(frame);
    EXPECT_TRUE(receive(*port, 0).empty());
    EXPECT_EQ(port->drops(crafted.reason), before + 1);
    EXPECT_EQ(all_drops(*port), all_before + 1);
  }
  EXPECT_TRUE(sent_by_a().empty());
  EXPECT_EQ(pool_->in_use(), 0U);
}

TEST_F(PortReceiveTest, ATagThatTheDeviceTookOffIsATagAllTheSame) {
  auto port = open(config_a());
  rte_mbuf* const frame = make_frame(data_frame(0, kHeaderBytes));
  frame->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
  ASSERT_TRUE(cable_.to_a(frame));
  EXPECT_TRUE(receive(*port, 0).empty());
  EXPECT_EQ(port->drops(FrameDrop::kVlan), 1U);
}

TEST_F(PortReceiveTest, AnEmptyPoolIsCounted) {
  auto port = open(config_a());
  const std::vector<std::size_t> cut{50, 0};
  ASSERT_TRUE(cable_.to_a(make_frame(data_frame(0, kHeaderBytes), cut)));
  std::vector<BufferRef> held;
  while (Buffer* const buffer = pool_->allocate()) held.push_back(BufferRef::adopt(buffer));
  EXPECT_EQ(held.size(), kBuffers - 2);
  EXPECT_EQ(pool_->empties(), 1U);
  EXPECT_EQ(pool_->high_water(), kBuffers);
  EXPECT_TRUE(receive(*port, 0).empty());
  EXPECT_EQ(port->drops(FrameDrop::kNoBuffer), 1U);
  EXPECT_EQ(pool_->empties(), 2U);
}

/// A frame that is mostly right: a valid one with some bytes, its length or its pieces changed.
Bytes malformed(Random& random, const std::vector<Bytes>& seeds) {
  Bytes frame = seeds[random.below(seeds.size())];
  for (std::uint64_t changes = random.below(4); changes > 0 && !frame.empty(); --changes)
    frame[random.below(std::min<std::size_t>(frame.size(), random.chance(0.9) ? 60 : 200))] =
        static_cast<std::byte>(random.bits());
  if (random.chance(0.3)) frame.resize(random.below(frame.size() + 40));
  if (random.chance(0.3) && frame.size() >= 34) seal(frame);
  return frame;
}

TEST_F(PortReceiveTest, AHundredThousandMalformedFramesAreAllAccountedFor) {
  constexpr std::uint64_t kSeed = 20260817;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  DpdkPortConfig config = config_a();
  config.multicast = true;
  auto port = open(config);
  ASSERT_TRUE(port->set_groups(kEdgeB.ipv4, {0, {0xef000001, 0}}).ok());
  Bytes arp(kArpFrameBytes);
  write_arp(arp.data(), {ArpMessage::kRequest, kMacB, kEdgeB.ipv4, 0, kEdgeA.ipv4});
  Bytes echo(98);
  write_echo_request(echo, {kMacA, kMacB, kEdgeB.ipv4, kEdgeA.ipv4, 1, 1});
  const std::vector<Bytes> seeds{data_frame(0, kHeaderBytes), data_frame(3, 600), arp, echo};

  std::uint64_t received = 0;
  Nanoseconds now_ns = 0;
  for (int i = 0; i < 100'000; ++i) {
    const Bytes frame = malformed(random, seeds);
    const std::vector<std::size_t> cut{random.below(frame.size() + 1), 0};
    ASSERT_TRUE(cable_.to_a(random.chance(0.1) ? make_frame(frame, cut) : make_frame(frame)));
    if (i % 16 != 15) continue;
    received += receive(*port, now_ns += 1000).size();
    for (const Bytes& answer : sent_by_a()) ASSERT_GE(answer.size(), kMinEchoFrameBytes);
  }
  const DpdkPortCounters& counters = port->counters();
  EXPECT_EQ(counters.rx_frames.get(), 100'000U);
  EXPECT_EQ(counters.rx_packets.get(), received);
  EXPECT_EQ(received + counters.arp_received.get() + counters.echo_received.get() + all_drops(*port),
            100'000U);
  EXPECT_GT(received, 0U);
  EXPECT_GT(counters.echo_received.get(), 0U);
  for (const FrameDrop reason : {FrameDrop::kTruncated, FrameDrop::kBadIpHeader, FrameDrop::kOtherAddress,
                                 FrameDrop::kOtherPort, FrameDrop::kArpOther, FrameDrop::kControlLimit})
    EXPECT_GT(port->drops(reason), 0U) << name(reason);
  EXPECT_EQ(pool_->in_use(), 0U);
}

}  // namespace
}  // namespace tombolo::dataplane
