#include "protocol/wire/header.h"

#include <gtest/gtest.h>

#include <cstring>

#include "protocol/wire/packet.h"

namespace tombolo::wire {
namespace {

/// One header, written by hand from the table in PROTOCOL.md.
constexpr std::array<std::uint8_t, kHeaderBytes> kByHand{
    0x54, 0x42,                                      // 0 magic, "TB"
    0x01,                                            // 2 version
    0x03,                                            // 3 type: RESULT
    0x01, 0x00,                                      // 4 flags: repair
    0x11, 0x22,                                      // 6 key id
    0x33, 0x44,                                      // 8 job
    0x55, 0x66,                                      // 10 rank
    0x77, 0x88,                                      // 12 tree
    0x99, 0xaa,                                      // 14 lane
    0x01, 0x02, 0x03, 0x04,                          // 16 epoch
    0x05, 0x06, 0x07, 0x08,                          // 20 round
    0x09, 0x0a, 0x0b, 0x0c,                          // 24 session
    0x0d, 0x0e, 0x0f, 0x10,                          // 28 link sequence
    0x11, 0x12, 0x13, 0x14,                          // 32 timestamp
    0x15, 0x16, 0x17, 0x18,                          // 36 chunk
    0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,  // 40 specific
    0x01,                                            // 48 format: fp32
    0x02,                                            // 49 operation: mean
    0x00, 0x05,                                      // 50 payload bytes: 1280
    0xa1, 0xa2, 0xa3, 0xa4,                          // 52 reserved
    0xb1, 0xb2, 0xb3, 0xb4,                          // 56 payload CRC
    0xc1, 0xc2, 0xc3, 0xc4,                          // 60 header CRC
};

TEST(Header, EveryFieldAtItsOffset) {
  const Header header = read_header(std::as_bytes(std::span(kByHand)));
  EXPECT_EQ(header.magic, kMagic);
  EXPECT_EQ(header.version, kVersion);
  EXPECT_EQ(header.packet_type(), Type::kResult);
  EXPECT_EQ(header.flags, kFlagRepair);
  EXPECT_EQ(header.key_id, 0x2211);
  EXPECT_EQ(header.job, 0x4433);
  EXPECT_EQ(header.rank, 0x6655);
  EXPECT_EQ(header.tree, 0x8877);
  EXPECT_EQ(header.lane, 0xaa99);
  EXPECT_EQ(header.epoch, 0x04030201u);
  EXPECT_EQ(header.round, 0x08070605u);
  EXPECT_EQ(header.session, 0x0c0b0a09u);
  EXPECT_EQ(header.link_sequence, 0x100f0e0du);
  EXPECT_EQ(header.timestamp_us, 0x14131211u);
  EXPECT_EQ(header.chunk, 0x18171615u);
  EXPECT_EQ(header.specific, 0x2827262524232221u);
  EXPECT_EQ(static_cast<Format>(header.format), Format::kFp32);
  EXPECT_EQ(static_cast<Operation>(header.operation), Operation::kMean);
  EXPECT_EQ(header.payload_bytes, 1280);
  EXPECT_EQ(header.result_format, 0xa1);
  EXPECT_EQ(header.update_format, 0xa2);
  EXPECT_EQ(header.reserved, (std::array<std::uint8_t, 2>{0xa3, 0xa4}));
  EXPECT_EQ(header.payload_crc, 0xb4b3b2b1u);
  EXPECT_EQ(header.header_crc, 0xc4c3c2c1u);
}

TEST(Header, WritesTheSameBytes) {
  Header header;
  header.type = static_cast<std::uint8_t>(Type::kResult);
  header.flags = kFlagRepair;
  header.key_id = 0x2211;
  header.job = 0x4433;
  header.rank = 0x6655;
  header.tree = 0x8877;
  header.lane = 0xaa99;
  header.epoch = 0x04030201;
  header.round = 0x08070605;
  header.session = 0x0c0b0a09;
  header.link_sequence = 0x100f0e0d;
  header.timestamp_us = 0x14131211;
  header.chunk = 0x18171615;
  header.specific = 0x2827262524232221;
  header.format = static_cast<std::uint8_t>(Format::kFp32);
  header.operation = static_cast<std::uint8_t>(Operation::kMean);
  header.payload_bytes = 1280;
  header.result_format = 0xa1;
  header.update_format = 0xa2;
  header.reserved = {0xa3, 0xa4};
  header.payload_crc = 0xb4b3b2b1;
  header.header_crc = 0xc4c3c2c1;
  std::array<std::uint8_t, kHeaderBytes> bytes{};
  std::memcpy(bytes.data(), &header, sizeof(header));
  EXPECT_EQ(bytes, kByHand);
}

TEST(Header, SequencedTypes) {
  for (const Type type : {Type::kContribution, Type::kPartial, Type::kResult, Type::kGrant, Type::kRoundEnd})
    EXPECT_TRUE(is_sequenced(type)) << static_cast<int>(type);
  for (const Type type : {Type::kParity, Type::kFeedback, Type::kHello, Type::kJoin, Type::kConfig})
    EXPECT_FALSE(is_sequenced(type)) << static_cast<int>(type);
}

}  // namespace
}  // namespace tombolo::wire
