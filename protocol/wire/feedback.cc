#include "protocol/wire/feedback.h"

#include <cstring>

#include "base/check.h"
#include "protocol/wire/header.h"

namespace tombolo::wire {
namespace {

struct FixedPart {
  Le32 peer_session;
  Le32 cumulative;
  Le32 highest;
  Le32 echo_timestamp_us;
  Le32 echo_delay_us;
};
static_assert(sizeof(FixedPart) == kMinFeedbackBytes && alignof(FixedPart) == 1);

struct RangePart {
  Le32 first;
  Le32 count;
};
static_assert(sizeof(RangePart) == 8);

bool is_sound(const Feedback& feedback) {
  const std::uint32_t open = feedback.highest - feedback.cumulative;
  if (open > 0x7fffffffu || feedback.range_count > kMaxFeedbackRanges) return false;
  // Distances from `cumulative` do not wrap where sequence numbers do.
  std::uint64_t free_from = 0;
  for (std::size_t i = 0; i < feedback.range_count; ++i) {
    const SequenceRange& range = feedback.ranges[i];
    const std::uint64_t first = range.first - feedback.cumulative;
    if (range.count == 0 || first < free_from || first + range.count > open) return false;
    free_from = first + range.count;
  }
  return true;
}

}  // namespace

std::size_t encode(const Feedback& feedback, std::span<std::byte> out) {
  CHECK(is_sound(feedback));
  const std::size_t bytes = kMinFeedbackBytes + sizeof(RangePart) * feedback.range_count;
  CHECK(out.size() >= bytes);
  const FixedPart fixed{feedback.peer_session, feedback.cumulative, feedback.highest,
                        feedback.echo_timestamp_us, feedback.echo_delay_us};
  std::memcpy(out.data(), &fixed, sizeof(fixed));
  std::byte* next = out.data() + sizeof(fixed);
  for (std::size_t i = 0; i < feedback.range_count; ++i, next += sizeof(RangePart)) {
    const RangePart range{feedback.ranges[i].first, feedback.ranges[i].count};
    std::memcpy(next, &range, sizeof(range));
  }
  return bytes;
}

bool parse(std::span<const std::byte> payload, Feedback& feedback) {
  if (payload.size() < kMinFeedbackBytes || payload.size() > kMaxFeedbackBytes) return false;
  const std::span<const std::byte> ranges = payload.subspan(kMinFeedbackBytes);
  if (ranges.size() % sizeof(RangePart) != 0) return false;
  FixedPart fixed;
  std::memcpy(&fixed, payload.data(), sizeof(fixed));
  feedback.peer_session = fixed.peer_session;
  feedback.cumulative = fixed.cumulative;
  feedback.highest = fixed.highest;
  feedback.echo_timestamp_us = fixed.echo_timestamp_us;
  feedback.echo_delay_us = fixed.echo_delay_us;
  feedback.range_count = static_cast<std::uint32_t>(ranges.size() / sizeof(RangePart));
  for (std::size_t i = 0; i < feedback.range_count; ++i) {
    RangePart range;
    std::memcpy(&range, ranges.data() + i * sizeof(range), sizeof(range));
    feedback.ranges[i] = {range.first, range.count};
  }
  return is_sound(feedback);
}

}  // namespace tombolo::wire
