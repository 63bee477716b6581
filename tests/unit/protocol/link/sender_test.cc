#include "protocol/link/sender.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "protocol/memory_pool.h"
#include "protocol/wire/packet.h"

namespace tombolo::link {
namespace {

using Sequences = std::vector<std::uint32_t>;
constexpr Nanoseconds kRtt = 100 * kMillisecond;
constexpr std::uint32_t kStarts[] = {0, 1000, 0x7ffffffc, 0xfffffffa};

wire::Header contribution(std::uint32_t epoch, std::uint32_t round, std::uint32_t chunk) {
  wire::Header header;
  header.type = static_cast<std::uint8_t>(wire::Type::kContribution);
  header.job = 3;
  header.rank = 4;
  header.tree = 5;
  header.lane = 1;
  header.epoch = epoch;
  header.round = round;
  header.chunk = chunk;
  header.specific = 4096;
  header.format = static_cast<std::uint8_t>(wire::Format::kFp32);
  header.operation = static_cast<std::uint8_t>(wire::Operation::kSum);
  return header;
}

wire::Feedback feedback(std::uint32_t cumulative, std::uint32_t highest,
                        const std::vector<wire::SequenceRange>& ranges = {}) {
  wire::Feedback result;
  result.cumulative = cumulative;
  result.highest = highest;
  for (const wire::SequenceRange& range : ranges) result.ranges[result.range_count++] = range;
  return result;
}

void keep(Sender& sender, std::uint32_t count, Nanoseconds now_ns) {
  for (std::uint32_t i = 0; i < count; ++i) {
    wire::Header header = contribution(1, 1, i);
    sender.keep(header, nullptr, 0, {}, now_ns);
  }
}

Sequences repairs(Sender& sender, const wire::Feedback& what, Nanoseconds now_ns, std::size_t room = 64) {
  Sequences result(room);
  result.resize(sender.on_feedback(what, kRtt, now_ns, result));
  return result;
}

TEST(Sender, NumbersRunOnAcrossTheWrap) {
  Sender sender(64, 0xfffffffe);
  for (const std::uint32_t expected : {0xfffffffeu, 0xffffffffu, 0u, 1u}) {
    wire::Header header = contribution(1, 1, 0);
    sender.keep(header, nullptr, 0, {}, 0);
    EXPECT_EQ(header.link_sequence, expected);
    ASSERT_NE(sender.find(expected), nullptr);
    EXPECT_EQ(sender.find(expected)->header.link_sequence, expected);
  }
  EXPECT_EQ(sender.first_sequence(), 0xfffffffeu);
  EXPECT_EQ(sender.next_sequence(), 2u);
  EXPECT_EQ(sender.outstanding(), 4u);
  EXPECT_EQ(sender.find(0xfffffffd), nullptr) << "before the first";
  EXPECT_EQ(sender.find(2), nullptr) << "the next";
}

struct Case {
  const char* name;
  std::int64_t cumulative, highest;
  std::vector<std::pair<std::int64_t, std::uint32_t>> missing;
  std::uint32_t expected_first;
  std::vector<std::int64_t> expected_repairs;
};

/// Ten packets were sent, three are acknowledged. All numbers count from the stream's start.
const std::vector<Case>& cases() {
  constexpr std::int64_t kHalf = std::int64_t{1} << 31;
  static const std::vector<Case> all = {
      {"past", 1, 2, {}, 3, {}},
      {"past, with a gap that is closed", 1, 3, {{1, 1}}, 3, {}},
      {"past, with a gap that reaches into the present", 1, 6, {{1, 4}}, 3, {3, 4}},
      {"duplicate", 3, 3, {}, 3, {}},
      {"in order", 5, 5, {}, 5, {}},
      {"all", 10, 10, {}, 10, {}},
      {"gaps", 4, 10, {{4, 1}, {7, 2}}, 4, {4, 7, 8}},
      {"a tail", 8, 10, {{8, 2}}, 8, {8, 9}},
      {"future: highest was never sent", 3, 11, {{3, 1}}, 3, {}},
      {"future: cumulative was never sent", 11, 11, {}, 3, {}},
      {"future: far", 1000, 1001, {{1000, 1}}, 3, {}},
      {"foreign: half the numbers ahead", 10 + kHalf - 1, 10 + kHalf - 1, {}, 3, {}},
      {"foreign: half the numbers behind", 3 - kHalf, 3 - kHalf, {}, 3, {}},
      {"foreign: old, but open up to the present",
       11 - kHalf,
       10,
       {{11 - kHalf, 0x7fffffff}},
       3,
       {3, 4, 5, 6, 7, 8, 9}},
      {"foreign: cumulative and highest half a circle apart, twice", 12, 11 - kHalf, {}, 3, {}},
      {"foreign: the same with a range", 12, 11 - kHalf, {{12, 0x7ffffffe}}, 3, {}},
      {"foreign: a range far behind", 3 - 1000, 10, {{3 - 1000, 5}, {8, 1}}, 3, {8}},
  };
  return all;
}

TEST(Sender, FeedbackAsATable) {
  for (const std::uint32_t start : kStarts) {
    for (const Case& c : cases()) {
      SCOPED_TRACE(std::string(c.name) + ", from " + std::to_string(start));
      const auto number = [start](std::int64_t offset) { return static_cast<std::uint32_t>(start + offset); };
      Sender sender(64, start);
      keep(sender, 10, 0);
      ASSERT_TRUE(repairs(sender, feedback(number(3), number(3)), kRtt).empty());
      wire::Feedback what = feedback(number(c.cumulative), number(c.highest));
      for (const auto& [first, count] : c.missing) what.ranges[what.range_count++] = {number(first), count};
      Sequences expected;
      for (const std::int64_t offset : c.expected_repairs) expected.push_back(number(offset));
      EXPECT_EQ(repairs(sender, what, kRtt), expected);
      EXPECT_EQ(sender.first_sequence(), number(c.expected_first));
      EXPECT_EQ(sender.next_sequence(), number(10));
      EXPECT_EQ(sender.outstanding(), 10 - c.expected_first);
      EXPECT_EQ(sender.repaired(), expected.size());
    }
  }
}

/// Whatever a body that passes validation says, the sender stays in bounds and forgets nothing
/// unacknowledged.
TEST(Sender, RandomHostileFeedbackKeepsItSound) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Sender sender(128, static_cast<std::uint32_t>(random.bits()));
    for (int step = 0; step < 2000; ++step) {
      if (sender.has_room_for_control()) keep(sender, 1, step * kMillisecond);
      const std::uint32_t first = sender.first_sequence();
      const std::uint32_t next = sender.next_sequence();
      // Round the present, or half a circle away, where serial comparisons turn.
      const auto near = [&] {
        return static_cast<std::uint32_t>(random.below(300)) - 100u + (random.chance(0.3) ? 0x80000000u : 0u);
      };
      wire::Feedback what = feedback(first + near(), next + near());
      const std::uint32_t open = what.highest - what.cumulative;
      if (open > 0x7fffffffu) continue;  // parse refuses it.
      if (open > 0)
        what.ranges[what.range_count++] = {what.cumulative,
                                           1 + static_cast<std::uint32_t>(random.below(open))};
      for (const std::uint32_t sequence : repairs(sender, what, step * kMillisecond))
        ASSERT_NE(sender.find(sequence), nullptr);
      ASSERT_EQ(sender.next_sequence(), next);
      ASSERT_LE(sender.outstanding(), 128u);
      ASSERT_LE(sender.first_sequence() - first, next - first);
    }
  }
}

/// 64 ranges of 2^25 numbers each: a loop over what they claim would take minutes.
TEST(Sender, TheWorkIsBoundedByWhatIsOutstanding) {
  Sender sender(1 << 14, 5);
  keep(sender, 1 << 14, kRtt);
  wire::Feedback what = feedback(sender.next_sequence() - 0x7fffffffu, sender.next_sequence());
  for (std::uint32_t i = 0; i < wire::kMaxFeedbackRanges; ++i)
    what.ranges[what.range_count++] = {what.cumulative + (i << 25), (1u << 25) - (i == 63 ? 1 : 0)};
  for (int n = 0; n < 100; ++n) EXPECT_TRUE(repairs(sender, what, kRtt).empty()) << "nothing is due";
  EXPECT_EQ(repairs(sender, what, 3 * kRtt).size(), 64u) << "as many as there is room for";
  EXPECT_EQ(sender.outstanding(), 1u << 14);
}

/// Feedback every 10 ms over a path of 100 ms. The loss at 0 is reported from 100 ms on. The repair leaves
/// then and arrives at 150 ms; what was reported until then comes in until 200 ms and must not cause a second
/// repair.
TEST(Sender, ARepairIsNotRepeatedBeforeItsAnswerCanBeHere) {
  Sender sender(64);
  keep(sender, 2, 0);
  const wire::Feedback gap = feedback(0, 2, {{0, 1}});
  std::vector<Nanoseconds> times;
  for (Nanoseconds now_ns = 100 * kMillisecond; now_ns <= 500 * kMillisecond; now_ns += 10 * kMillisecond)
    if (!repairs(sender, gap, now_ns).empty()) times.push_back(now_ns / kMillisecond);
  EXPECT_EQ(times, (std::vector<Nanoseconds>{100, 220, 340, 460}));
  EXPECT_EQ(sender.repaired(), 4u);
}

/// The slot of a packet that was repaired serves a later one, whose first repair need not wait as long.
TEST(Sender, ARepairDoesNotHoldUpTheNextPacketInItsSlot) {
  Sender sender(64);
  keep(sender, 1, 0);
  ASSERT_EQ(repairs(sender, feedback(0, 1, {{0, 1}}), kRtt), Sequences{0});
  for (std::uint32_t n = 1; n <= 64; ++n) {
    repairs(sender, feedback(n, n), 2 * kRtt);
    keep(sender, 1, 2 * kRtt);
  }
  EXPECT_EQ(repairs(sender, feedback(64, 65, {{64, 1}}), 3 * kRtt), Sequences{64});
}

TEST(Sender, NoNumberIsRepairedTwiceInARoundTrip) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Sender sender(64);
    keep(sender, 20, 0);
    std::array<Nanoseconds, 20> last_ns{};
    for (Nanoseconds now_ns = kRtt; now_ns < 20 * kRtt; now_ns += random.below(kRtt / 4)) {
      const auto first = static_cast<std::uint32_t>(random.below(20));
      const auto count = 1 + static_cast<std::uint32_t>(random.below(20 - first));
      for (const std::uint32_t sequence : repairs(sender, feedback(0, 20, {{first, count}}), now_ns)) {
        EXPECT_GE(now_ns - last_ns[sequence], kRtt);
        last_ns[sequence] = now_ns;
      }
    }
  }
}

TEST(Sender, AShortPathWaitsAMillisecondBetweenRepairs) {
  Sender sender(64);
  keep(sender, 1, 0);
  const wire::Feedback gap = feedback(0, 1, {{0, 1}});
  std::array<std::uint32_t, 4> out;
  EXPECT_EQ(sender.on_feedback(gap, kMicrosecond, kMillisecond - 1, out), 0u);
  EXPECT_EQ(sender.on_feedback(gap, kMicrosecond, kMillisecond, out), 1u);
  EXPECT_EQ(sender.on_feedback(gap, kMicrosecond, 2 * kMillisecond - 1, out), 0u);
  EXPECT_EQ(sender.on_feedback(gap, kMicrosecond, 2 * kMillisecond, out), 1u);
}

TEST(Sender, WhatHasNoRoomAmongTheRepairsComesWithTheNextFeedback) {
  Sender sender(256);
  keep(sender, 100, 0);
  const wire::Feedback all = feedback(0, 100, {{0, 100}});
  const Sequences first = repairs(sender, all, kRtt);
  const Sequences second = repairs(sender, all, kRtt);
  ASSERT_EQ(first.size(), 64u);
  ASSERT_EQ(second.size(), 36u);
  EXPECT_EQ(second.front(), 64u);
  EXPECT_TRUE(repairs(sender, all, kRtt).empty());
  EXPECT_TRUE(repairs(sender, all, 5 * kRtt, 0).empty()) << "no room at all";
}

TEST(Sender, AFullWindowRefusesAndForgetsNothing) {
  Sender sender(64, 0xffffffe0);
  for (std::uint32_t n = 0; n < 64; ++n) {
    EXPECT_EQ(sender.has_room_for_data(), n < 64 - Sender::kControlReserve) << n;
    EXPECT_TRUE(sender.has_room_for_control());
    EXPECT_EQ(sender.free_slots(), 64 - n);
    keep(sender, 1, 0);
  }
  EXPECT_FALSE(sender.has_room_for_data());
  EXPECT_FALSE(sender.has_room_for_control());
  EXPECT_EQ(sender.free_slots(), 0u);
  for (std::uint32_t n = 0; n < 64; ++n) ASSERT_NE(sender.find(0xffffffe0 + n), nullptr) << n;
  wire::Header header = contribution(1, 1, 64);
  EXPECT_DEATH(sender.keep(header, nullptr, 0, {}, 0), "broken invariant");
  repairs(sender, feedback(0xffffffe1, 0xffffffe1), kRtt);
  EXPECT_TRUE(sender.has_room_for_control());
  EXPECT_FALSE(sender.has_room_for_data());
}

TEST(Sender, OnlyAPowerOfTwoAboveTheReserveIsAWindow) {
  EXPECT_DEATH(Sender(32), "broken invariant");
  EXPECT_DEATH(Sender(96), "broken invariant");
  EXPECT_DEATH(Sender(0), "broken invariant");
}

class SenderBuffers : public ::testing::Test {
 protected:
  void keep(std::uint32_t round) {
    BufferRef buffer = BufferRef::adopt(pool_->allocate());
    ASSERT_TRUE(buffer);
    wire::Header header = contribution(1, round, 7);
    const std::byte* const payload = buffer.data() + kHeaderBytes;
    wire::set_payload(header, std::span(payload, 256));
    sender_.keep(header, payload, 256, std::move(buffer), 0);
  }

  std::unique_ptr<MemoryPool> pool_ = MemoryPool::create(64, PoolSharing::kSingleOwner, 512).value();
  Sender sender_{64, 0xfffffffe};
};

TEST_F(SenderBuffers, AnAcknowledgementGivesThemBack) {
  for (int n = 0; n < 5; ++n) keep(1);
  EXPECT_EQ(pool_->in_use(), 5u);
  repairs(sender_, feedback(0, 3, {{0, 1}}), kRtt);
  EXPECT_EQ(pool_->in_use(), 3u) << "what is beyond the first gap is kept";
  repairs(sender_, feedback(3, 3), kRtt);
  EXPECT_EQ(pool_->in_use(), 0u);
}

TEST_F(SenderBuffers, AResetGivesThemBackAndNumbersGoOn) {
  for (int n = 0; n < 5; ++n) keep(1);
  sender_.reset();
  EXPECT_EQ(pool_->in_use(), 0u);
  EXPECT_EQ(sender_.outstanding(), 0u);
  EXPECT_EQ(sender_.first_sequence(), 3u);
  EXPECT_EQ(sender_.next_sequence(), 3u);
  EXPECT_EQ(sender_.find(2), nullptr);
}

TEST_F(SenderBuffers, AForgottenRoundBecomesItsEndUnderTheSameNumbers) {
  keep(7);
  keep(8);
  keep(7);
  wire::Header grant = contribution(1, 7, 9);
  grant.type = static_cast<std::uint8_t>(wire::Type::kGrant);
  sender_.keep(grant, nullptr, 0, {}, 0);
  wire::Header other_epoch = contribution(2, 7, 9);
  sender_.keep(other_epoch, nullptr, 0, {}, 0);
  repairs(sender_, feedback(0xffffffff, 0xffffffff), kRtt);  // The first of round 7 is in.

  sender_.forget(1, 7);
  EXPECT_EQ(pool_->in_use(), 1u) << "round 8's";
  EXPECT_EQ(sender_.outstanding(), 4u) << "no number is given up";
  const std::pair<std::uint32_t, wire::Type> expected[] = {{0xffffffff, wire::Type::kContribution},
                                                           {0, wire::Type::kRoundEnd},
                                                           {1, wire::Type::kGrant},
                                                           {2, wire::Type::kContribution}};
  for (const auto& [sequence, type] : expected) {
    ASSERT_NE(sender_.find(sequence), nullptr);
    EXPECT_EQ(sender_.find(sequence)->header.packet_type(), type) << sequence;
  }

  // What is sent for it is a ROUND_END that every receiver accepts.
  const Sender::Entry& entry = *sender_.find(0);
  EXPECT_EQ(entry.payload, nullptr);
  EXPECT_EQ(entry.payload_bytes, 0u);
  wire::Header header = entry.header;
  EXPECT_EQ(header.chunk, static_cast<std::uint32_t>(wire::RoundOutcome::kAbandoned));
  EXPECT_EQ(header.tree, wire::kNoTree);
  EXPECT_EQ(header.rank, 4u);
  EXPECT_EQ(header.epoch, 1u);
  EXPECT_EQ(header.round, 7u);
  EXPECT_EQ(header.link_sequence, 0u);
  header.session = 1;
  wire::seal(header);
  EXPECT_EQ(wire::validate(std::as_bytes(std::span(&header, 1))), DropReason::kNone);

  // It is repaired and acknowledged as anything else is.
  EXPECT_EQ(repairs(sender_, feedback(0, 3, {{0, 1}}), 2 * kRtt), Sequences{0});
  repairs(sender_, feedback(3, 3), 2 * kRtt);
  EXPECT_EQ(sender_.outstanding(), 0u);
  EXPECT_EQ(pool_->in_use(), 0u);
}

TEST(SenderProbe, BacksOffFromAQuarterToALimitAndStartsAnewWithEachPacket) {
  Sender sender(64);
  sender.set_probe_interval(25 * kMillisecond);
  EXPECT_EQ(sender.next_probe_ns(), kNever) << "nothing is outstanding";
  keep(sender, 1, kSecond);
  Nanoseconds due_ns = kSecond;
  for (const Nanoseconds pause_ms : {25, 50, 100, 200, 200, 200}) {
    due_ns += pause_ms * kMillisecond;
    EXPECT_EQ(sender.next_probe_ns(), due_ns);
    sender.on_probe(due_ns);
  }
  keep(sender, 1, 10 * kSecond);
  EXPECT_EQ(sender.next_probe_ns(), 10 * kSecond + 25 * kMillisecond);
  repairs(sender, feedback(1, 1), 11 * kSecond);
  EXPECT_EQ(sender.next_probe_ns(), 10 * kSecond + 25 * kMillisecond) << "one is still outstanding";
  repairs(sender, feedback(2, 2), 11 * kSecond);
  EXPECT_EQ(sender.next_probe_ns(), kNever);
}

TEST(SenderProbe, ALongPathIsNotProbedMoreOftenThanItsInterval) {
  Sender sender(64);
  sender.set_probe_interval(500 * kMillisecond);
  keep(sender, 1, 0);
  EXPECT_EQ(sender.next_probe_ns(), 500 * kMillisecond);
  sender.on_probe(500 * kMillisecond);
  EXPECT_EQ(sender.next_probe_ns(), kSecond);
}

}  // namespace
}  // namespace tombolo::link
