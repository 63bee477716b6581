#include "protocol/wire/hello.h"

#include <gtest/gtest.h>

#include "tests/unit/protocol/wire/sample_packets.h"

namespace tombolo::wire {
namespace {

TEST(Hello, BytesByHand) {
  const std::array<std::uint8_t, kHelloBytes> by_hand{
      0x4d, 0,    0, 0,  // peer session 77
      0xf4, 0x01, 0, 0,  // next sequence 500
      0x2c, 0x01, 0, 0,  // first sequence 300
      0x88, 0x13, 0, 0,  // echo timestamp 5000
      0x0c, 0,    0, 0,  // echo delay 12
  };
  const auto bytes = std::as_bytes(std::span(by_hand));
  EXPECT_EQ(body_bytes(sample_hello()), Bytes(bytes.begin(), bytes.end()));
  Hello hello;
  ASSERT_TRUE(parse(bytes, hello));
  EXPECT_EQ(hello.peer_session, 77u);
  EXPECT_EQ(hello.next_sequence, 500u);
  EXPECT_EQ(hello.first_sequence, 300u);
  EXPECT_EQ(hello.echo_timestamp_us, 5000u);
  EXPECT_EQ(hello.echo_delay_us, 12u);
}

TEST(Hello, EveryOtherLengthIsRefused) {
  const Bytes bytes(2 * kHelloBytes);
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    Hello hello;
    EXPECT_EQ(parse(std::span(bytes).first(length), hello), length == kHelloBytes) << length;
  }
}

TEST(Hello, RepairableSequencesEndBeforeTheNextOne) {
  struct Case {
    std::uint32_t next;
    std::uint32_t first;
    bool sound;
  };
  for (const Case& c : {Case{5, 5, true}, Case{5, 4, true}, Case{5, 6, false}, Case{2, 0xfffffff0, true},
                        Case{0xfffffff0, 2, false}, Case{0x7fffffff, 0, true}, Case{0x80000000, 0, false}}) {
    SCOPED_TRACE(c.next);
    SCOPED_TRACE(c.first);
    const std::array<Le32, 5> words{1, c.next, c.first, 0, 0};
    Hello hello;
    EXPECT_EQ(parse(std::as_bytes(std::span(words)), hello), c.sound);
  }
}

TEST(HelloDeathTest, EncodingWhatIsUnsoundIsABrokenInvariant) {
  Bytes room(kHelloBytes);
  EXPECT_DEATH(encode(Hello{1, 5, 6, 0, 0}, room), "broken invariant");
  EXPECT_DEATH(encode(Hello{}, std::span(room).first(kHelloBytes - 1)), "broken invariant");
}

}  // namespace
}  // namespace tombolo::wire
