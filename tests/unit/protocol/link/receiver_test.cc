#include "protocol/link/receiver.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace tombolo::link {
namespace {

constexpr std::uint32_t kWindow = 128;
constexpr std::uint32_t kStarts[] = {0, 63, 1000, 0x7ffffffe, 0xfffffffd, 0xffffff80};

/// Checks and marks, as a caller does that keeps every packet.
DropReason take(Receiver& receiver, std::uint32_t sequence) {
  const DropReason reason = receiver.check(sequence);
  if (reason == DropReason::kNone) receiver.mark(sequence);
  return reason;
}

/// What it reports; that the body is sound is checked on the way.
wire::Feedback report(Receiver& receiver, Nanoseconds now_ns = 0) {
  wire::Feedback made;
  receiver.report(made, now_ns);
  std::array<std::byte, wire::kMaxFeedbackBytes> bytes;
  wire::Feedback read;
  EXPECT_TRUE(wire::parse(std::span(bytes).first(wire::encode(made, bytes)), read));
  return read;
}

std::vector<wire::SequenceRange> ranges(const wire::Feedback& feedback) {
  return {feedback.ranges.begin(), feedback.ranges.begin() + feedback.range_count};
}

struct Case {
  const char* name;
  std::int64_t sequence;
  DropReason expected;
  std::uint32_t cumulative, highest;  ///< After it was taken.
};

/// Sequences 0, 1, 3 and 4 are in, 2 is missing. Numbers count from the stream's start.
TEST(Receiver, PacketsAsATable) {
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  constexpr DropReason kDuplicate = DropReason::kDuplicateSequence;
  constexpr DropReason kTooFar = DropReason::kSequenceTooFar;
  const Case cases[] = {
      {"past", -1, kDuplicate, 2, 5},
      {"far past", 2 - kHalf, kDuplicate, 2, 5},
      {"duplicate before the gap", 1, kDuplicate, 2, 5},
      {"duplicate beyond the gap", 4, kDuplicate, 2, 5},
      {"fills the gap", 2, DropReason::kNone, 5, 5},
      {"in order", 5, DropReason::kNone, 2, 6},
      {"future", 9, DropReason::kNone, 2, 10},
      {"last of the window", 2 + kWindow - 1, DropReason::kNone, 2, 2 + kWindow},
      {"first beyond the window", 2 + kWindow, kTooFar, 2, 5},
      {"foreign", 1'000'000, kTooFar, 2, 5},
      {"farthest ahead", 2 + kHalf - 1, kTooFar, 2, 5},
  };
  for (const std::uint32_t start : kStarts) {
    for (const Case& c : cases) {
      SCOPED_TRACE(std::string(c.name) + ", from " + std::to_string(start));
      Receiver receiver(kWindow);
      receiver.start(start);
      for (const std::uint32_t offset : {0, 1, 3, 4})
        ASSERT_EQ(take(receiver, start + offset), DropReason::kNone);
      EXPECT_EQ(take(receiver, static_cast<std::uint32_t>(start + c.sequence)), c.expected);
      EXPECT_EQ(receiver.cumulative(), start + c.cumulative);
      EXPECT_EQ(receiver.highest(), start + c.highest);
      EXPECT_EQ(receiver.has_gap(), c.cumulative != c.highest);
      EXPECT_EQ(receiver.given_up(), 0u);
    }
  }
}

TEST(Receiver, WhatIsNotMarkedStaysAGapAndIsNewAgain) {
  for (const std::uint32_t start : kStarts) {
    SCOPED_TRACE(start);
    Receiver receiver(kWindow);
    receiver.start(start);
    for (int times = 0; times < 3; ++times) EXPECT_EQ(receiver.check(start + 1), DropReason::kNone);
    const wire::Feedback feedback = report(receiver);
    EXPECT_EQ(feedback.cumulative, start);
    EXPECT_EQ(feedback.highest, start + 2);
    EXPECT_EQ(ranges(feedback), (std::vector<wire::SequenceRange>{{start, 2}}));
    receiver.mark(start + 1);
    EXPECT_EQ(receiver.check(start + 1), DropReason::kDuplicateSequence);
    EXPECT_EQ(ranges(report(receiver)), (std::vector<wire::SequenceRange>{{start, 1}}));
  }
}

TEST(Receiver, AMarkWithoutACheckIsABrokenInvariant) {
  Receiver receiver(kWindow);
  receiver.start(10);
  EXPECT_DEATH(receiver.mark(10), "broken invariant") << "never checked";
  ASSERT_EQ(take(receiver, 10), DropReason::kNone);
  EXPECT_DEATH(receiver.mark(10), "broken invariant") << "its bit stands for another sequence by now";
}

TEST(Receiver, OnlyAPowerOfTwoFromAWordOnIsAWindow) {
  EXPECT_DEATH(Receiver(32), "broken invariant");
  EXPECT_DEATH(Receiver(192), "broken invariant");
  EXPECT_DEATH(Receiver(0), "broken invariant");
}

TEST(Receiver, ReportsNoMoreThanSixtyFourGapsAndSaysHowFarItSpeaks) {
  for (const std::uint32_t start : {0u, 0xffffffc1u}) {
    SCOPED_TRACE(start);
    Receiver receiver(256);
    receiver.start(start);
    for (std::uint32_t i = 0; i < 100; ++i) ASSERT_EQ(take(receiver, start + 2 * i + 1), DropReason::kNone);
    const wire::Feedback feedback = report(receiver);
    ASSERT_EQ(feedback.range_count, 64u);
    for (std::uint32_t i = 0; i < 64; ++i)
      EXPECT_EQ(feedback.ranges[i], (wire::SequenceRange{start + 2 * i, 1})) << i;
    EXPECT_EQ(feedback.highest, start + 127) << "the end of the last range";
    EXPECT_EQ(receiver.highest(), start + 200);
    // The others come once the first are filled.
    for (std::uint32_t i = 0; i < 64; ++i) ASSERT_EQ(take(receiver, start + 2 * i), DropReason::kNone);
    const wire::Feedback rest = report(receiver);
    EXPECT_EQ(rest.range_count, 36u);
    EXPECT_EQ(rest.cumulative, start + 128);
    EXPECT_EQ(rest.highest, start + 200);
  }
}

TEST(ReceiverFeedback, IsDueNeverAtFirstThenAtOnceForANewGap) {
  Receiver receiver(kWindow);
  receiver.set_feedback_interval(10 * kMillisecond);
  receiver.start(0);
  EXPECT_EQ(receiver.next_feedback_ns(), kNever);
  report(receiver, kSecond);
  EXPECT_EQ(receiver.next_feedback_ns(), kNever);
  take(receiver, 0);
  EXPECT_EQ(receiver.next_feedback_ns(), kSecond + 10 * kMillisecond) << "something to tell";
  take(receiver, 2);
  EXPECT_EQ(receiver.next_feedback_ns(), 0u) << "a new gap";
  report(receiver, 2 * kSecond);
  EXPECT_EQ(receiver.next_feedback_ns(), 2 * kSecond + 10 * kMillisecond) << "while the gap lasts";
  take(receiver, 3);
  EXPECT_EQ(receiver.next_feedback_ns(), 2 * kSecond + 10 * kMillisecond) << "no new gap";
  take(receiver, 7);
  EXPECT_EQ(receiver.next_feedback_ns(), 0u) << "another gap";
}

/// Any feedback may be lost: as long as a gap is open it is told again, every interval.
TEST(ReceiverFeedback, IsRepeatedWhileAGapIsOpen) {
  Receiver receiver(kWindow);
  receiver.set_feedback_interval(10 * kMillisecond);
  receiver.start(0);
  take(receiver, 1);
  for (Nanoseconds now_ns = 0; now_ns < 100 * kMillisecond; now_ns += 10 * kMillisecond) {
    EXPECT_EQ(ranges(report(receiver, now_ns)), (std::vector<wire::SequenceRange>{{0, 1}}));
    EXPECT_EQ(receiver.next_feedback_ns(), now_ns + 10 * kMillisecond);
  }
  take(receiver, 0);
  report(receiver, kSecond);
  EXPECT_EQ(receiver.next_feedback_ns(), kNever);
}

TEST(ReceiverFeedback, IsDueAfterANumberOfPackets) {
  Receiver receiver(kWindow);
  receiver.start(0);
  report(receiver, kSecond);
  for (std::uint32_t i = 0; i < Receiver::kPacketsPerFeedback; ++i) {
    EXPECT_NE(receiver.next_feedback_ns(), 0u) << i;
    take(receiver, i);
  }
  EXPECT_EQ(receiver.next_feedback_ns(), 0u);
}

/// The acknowledgement was lost and the sender repeats: it must hear it again.
TEST(ReceiverFeedback, IsDueAgainWhenThePastComesAgain) {
  Receiver receiver(kWindow);
  receiver.set_feedback_interval(10 * kMillisecond);
  receiver.start(0);
  take(receiver, 0);
  report(receiver, kSecond);
  EXPECT_EQ(receiver.next_feedback_ns(), kNever);
  EXPECT_EQ(receiver.check(0), DropReason::kDuplicateSequence);
  EXPECT_EQ(receiver.next_feedback_ns(), kSecond + 10 * kMillisecond);
}

struct Position {
  const char* name;
  std::int64_t first, next;
  std::uint32_t cumulative, highest;
  std::uint64_t given_up;
  bool at_once;  ///< Feedback is due for a new gap.
};

/// Sequences 0, 1, 3, 4 and 7 are in. Numbers count from the stream's start.
TEST(Receiver, PositionsAsATable) {
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  const Position cases[] = {
      {"as known", 2, 8, 2, 8, 0, false},
      {"past", 0, 1, 2, 8, 0, false},
      {"far past", -1000, -900, 2, 8, 0, false},
      {"a lost tail", 2, 20, 2, 20, 0, true},
      {"the sender does not know yet what is in", 0, 9, 2, 9, 0, true},
      {"gives the first gap up", 3, 8, 5, 8, 1, false},
      {"gives up to the middle of a run", 4, 8, 5, 8, 1, false},
      {"gives up to the middle of a gap", 6, 8, 6, 8, 2, false},
      {"gives all gaps up", 7, 8, 8, 8, 3, false},
      {"gives up what it never told of", 20, 20, 20, 20, 3 + 12, false},
      {"gives up, and more was sent", 20, 30, 20, 30, 3 + 12, true},
      {"gives up the whole window", 2 + kWindow, 2 + kWindow, 2 + kWindow, 2 + kWindow, kWindow - 3, false},
      {"jumps beyond the window", 1000, 1000, 1000, 1000, 1000 - 5, false},
      {"jumps beyond the window, and more was sent", 1000, 1010, 1000, 1010, 1000 - 5, true},
      {"jumps as far as numbers go", 2 + kHalf - 1, 2 + kHalf - 1, 0x80000001, 0x80000001, 0x80000001 - 5,
       false},
      {"sent more than the window holds", 2, 2 + kWindow + 50, 2, 2 + kWindow, 0, true},
      {"outstanding more than the window holds", 0, 1'000'000, 2, 2 + kWindow, 0, true},
      {"next before first", 20, 19, 2, 8, 0, false},
      {"half a circle away: ahead and behind are the same", 2 + kHalf, 2 + kHalf, 0x80000002, 0x80000002,
       0x80000002 - 5, false},
  };
  for (const std::uint32_t start : kStarts) {
    for (const Position& c : cases) {
      SCOPED_TRACE(std::string(c.name) + ", from " + std::to_string(start));
      Receiver receiver(kWindow);
      receiver.start(start);
      for (const std::uint32_t offset : {0, 1, 3, 4, 7}) take(receiver, start + offset);
      report(receiver, kSecond);
      receiver.on_position(static_cast<std::uint32_t>(start + c.first),
                           static_cast<std::uint32_t>(start + c.next));
      EXPECT_EQ(receiver.cumulative(), start + c.cumulative);
      EXPECT_EQ(receiver.highest(), start + c.highest);
      EXPECT_EQ(receiver.given_up(), c.given_up);
      EXPECT_EQ(receiver.next_feedback_ns() == 0, c.at_once);
      report(receiver, kSecond);
      // Nothing that was given up is left behind as a mark of a later sequence.
      for (std::uint32_t i = receiver.highest() - receiver.cumulative(); i < kWindow; ++i)
        EXPECT_EQ(receiver.check(receiver.cumulative() + i), DropReason::kNone) << i;
    }
  }
}

TEST(Receiver, AStatementOfPositionAsksForAnAnswer) {
  Receiver receiver(kWindow);
  receiver.set_feedback_interval(10 * kMillisecond);
  receiver.start(0);
  report(receiver, kSecond);
  EXPECT_EQ(receiver.next_feedback_ns(), kNever);
  receiver.on_position(0, 0);
  EXPECT_EQ(receiver.next_feedback_ns(), kSecond + 10 * kMillisecond);
}

TEST(Receiver, APositionThatTellsNothingNewIsNoNewGap) {
  Receiver receiver(kWindow);
  receiver.set_feedback_interval(10 * kMillisecond);
  receiver.start(0);
  receiver.on_position(0, kWindow + 50);
  EXPECT_EQ(receiver.next_feedback_ns(), 0u);
  report(receiver, kSecond);
  receiver.on_position(0, kWindow + 60);
  EXPECT_EQ(receiver.next_feedback_ns(), kSecond + 10 * kMillisecond)
      << "the window was open to its end before";
}

/// A sender with a larger window than ours: what lies beyond ours was refused, shows no gap of its own, and
/// must be asked for all the same.
TEST(Receiver, ASenderWithALargerWindowIsServedPieceByPiece) {
  Receiver receiver(64);
  receiver.start(0);
  for (std::uint32_t i = 0; i < 1000; ++i)
    EXPECT_EQ(receiver.check(i), i < 64 ? DropReason::kNone : DropReason::kSequenceTooFar);
  std::uint32_t got = 0;
  for (int hellos = 0; got < 1000; ++hellos) {
    ASSERT_LT(hellos, 100);
    receiver.on_position(0, 1000);
    for (const wire::SequenceRange& range : ranges(report(receiver)))
      for (std::uint32_t i = 0; i < range.count; ++i)
        got += take(receiver, range.first + i) == DropReason::kNone ? 1 : 0;
  }
  EXPECT_EQ(receiver.cumulative(), 1000u);
  EXPECT_FALSE(receiver.has_gap());
}

TEST(Receiver, AStartForgetsWhatWasIn) {
  Receiver receiver(kWindow);
  receiver.start(0);
  for (const std::uint32_t sequence : {0u, 2u, 100u}) take(receiver, sequence);
  receiver.start(1);
  EXPECT_EQ(receiver.cumulative(), 1u);
  EXPECT_EQ(receiver.highest(), 1u);
  EXPECT_EQ(receiver.next_feedback_ns(), kNever);
  for (std::uint32_t sequence = 1; sequence < 1 + kWindow; ++sequence)
    EXPECT_EQ(receiver.check(sequence), DropReason::kNone) << sequence;
}

TEST(Receiver, CountsGapsOnceAndWhatItAsksForEachTime) {
  for (const std::uint32_t start : kStarts) {
    SCOPED_TRACE(start);
    Receiver receiver(kWindow);
    receiver.start(start);
    take(receiver, start);
    take(receiver, start + 4);  // 1, 2 and 3 are missing.
    EXPECT_EQ(receiver.gaps(), 3U);
    EXPECT_EQ(receiver.asked(), 0U);
    report(receiver);
    EXPECT_EQ(receiver.asked(), 3U);
    take(receiver, start + 2);
    report(receiver);
    EXPECT_EQ(receiver.asked(), 5U) << "two of them again";
    EXPECT_EQ(receiver.gaps(), 3U) << "a repair makes no gap, nor does it take one back";
    receiver.on_position(start, start + 7);  // 5 and 6 are missing too.
    EXPECT_EQ(receiver.gaps(), 5U);
  }
}

}  // namespace
}  // namespace tombolo::link
