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
  if (serial_before(highest_, sequence)) {
    new_gap_ = true;
    gaps_ += sequence - highest_;
  }
  if (!serial_before(sequence, highest_)) highest_ = sequence + 1;
  return is_marked(sequence) ? DropReason::kDuplicateSequence : DropReason::kNone;
}

void Receiver::mark(std::uint32_t sequence) {
  CHECK(sequence - cumulative_ < highest_ - cumulative_);
  const std::uint32_t bit = sequence & (window_ - 1);
  marked_[bit / kWordBits] |= std::uint64_t{1} << (bit % kWordBits);
  ++untold_;
  if (sequence == cumulative_) advance();
}

void Receiver::on_position(std::uint32_t first, std::uint32_t next) {
  if (serial_before(next, first)) return;
  if (serial_before(cumulative_, first)) give_up_before(first);
  if (serial_before(highest_, next)) {
    const std::uint32_t reach = cumulative_ + std::min(next - cumulative_, window_);
    if (reach != highest_) new_gap_ = true;
    gaps_ += reach - highest_;
    highest_ = reach;
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
  std::uint32_t end = cumulative_;
  while (feedback.range_count < feedback.ranges.size()) {
    const std::uint32_t first = find(end, false);
    if (first == highest_) break;
    end = find(first, true);
    feedback.ranges[feedback.range_count++] = {first, end - first};
    asked_ += end - first;
  }
  // With more gaps than fit, speak only of what the ranges cover.
  if (feedback.range_count == feedback.ranges.size()) feedback.highest = end;
  untold_ = 0;
  new_gap_ = false;
  told_ns_ = now_ns;
}

bool Receiver::is_marked(std::uint32_t sequence) const {
  const std::uint32_t bit = sequence & (window_ - 1);
  return (marked_[bit / kWordBits] >> (bit % kWordBits) & 1) != 0;
}

void Receiver::unmark(std::uint32_t sequence) {
  const std::uint32_t bit = sequence & (window_ - 1);
  marked_[bit / kWordBits] &= ~(std::uint64_t{1} << (bit % kWordBits));
}

void Receiver::advance() {
  for (; is_marked(cumulative_); ++cumulative_) unmark(cumulative_);
}

/// The sender has nothing before `first`, which is past cumulative_. Every mark lies inside the window, so a
/// jump beyond it needs no look at the single sequences.
void Receiver::give_up_before(std::uint32_t first) {
  if (first - cumulative_ >= window_) {
    given_up_ += first - cumulative_;
    for (std::uint64_t& word : marked_) {
      given_up_ -= static_cast<std::uint64_t>(std::popcount(word));
      word = 0;
    }
    cumulative_ = first;
  } else {
    for (; cumulative_ != first; ++cumulative_) {
      if (!is_marked(cumulative_)) ++given_up_;
      unmark(cumulative_);
    }
  }
  if (serial_before(highest_, cumulative_)) highest_ = cumulative_;
  advance();
}

/// The first sequence in [from, highest_) that is marked, or is not; highest_ if there is none. Goes by
/// words: on a long fast path most of the window is open.
std::uint32_t Receiver::find(std::uint32_t from, bool marked) const {
  while (from != highest_) {
    const std::uint32_t bit = from & (window_ - 1);
    const std::uint64_t word = marked_[bit / kWordBits];
    const auto skip =
        static_cast<std::uint32_t>(std::countr_zero((marked ? word : ~word) >> (bit % kWordBits)));
    const std::uint32_t left = kWordBits - bit % kWordBits;
    from += std::min({skip, left, highest_ - from});
    if (skip < left) break;
  }
  return from;
}

}  // namespace tombolo::link
