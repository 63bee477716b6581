// What a port sends: the frames to the byte, who shares memory with whom, and what becomes of what cannot
// leave.
#include <rte_mbuf.h>

#include <cstring>
#include <utility>

#include "dataplane/port/dpdk/big_endian.h"
#include "tests/unit/dataplane/port/dpdk/port_harness.h"

namespace tombolo::dataplane {
namespace {

class PortTransmitTest : public PortTest {};

TEST_F(PortTransmitTest, AFrameIsRightToTheByte) {
  auto port = open(config_a());
  std::vector<TxPacket> burst;
  burst.push_back(packet_to_b(0, 5, 2));
  ASSERT_EQ(port->transmit(0, burst, 0), 1U);
  burst.clear();
  const std::vector<Bytes> frames = sent_by_a();
  ASSERT_EQ(frames.size(), 1U);
  // By hand from RFC 894, 791 and 768. 97 bytes of IPv4: 20 + 8 + 64 + 5. The header's words sum to
  // 4500+0061+0000+4000+4011+0a00+0001+0a00+0002 = d975, whose complement is 268a. Ports 4702 and 4802.
  const std::vector<unsigned> expected{
      0x02, 0, 0,  0,  0, 0x0b, 0x02, 0,    0,    0,    0,    0x0a, 0x08, 0x00,  // Ethernet
      0x45, 0, 0,  97, 0, 0,    0x40, 0,    64,   17,   0x26, 0x8a, 10,   0,
      0,    1, 10, 0,  0, 2,    0x12, 0x5e, 0x12, 0xc2, 0,    77,   0,    0};
  ASSERT_EQ(frames[0].size(), 42U + 64 + 5);
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(std::to_integer<unsigned>(frames[0][i]), expected[i]) << "byte " << i;
  for (std::size_t i = 4; i < 64; ++i) EXPECT_EQ(frames[0][42 + i], pattern(i));
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(frames[0][106 + i], pattern(i));
  EXPECT_EQ(port->counters().tx_packets.get(), 1U);
  EXPECT_EQ(port->counters().tx_bytes.get(), 111U);
}

TEST_F(PortTransmitTest, EveryByteOfEverySizeArrivesAligned) {
  auto a = open(config_a());
  auto b = open(config_b());
  std::vector<std::uint32_t> sizes{0,  1,    2,    3,    31,   63,   64,
                                   65, 1279, 1280, 1408, 4095, 8191, kMaxPayloadBytes};
  std::uint32_t number = 0;
  for (const std::uint32_t size : sizes) {
    ++number;
    std::vector<TxPacket> burst;
    burst.push_back(packet_to_b(number, size, number % kLanes));
    ASSERT_EQ(a->transmit(0, burst, 0), 1U);
    burst.clear();
    const std::vector<RxPacket> packets = receive(*b, 0);
    ASSERT_EQ(packets.size(), 1U) << size;
    EXPECT_EQ(packets[0].from, kEdgeA);
    EXPECT_EQ(packets[0].lane, number % kLanes);
    ASSERT_EQ(packets[0].bytes, kHeaderBytes + size);
    const std::byte* const data = packets[0].buffer.data();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data + kHeaderBytes) % 64, 0U);
    std::uint32_t seen = 0;
    std::memcpy(&seen, data, sizeof seen);
    EXPECT_EQ(seen, number);
    for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(data[kHeaderBytes + i], pattern(i + number)) << i;
  }
  // A ring hands over the pieces of a frame as they are: the receiver puts them together.
  EXPECT_EQ(b->counters().rx_copies.get(), sizes.size());
  EXPECT_EQ(a->counters().tx_copies.get(), 0U);
}

TEST_F(PortTransmitTest, EightCopiesShareOnePayloadWithoutCopyingIt) {
  auto port = open(config_a());
  std::vector<TxPacket> burst;
  burst.push_back(packet_to_b(0, 8192));
  const std::byte* const payload = burst[0].payload;
  for (std::uint32_t copy = 1; copy < 8; ++copy) {
    TxPacket packet = packet_to_b(copy, 0);
    packet.payload = payload;
    packet.payload_bytes = 8192;
    packet.keep = burst[0].keep.share();
    burst.push_back(std::move(packet));
  }
  EXPECT_EQ(pool_->in_use(), 1U);
  ASSERT_EQ(port->transmit(0, burst, 0), 8U);
  burst.clear();
  // The pipeline has dropped its references; the frames on their way keep the one buffer.
  EXPECT_EQ(pool_->in_use(), 1U);
  EXPECT_EQ(pool_->headers_in_use(), 8U);
  for (std::uint32_t copy = 0; copy < 8; ++copy) {
    rte_mbuf* const frame = cable_.from_a();
    ASSERT_NE(frame, nullptr);
    ASSERT_EQ(frame->nb_segs, 2U);
    EXPECT_EQ(rte_pktmbuf_mtod(frame->next, const std::byte*), payload);
    EXPECT_EQ(rte_mbuf_refcnt_read(frame->next), 8 - copy);
    std::uint32_t number = 0;
    std::memcpy(&number, rte_pktmbuf_mtod_offset(frame, const void*, kFramingBytes), sizeof number);
    EXPECT_EQ(number, copy);
    const Bytes bytes = take_bytes(frame);
    EXPECT_EQ(bytes.back(), pattern(8191));
    EXPECT_EQ(pool_->in_use(), copy < 7 ? 1U : 0U);
  }
  EXPECT_EQ(port->counters().tx_copies.get(), 0U);
}

TEST_F(PortTransmitTest, APayloadThatCannotBeSharedIsCopied) {
  auto port = open(config_a());
  std::vector<TxPacket> burst;
  // In memory of the caller.
  const Bytes own(100, std::byte{0x55});
  burst.push_back(packet_to_b(1, 0));
  burst[0].payload = own.data();
  burst[0].payload_bytes = 100;
  // Two ranges of one buffer at a time: the second cannot be described by the same mbuf.
  burst.push_back(packet_to_b(2, 1000));
  burst.push_back(packet_to_b(3, 0));
  burst[2].keep = burst[1].keep.share();
  burst[2].payload = burst[1].payload + 10;
  burst[2].payload_bytes = 100;
  ASSERT_EQ(port->transmit(0, burst, 0), 3U);
  burst.clear();
  const std::vector<Bytes> frames = sent_by_a();
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(port->counters().tx_copies.get(), 2U);
  EXPECT_EQ(Bytes(frames[0].begin() + 106, frames[0].end()), own);
  ASSERT_EQ(frames[1].size(), 1106U);
  ASSERT_EQ(frames[2].size(), 206U);
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(frames[1][106 + i], pattern(i + 2));
  for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(frames[2][106 + i], pattern(i + 12));
}

TEST_F(PortTransmitTest, ABufferIsDescribedAnewOnceNothingOfItIsOnItsWay) {
  auto port = open(config_a());
  TxPacket whole = packet_to_b(1, 1000);
  TxPacket part = packet_to_b(2, 0);
  part.keep = whole.keep.share();
  part.payload = whole.payload + 500;
  part.payload_bytes = 500;
  ASSERT_EQ(port->transmit(0, {&whole, 1}, 0), 1U);
  sent_by_a();
  ASSERT_EQ(port->transmit(0, {&part, 1}, 0), 1U);
  const std::vector<Bytes> frames = sent_by_a();
  EXPECT_EQ(port->counters().tx_copies.get(), 0U);
  for (std::size_t i = 0; i < 500; ++i) ASSERT_EQ(frames.at(0)[106 + i], pattern(i + 501));
}

TEST_F(PortTransmitTest, WhatArrivedIsSentOnWithoutACopy) {
  auto port = open(config_a());
  send_to_a(data_frame(1, kHeaderBytes + 1280));
  std::vector<RxPacket> packets = receive(*port, 0);
  ASSERT_EQ(packets.size(), 1U);
  TxPacket onward = packet_to_b(9, 0);
  onward.payload = packets[0].buffer.data() + kHeaderBytes;
  onward.payload_bytes = 1280;
  onward.keep = packets[0].buffer.share();
  const std::byte* const payload = onward.payload;
  ASSERT_EQ(port->transmit(0, {&onward, 1}, 0), 1U);
  rte_mbuf* const frame = cable_.from_a();
  ASSERT_NE(frame, nullptr);
  EXPECT_EQ(rte_pktmbuf_mtod(frame->next, const std::byte*), payload);
  const Bytes bytes = take_bytes(frame);
  for (std::size_t i = 0; i < 1280; ++i) ASSERT_EQ(bytes[106 + i], pattern(64 + i));
}

TEST_F(PortTransmitTest, UnknownUnresolvedAndTooLargePacketsAreGoneAndCounted) {
  DpdkPortConfig config = config_a();
  config.mtu = 1500;
  config.neighbours.push_back({kStranger, {}});
  auto port = open(config);
  std::vector<TxPacket> burst;
  for (std::uint32_t i = 0; i < 5; ++i) burst.push_back(packet_to_b(i, 100));
  burst[0].to = {0x0a0000aa, 1};
  burst[1].to = kStranger;
  // 20 + 8 + 64 + 1408 = 1500 is the last that fits.
  burst[2] = packet_to_b(2, 1409);
  burst[3] = packet_to_b(3, 1408);
  EXPECT_EQ(port->transmit(0, burst, 0), 5U);
  burst.clear();
  EXPECT_EQ(sent_by_a().size(), 2U);
  const FrameDropCounters& drops = port->counters().drops;
  EXPECT_EQ(drops.get(FrameDrop::kUnknownNeighbour), 1U);
  EXPECT_EQ(drops.get(FrameDrop::kUnresolved), 1U);
  EXPECT_EQ(drops.get(FrameDrop::kTxTooLarge), 1U);
  EXPECT_EQ(port->counters().tx_packets.get(), 2U);
  EXPECT_EQ(port->counters().tx_bytes.get(), 106U + 100 + 106 + 1408);
}

TEST_F(PortTransmitTest, EachPacketOfABurstGoesItsOwnWay) {
  DpdkPortConfig config = config_a();
  constexpr Mac kOtherMac = 0x02000000000c;
  config.neighbours.push_back({kStranger, kOtherMac});
  auto port = open(config);
  std::vector<TxPacket> burst;
  const std::vector<bool> to_other{false, true, true, false, true, false, false};
  for (std::uint32_t i = 0; i < to_other.size(); ++i) {
    burst.push_back(packet_to_b(i, 0));
    if (to_other[i]) burst[i].to = kStranger;
  }
  ASSERT_EQ(port->transmit(0, burst, 0), to_other.size());
  const std::vector<Bytes> frames = sent_by_a();
  ASSERT_EQ(frames.size(), to_other.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(get48(frames[i].data()), to_other[i] ? kOtherMac : kMacB) << i;
    EXPECT_EQ(get32(&frames[i][30]), to_other[i] ? kStranger.ipv4 : kEdgeB.ipv4) << i;
  }
}

TEST_F(PortTransmitTest, AFullDeviceLeavesTheRestWithTheCaller) {
  auto port = open(config_a());
  TxPacket shared = packet_to_b(0, 100);
  std::uint64_t sent = 0;
  for (int burst_number = 0; burst_number < 40; ++burst_number) {
    std::vector<TxPacket> burst;
    for (std::uint32_t i = 0; i < 32; ++i) {
      burst.push_back(packet_to_b(i, 0));
      burst.back().payload = shared.payload;
      burst.back().payload_bytes = 100;
      burst.back().keep = shared.keep.share();
    }
    const std::size_t gone = port->transmit(0, burst, 0);
    // The header pool (1024) is larger than the ring (1023).
    EXPECT_EQ(gone, std::min<std::uint64_t>(32, Cable::kRingFrames - sent));
    sent += gone;
  }
  EXPECT_EQ(sent, Cable::kRingFrames);
  EXPECT_EQ(port->counters().tx_packets.get(), Cable::kRingFrames);
  const FrameDropCounters& drops = port->counters().drops;
  EXPECT_EQ(drops.get(FrameDrop::kTxFull), 40U * 32 - Cable::kRingFrames);
  shared.keep.reset();
  EXPECT_EQ(pool_->in_use(), 1U);
  EXPECT_EQ(sent_by_a().size(), Cable::kRingFrames);
}

TEST_F(PortTransmitTest, WithoutHeaderBuffersTheRestStaysAndWhatWasBuiltLeaves) {
  auto port = open(config_a());
  std::vector<rte_mbuf*> taken;
  while (rte_mbuf* const header = pool_->allocate_header()) taken.push_back(header);
  ASSERT_EQ(taken.size(), 1024U);
  for (int i = 0; i < 3; ++i) {
    rte_pktmbuf_free(taken.back());
    taken.pop_back();
  }
  std::vector<TxPacket> burst;
  for (std::uint32_t i = 0; i < 10; ++i) burst.push_back(packet_to_b(i, 10));
  EXPECT_EQ(port->transmit(0, burst, 0), 3U);
  burst.clear();
  EXPECT_EQ(port->counters().drops.get(FrameDrop::kNoHeaderBuffer), 7U);
  EXPECT_EQ(sent_by_a().size(), 3U);
  for (rte_mbuf* const header : taken) rte_pktmbuf_free(header);
}

TEST_F(PortTransmitTest, HeadersThatTheDeviceGivesBackAtOnceAreSeenAllTheSame) {
  DpdkPortConfig config = config_a();
  config.device = "net_null_headers";
  auto port = open(config);
  ASSERT_NE(port, nullptr);
  std::vector<TxPacket> burst;
  for (std::uint32_t i = 0; i < 7; ++i) burst.push_back(packet_to_b(i, 0));
  ASSERT_EQ(port->transmit(0, burst, 0), 7U);
  EXPECT_EQ(pool_->headers_in_use(), 0U);
  EXPECT_EQ(pool_->headers_high_water(), 7U);
}

TEST_F(PortTransmitTest, ADroppedPacketBehindTheFirstUnsentIsNotCountedTwice) {
  auto port = open(config_a());
  std::vector<rte_mbuf*> taken;
  while (rte_mbuf* const header = pool_->allocate_header()) taken.push_back(header);
  std::vector<TxPacket> burst;
  for (std::uint32_t i = 0; i < 3; ++i) burst.push_back(packet_to_b(i, 10));
  burst[0].to = burst[2].to = kStranger;
  EXPECT_EQ(port->transmit(0, burst, 0), 1U);
  burst.clear();
  EXPECT_EQ(port->counters().drops.get(FrameDrop::kUnknownNeighbour), 1U);
  EXPECT_EQ(port->counters().drops.get(FrameDrop::kNoHeaderBuffer), 2U);
  for (rte_mbuf* const header : taken) rte_pktmbuf_free(header);
}

TEST_F(PortTransmitTest, NetNullTakesEverythingInOnePiece) {
  DpdkPortConfig config = config_a();
  config.device = "net_null7";
  auto port = open(config);
  ASSERT_NE(port, nullptr);
  std::vector<TxPacket> burst;
  for (std::uint32_t i = 0; i < 20; ++i) burst.push_back(packet_to_b(i, 1000));
  EXPECT_EQ(port->transmit(0, burst, 0), 20U);
  burst.clear();
  // It takes no chains, so payloads were copied; and it frees what it gets.
  EXPECT_EQ(port->counters().tx_copies.get(), 20U);
  EXPECT_EQ(pool_->in_use(), 0U);
  // What it delivers has no EtherType of ours.
  EXPECT_TRUE(receive(*port, 0).empty());
  EXPECT_EQ(port->counters().drops.get(FrameDrop::kNotIpv4), 32U);
  EXPECT_EQ(port->next_due_ns(0), 0U);
}

}  // namespace
}  // namespace tombolo::dataplane
