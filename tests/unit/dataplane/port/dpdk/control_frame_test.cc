#include "dataplane/port/dpdk/control_frame.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "dataplane/port/dpdk/big_endian.h"

namespace tombolo::dataplane {
namespace {

constexpr Mac kOurs = 0x020000000001;
constexpr Mac kTheirs = 0x020000000002;

TEST(Arp, WhatIsWrittenIsRead) {
  std::vector<std::byte> frame(kArpFrameBytes, std::byte{0xff});
  const ArpMessage message{ArpMessage::kReply, kOurs, 0x0a000001, kTheirs, 0x0a000002};
  write_arp(frame.data(), message);
  const auto read = parse_arp(frame);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->operation, message.operation);
  EXPECT_EQ(read->sender_mac, message.sender_mac);
  EXPECT_EQ(read->sender_ipv4, message.sender_ipv4);
  EXPECT_EQ(read->target_mac, message.target_mac);
  EXPECT_EQ(read->target_ipv4, message.target_ipv4);
  EXPECT_EQ(get48(frame.data()), kTheirs);
  for (std::size_t i = 42; i < frame.size(); ++i) EXPECT_EQ(frame[i], std::byte{0});
  // 42 bytes are enough, 41 are not.
  EXPECT_TRUE(parse_arp(std::span(frame).first(42)).has_value());
  EXPECT_FALSE(parse_arp(std::span(frame).first(41)).has_value());
}

TEST(Echo, AnAnswerIsRightWhateverTheRequestCarries) {
  constexpr std::uint64_t kSeed = 13;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (int i = 0; i < 3000; ++i) {
    std::vector<std::byte> frame(kMinEchoFrameBytes + random.below(200));
    write_echo_request(frame,
                       {kOurs, kTheirs, 0x0a000002, 0x0a000001, static_cast<std::uint16_t>(random.bits()),
                        static_cast<std::uint16_t>(random.bits())});
    if (random.chance(0.8))
      for (std::size_t at = 42; at < frame.size(); ++at) frame[at] = static_cast<std::byte>(random.bits());
    put16(&frame[36], 0);
    put16(&frame[36], internet_checksum(std::span(frame).subspan(34)));
    const EchoFields asked = read_echo(frame);
    EXPECT_TRUE(asked.is_request);
    turn_into_echo_reply(frame, kOurs);
    // The incremental checksum against the whole sum.
    ASSERT_EQ(internet_checksum(std::span(frame).subspan(34)), 0U);
    ASSERT_EQ(internet_checksum(std::span(frame).subspan(14, 20)), 0U);
    const EchoFields answered = read_echo(frame);
    EXPECT_FALSE(answered.is_request);
    EXPECT_EQ(answered.identifier, asked.identifier);
    EXPECT_EQ(answered.sequence, asked.sequence);
    EXPECT_EQ(answered.from_ipv4, 0x0a000001U);
    EXPECT_EQ(get48(&frame[0]), kTheirs);
    EXPECT_EQ(get48(&frame[6]), kOurs);
  }
}

}  // namespace
}  // namespace tombolo::dataplane
