#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "base/clock.h"
#include "base/counter.h"
#include "dataplane/port/frame_store.h"

namespace tombolo::dataplane {

/// The frames on their way to one receive queue, by arrival time, then by order of push. Frames that do not
/// overtake, and on most wires that is all of them, form a plain list: push and pop are a few instructions.
/// The others lie in a heap beside it. Not thread-safe, but for next_arrival_ns().
class alignas(64) ArrivalQueue {
 public:
  void reserve_overtakers(std::size_t frames) { overtakers_.reserve(frames); }

  /// `frame->arrival_ns` is set; the frame is the queue's until it is popped.
  void push(Frame* frame);
  /// The first frame that has arrived by `now_ns`, or nullptr.
  Frame* pop(Nanoseconds now_ns);

  /// When the first frame arrives; kNever if there is none. From any thread, without the lock.
  Nanoseconds next_arrival_ns() const { return next_arrival_ns_.load(std::memory_order_relaxed); }
  /// How often the heap's reserve was too small.
  std::uint64_t growths() const { return growths_.get(); }

 private:
  void publish_next();

  std::atomic<Nanoseconds> next_arrival_ns_{kNever};
  Frame* first_ = nullptr;  ///< The list, ascending.
  Frame* last_ = nullptr;   ///< Valid while first_ is set.
  std::uint64_t pushed_ = 0;
  std::vector<Frame*> overtakers_;  ///< A heap, the earliest on top.
  Counter growths_;
};

}  // namespace tombolo::dataplane
