// Random packets and positions on a Receiver, checked at every step against a set of plain 64-bit numbers.
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "base/random.h"
#include "protocol/link/receiver.h"

namespace tombolo::link {
namespace {

struct Model {
  std::uint64_t window = 0;
  std::uint64_t cumulative = 0, highest = 0, given_up = 0;
  std::set<std::uint64_t> in;  ///< At or after `cumulative`.

  DropReason check(std::uint64_t sequence) {
    if (sequence < cumulative) return DropReason::kDuplicateSequence;
    if (sequence >= cumulative + window) return DropReason::kSequenceTooFar;
    highest = std::max(highest, sequence + 1);
    return in.contains(sequence) ? DropReason::kDuplicateSequence : DropReason::kNone;
  }
  void settle() {
    while (in.erase(cumulative) > 0) ++cumulative;
  }
  void position(std::uint64_t first, std::uint64_t next) {
    for (; cumulative < first; ++cumulative) given_up += in.erase(cumulative) > 0 ? 0 : 1;
    highest = std::max(highest, cumulative);
    settle();
    highest = std::max(highest, std::min(next, cumulative + window));
  }
};

void expect_same_report(Receiver& receiver, const Model& model, std::uint32_t start) {
  wire::Feedback made;
  receiver.report(made, 0);
  std::array<std::byte, wire::kMaxFeedbackBytes> bytes;
  wire::Feedback feedback;
  ASSERT_TRUE(wire::parse(std::span(bytes).first(wire::encode(made, bytes)), feedback));
  ASSERT_EQ(feedback.cumulative, static_cast<std::uint32_t>(start + model.cumulative));
  std::set<std::uint64_t> missing;
  std::uint64_t told_up_to = model.highest;
  std::size_t gaps = 0;
  for (std::uint64_t s = model.cumulative; s < model.highest; ++s) {
    if (model.in.contains(s)) continue;
    if (missing.empty() || !missing.contains(s - 1)) {
      if (gaps == wire::kMaxFeedbackRanges) break;
      ++gaps;
    }
    missing.insert(s);
  }
  if (gaps == wire::kMaxFeedbackRanges) told_up_to = *missing.rbegin() + 1;
  ASSERT_EQ(feedback.highest, static_cast<std::uint32_t>(start + told_up_to));
  ASSERT_EQ(feedback.range_count, gaps);
  std::set<std::uint64_t> told;
  for (std::size_t i = 0; i < feedback.range_count; ++i)
    for (std::uint32_t k = 0; k < feedback.ranges[i].count; ++k)
      told.insert(model.cumulative + (feedback.ranges[i].first - feedback.cumulative) + k);
  ASSERT_EQ(told, missing);
}

TEST(ReceiverModel, RandomPacketsAndPositions) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::uint32_t window = 64u << random.below(4);
    const std::uint32_t start = 0u - static_cast<std::uint32_t>(random.below(3000));
    const double refuse = random.unit() / 2;
    Receiver receiver(window);
    receiver.start(start);
    Model model;
    model.window = window;
    for (int step = 0; step < 1500; ++step) {
      const std::uint64_t back = std::min<std::uint64_t>(model.cumulative, random.below(20));
      if (random.chance(0.02)) {
        const std::uint64_t first =
            model.cumulative - back + random.below(random.chance(0.1) ? 3 * window : 30);
        const std::uint64_t next = first + random.below(2 * window);
        receiver.on_position(static_cast<std::uint32_t>(start + first),
                             static_cast<std::uint32_t>(start + next));
        model.position(first, next);
      } else {
        const std::uint64_t sequence =
            model.cumulative - back + random.below(random.chance(0.2) ? window + 40 : 40);
        const DropReason reason = receiver.check(static_cast<std::uint32_t>(start + sequence));
        ASSERT_EQ(reason, model.check(sequence));
        if (reason == DropReason::kNone && !random.chance(refuse)) {
          receiver.mark(static_cast<std::uint32_t>(start + sequence));
          model.in.insert(sequence);
          model.settle();
        }
      }
      ASSERT_EQ(receiver.cumulative(), static_cast<std::uint32_t>(start + model.cumulative));
      ASSERT_EQ(receiver.highest(), static_cast<std::uint32_t>(start + model.highest));
      ASSERT_EQ(receiver.given_up(), model.given_up);
      if (!random.chance(0.1)) continue;
      ASSERT_NO_FATAL_FAILURE(expect_same_report(receiver, model, start));
    }
  }
}

}  // namespace
}  // namespace tombolo::link
