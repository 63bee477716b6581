// The parser alone; dpdk_port_receive_test.cc has a crafted frame for every reason.
#include "dataplane/port/dpdk/frame.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "dataplane/port/dpdk/big_endian.h"

namespace tombolo::dataplane {
namespace {

std::vector<std::byte> bytes(std::initializer_list<unsigned> values) {
  std::vector<std::byte> result;
  for (const unsigned value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

TEST(InternetChecksum, MatchesPublishedValues) {
  // RFC 1071, section 3: the sum of these is ddf2.
  EXPECT_EQ(internet_checksum(bytes({0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7})), 0xffff - 0xddf2);
  // A well-known IPv4 header, whose checksum is b861.
  EXPECT_EQ(internet_checksum(bytes({0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11,
                                     0x00, 0x00, 0xc0, 0xa8, 0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7})),
            0xb861);
  EXPECT_EQ(internet_checksum({}), 0xffff);
  // An odd last byte is the high half of a word.
  EXPECT_EQ(internet_checksum(bytes({0x12})), 0xffff - 0x1200);
}

TEST(InternetChecksum, BytesWithTheirChecksumSumToZero) {
  constexpr std::uint64_t kSeed = 11;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::byte> message(2 + 2 * random.below(700));
    for (std::byte& byte : message) byte = static_cast<std::byte>(random.bits());
    put16(message.data(), 0);
    put16(message.data(), internet_checksum(message));
    ASSERT_EQ(internet_checksum(message), 0U);
    // And with any bit flipped they do not.
    message[random.below(message.size())] ^= std::byte{1} << random.below(8);
    ASSERT_NE(internet_checksum(message), 0U);
  }
}

TEST(BigEndian, WritesTheHighByteFirst) {
  std::vector<std::byte> out(6);
  put48(out.data(), 0x0102030405f6);
  EXPECT_EQ(out, bytes({1, 2, 3, 4, 5, 0xf6}));
  EXPECT_EQ(get48(out.data()), 0x0102030405f6U);
  EXPECT_EQ(get32(&out[1]), 0x02030405U);
  EXPECT_EQ(get16(&out[4]), 0x05f6U);
}

TEST(GroupMac, IsThatOfRfc1112) {
  EXPECT_EQ(group_mac(0xe0000001), 0x01005e000001U);
  EXPECT_EQ(group_mac(0xefffffff), 0x01005e7fffffU);
  EXPECT_EQ(group_mac(0xe0800001), 0x01005e000001U);
}

TEST(ParseFrame, ReadsBackWhatWriteFramingWrote) {
  constexpr std::uint64_t kSeed = 12;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int i = 0; i < 2000; ++i) {
    const FrameFilter filter{0x020000000001, {0x0a000001, 4700}, 8, nullptr};
    const auto lane = static_cast<std::uint16_t>(random.below(8));
    const auto packet_bytes = static_cast<std::uint32_t>(random.below(kMaxPacketBytes + 1));
    Framing framing;
    framing.to_mac = filter.mac;
    framing.from_mac = 0x020000000002;
    framing.from_ipv4 = 0x0a000100 + static_cast<std::uint32_t>(random.below(200));
    framing.to_ipv4 = filter.address.ipv4;
    framing.from_port = static_cast<std::uint16_t>(5000 + lane);
    framing.to_port = static_cast<std::uint16_t>(4700 + lane);
    std::vector<std::byte> frame(kFramingBytes + packet_bytes + random.below(20));
    write_framing(frame.data(), framing, packet_bytes);
    const ParsedFrame parsed = parse_frame(frame, filter);
    ASSERT_EQ(parsed.kind, ParsedFrame::Kind::kData);
    EXPECT_EQ(parsed.from, (Address{framing.from_ipv4, 5000}));
    EXPECT_EQ(parsed.lane, lane);
    EXPECT_EQ(parsed.payload_bytes, packet_bytes);
  }
}

}  // namespace
}  // namespace tombolo::dataplane
