#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "protocol/drop_reason.h"
#include "protocol/wire/feedback.h"

namespace tombolo::link {

/// The receiving half of one (link, lane): knows which sequences are in, finds the gaps, and says when
/// feedback is due.
///
/// Receiving takes two steps: check() says whether a packet is new; mark() that it was kept (folded, held, or
/// cached for every onward link). What is checked and not marked stays a gap, so the previous hop sends it
/// again.
class Receiver {
 public:
  /// `window`: how far past the first gap packets are accepted; a power of two, at least 64.
  explicit Receiver(std::uint32_t window);

  /// The stream starts, or starts again, at this sequence.
  void start(std::uint32_t first_sequence);

  /// kNone when the packet is new; kDuplicateSequence; kSequenceTooFar. Notes that the sender has got this
  /// far.
  DropReason check(std::uint32_t sequence);
  /// The packet was kept. Only after check() gave kNone for it (a CHECK).
  void mark(std::uint32_t sequence);

  /// What the sender says of itself (HELLO): it sent everything before `next`, and repairs nothing before
  /// `first`. Sequences that it cannot repair any more are given up and counted. Of what it sent, only as
  /// much as the window holds counts as missing: the rest was refused and is asked for later. Costs at most
  /// a look at each sequence of the window, however far the sender says it is.
  void on_position(std::uint32_t first, std::uint32_t next);

  /// Feedback goes out at once for a new gap, after kPacketsPerFeedback packets, and otherwise every interval
  /// while there is something to tell.
  static constexpr std::uint32_t kPacketsPerFeedback = 32;
  void set_feedback_interval(Nanoseconds interval_ns) { interval_ns_ = interval_ns; }
  Nanoseconds next_feedback_ns() const;

  /// Writes what is in and what is missing, and takes it as told.
  void report(wire::Feedback& feedback, Nanoseconds now_ns);

  std::uint32_t cumulative() const { return cumulative_; }
  std::uint32_t highest() const { return highest_; }
  bool has_gap() const { return cumulative_ != highest_; }
  std::uint64_t given_up() const { return given_up_; }
  /// Packets that had not arrived when a later one, or word of one, did.
  std::uint64_t gaps() const { return gaps_; }
  /// Packets named as missing in reports; one that is named twice counts twice.
  std::uint64_t asked() const { return asked_; }

 private:
  bool is_marked(std::uint32_t sequence) const;
  void unmark(std::uint32_t sequence);
  void advance();
  void give_up_before(std::uint32_t first);
  std::uint32_t find(std::uint32_t from, bool marked) const;

  std::uint32_t window_;
  std::vector<std::uint64_t> marked_;  ///< A bit per sequence in [cumulative_, cumulative_ + window_).
  std::uint32_t cumulative_ = 0;       ///< Everything before it is in.
  std::uint32_t highest_ = 0;          ///< One past the highest sequence known to have been sent.
  std::uint32_t untold_ = 0;           ///< Packets marked since the last feedback.
  bool new_gap_ = false;
  Nanoseconds told_ns_ = 0;
  Nanoseconds interval_ns_ = kMillisecond;
  std::uint64_t given_up_ = 0;
  std::uint64_t gaps_ = 0;
  std::uint64_t asked_ = 0;
};

}  // namespace tombolo::link
