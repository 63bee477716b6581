#include "protocol/link/receiver.h"

#include <algorithm>
#include <bit>

#include "base/check.h"
#include "base/serial.h"

namespace tombolo::link {
namespace {

constexpr std::uint32_t kWordBits = 64;

}  // namespace

Receiver::Receiver(std::uint32_t window) : window_(window), marked_(window / kWordBits) {
  CHECK(std::has_single_bit(window) && window >= kWordBits);
}

void Receiver::start(std::uint32_t first_sequence) {
  std::fill(marked_.begin(), marked_.end(), 0);
  cumulative_ = highest_ = first_sequence;
  untold_ = 0;
  new_gap_ = false;
}

DropReason Receiver::check(std::uint32_t sequence) {
  if (serial_before(sequence, cumulative_)) {
    ++untold_;  // Our feedback was lost; the sender must hear it again.
    return DropReason::kDuplicateSequence;
  }
  if (sequence - cumulative_ >= window_) return DropReason::kSequenceTooFar;
  if (serial_before(highest_, sequence)) new_gap_ = true;
  if (!serial_before(sequence, highest_)) highest_ = sequence + 1;
  return is_marked(sequence) ? DropReason::kDuplicateSequence : DropReason::kNone;
}

void Receiver::mark(std::uint32_t sequence) {
  const std::uint32_t bit = sequence & (window_ - 1);
  marked_[bit / kWordBits] |= std::uint64_t{1} << (bit % kWordBits);
  ++untold_;
  if (sequence == cumulative_) advance();
}

void Receiver::on_position(std::uint32_t first, std::uint32_t next) {
  // A sender has at most a window outstanding; anything else is a stale or foreign statement.
  if (serial_before(next, first) || next - first > window_) return;
  if (serial_distance(cumulative_, first) > static_cast<std::int32_t>(window_)) {
    given_up_ += first - cumulative_;
    start(first);
  }
  while (serial_before(cumulative_, first)) {
    if (!is_marked(cumulative_)) {
      ++given_up_;
      mark(cumulative_);
      if (serial_before(highest_, cumulative_)) highest_ = cumulative_;
    } else {
      advance();
    }
  }
  if (serial_before(highest_, next) && next - cumulative_ <= window_) {
    highest_ = next;
    new_gap_ = true;
  }
  ++untold_;  // Whoever asks wants to hear where we are.
}

Nanoseconds Receiver::next_feedback_ns() const {
  if (new_gap_ || untold_ >= kPacketsPerFeedback) return 0;
  if (untold_ > 0 || has_gap()) return told_ns_ + interval_ns_;
  return kNever;
}

void Receiver::report(wire::Feedback& feedback, Nanoseconds now_ns) {
  feedback.cumulative = cumulative_;
  feedback.highest = highest_;
  feedback.range_count = 0;
  std::uint32_t sequence = cumulative_;
  while (sequence != highest_ && feedback.range_count < feedback.ranges.size()) {
    if (is_marked(sequence)) {
      ++sequence;
      continue;
    }
    wire::SequenceRange& range = feedback.ranges[feedback.range_count++];
    range.first = sequence;
    while (sequence != highest_ && !is_marked(sequence)) ++sequence;
    range.count = sequence - range.first;
  }
  // With more gaps than fit, speak only of what the ranges cover.
  if (sequence != highest_ && feedback.range_count == feedback.ranges.size()) feedback.highest = sequence;
  untold_ = 0;
  new_gap_ = false;
  told_ns_ = now_ns;
}

bool Receiver::is_marked(std::uint32_t sequence) const {
  const std::uint32_t bit = sequence & (window_ - 1);
  return (marked_[bit / kWordBits] >> (bit % kWordBits) & 1) != 0;
}

void Receiver::advance() {
  while (is_marked(cumulative_)) {
    const std::uint32_t bit = cumulative_ & (window_ - 1);
    marked_[bit / kWordBits] &= ~(std::uint64_t{1} << (bit % kWordBits));
    ++cumulative_;
  }
}

}  // namespace tombolo::link
