#include "protocol/wire/feedback.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/unit/protocol/wire/sample_packets.h"

namespace tombolo::wire {
namespace {

Bytes bytes_of(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

const Bytes kByHand = bytes_of({
    0x4d, 0,    0,    0,                 // peer session 77
    0xf0, 0xff, 0xff, 0xff,              // cumulative
    0x20, 0,    0,    0,                 // highest
    0x88, 0x13, 0,    0,                 // echo timestamp 5000
    0x0c, 0,    0,    0,                 // echo delay 12
    0xf0, 0xff, 0xff, 0xff, 1, 0, 0, 0,  // the first gap
    0xfe, 0xff, 0xff, 0xff, 5, 0, 0, 0,  // the one across the wrap
    0x1f, 0,    0,    0,    1, 0, 0, 0,  // the last possible one
});

TEST(Feedback, BytesByHand) {
  EXPECT_EQ(body_bytes(sample_feedback()), kByHand);
  Feedback feedback;
  ASSERT_TRUE(parse(kByHand, feedback));
  EXPECT_EQ(feedback.peer_session, 77u);
  EXPECT_EQ(feedback.cumulative, 0xfffffff0u);
  EXPECT_EQ(feedback.highest, 0x20u);
  EXPECT_EQ(feedback.echo_timestamp_us, 5000u);
  EXPECT_EQ(feedback.echo_delay_us, 12u);
  ASSERT_EQ(feedback.range_count, 3u);
  EXPECT_EQ(feedback.ranges[1], (SequenceRange{0xfffffffe, 5}));
  EXPECT_EQ(feedback.ranges[2], (SequenceRange{0x1f, 1}));
}

TEST(Feedback, EveryOtherLengthIsRefused) {
  Feedback feedback;
  Bytes bytes(kMaxFeedbackBytes + 16);
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    // All zero: cumulative equals highest, so only a body without ranges is sound.
    EXPECT_EQ(parse(std::span(bytes).first(length), feedback), length == kMinFeedbackBytes) << length;
  }
}

TEST(Feedback, SixtyFourRangesFit) {
  Feedback feedback;
  feedback.cumulative = 10;
  feedback.highest = 10 + 2 * kMaxFeedbackRanges;
  feedback.range_count = kMaxFeedbackRanges;
  for (std::uint32_t i = 0; i < kMaxFeedbackRanges; ++i) feedback.ranges[i] = {10 + 2 * i, 1};
  const Bytes bytes = body_bytes(feedback);
  EXPECT_EQ(bytes.size(), 20u + 64 * 8);
  Feedback again;
  ASSERT_TRUE(parse(bytes, again));
  EXPECT_EQ(again.ranges, feedback.ranges);
}

TEST(Feedback, UnsoundRangesAreRefused) {
  struct Case {
    const char* name;
    std::uint32_t cumulative;
    std::uint32_t highest;
    std::vector<SequenceRange> ranges;
    bool sound;
  };
  const std::vector<Case> cases{
      {"nothing open", 5, 5, {}, true},
      {"whole gap", 5, 9, {{5, 4}}, true},
      {"adjacent", 5, 9, {{5, 1}, {6, 1}}, true},
      {"empty range", 5, 9, {{5, 0}}, false},
      {"before cumulative", 5, 9, {{4, 1}}, false},
      {"at highest", 5, 9, {{9, 1}}, false},
      {"past highest", 5, 9, {{8, 2}}, false},
      {"count wraps", 5, 9, {{6, 0xffffffff}}, false},
      {"overlapping", 5, 9, {{5, 2}, {6, 1}}, false},
      {"descending", 5, 9, {{7, 1}, {5, 1}}, false},
      {"repeated", 5, 9, {{5, 1}, {5, 1}}, false},
      {"highest before cumulative", 9, 5, {}, false},
      {"half the numbers open", 1, 0x80000000, {}, true},
      {"more than half open", 0, 0x80000000, {}, false},
      {"across the wrap", 0xffffffff, 1, {{0xffffffff, 2}}, true},
      {"past highest across the wrap", 0xffffffff, 1, {{0xffffffff, 3}}, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    std::vector<Le32> words{7, c.cumulative, c.highest, 0, 0};
    for (const SequenceRange& range : c.ranges) words.insert(words.end(), {range.first, range.count});
    Feedback feedback;
    EXPECT_EQ(parse(std::as_bytes(std::span(words)), feedback), c.sound);
  }
}

TEST(Feedback, RandomSoundBodiesSurviveTheRoundTrip) {
  constexpr std::uint64_t kSeed = 20260801;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int i = 0; i < 2000; ++i) {
    Feedback feedback;
    feedback.peer_session = static_cast<std::uint32_t>(random.bits());
    feedback.cumulative = static_cast<std::uint32_t>(random.bits());
    std::uint32_t next = feedback.cumulative;
    const auto ranges = static_cast<std::uint32_t>(random.below(kMaxFeedbackRanges + 1));
    for (; feedback.range_count < ranges; ++feedback.range_count) {
      next += static_cast<std::uint32_t>(random.below(9));
      const auto count = static_cast<std::uint32_t>(1 + random.below(1000));
      feedback.ranges[feedback.range_count] = {next, count};
      next += count;
    }
    feedback.highest = next + static_cast<std::uint32_t>(random.below(3));
    Feedback again;
    ASSERT_TRUE(parse(body_bytes(feedback), again));
    ASSERT_EQ(again.peer_session, feedback.peer_session);
    ASSERT_EQ(again.cumulative, feedback.cumulative);
    ASSERT_EQ(again.highest, feedback.highest);
    ASSERT_EQ(again.echo_delay_us, kNoEcho);
    ASSERT_EQ(again.range_count, feedback.range_count);
    ASSERT_EQ(again.ranges, feedback.ranges);
  }
}

TEST(FeedbackDeathTest, EncodingWhatIsUnsoundIsABrokenInvariant) {
  Feedback feedback = sample_feedback();
  feedback.ranges[0].count = 0;
  Bytes room(kMaxFeedbackBytes);
  EXPECT_DEATH(encode(feedback, room), "broken invariant");
  EXPECT_DEATH(encode(sample_feedback(), std::span(room).first(43)), "broken invariant");
}

}  // namespace
}  // namespace tombolo::wire
