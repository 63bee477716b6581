#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

namespace tombolo::control {

/// Events from many threads for one, in order. Bounded: what does not fit is refused, and the caller counts
/// it.
template <typename Event>
class EventQueue {
 public:
  explicit EventQueue(std::size_t most) : most_(most) {}

  /// False if the queue is full. `always`: it is taken even then; for what comes once and is never repeated.
  bool push(Event event, bool always = false) {
    {
      const std::lock_guard lock(mutex_);
      if (events_.size() >= most_ && !always) return false;
      events_.push_back(std::move(event));
    }
    ready_.notify_one();
    return true;
  }

  /// Waits at most `patience` for something, and returns all that there is.
  std::vector<Event> take(std::chrono::nanoseconds patience) {
    std::unique_lock lock(mutex_);
    ready_.wait_for(lock, patience, [this] { return !events_.empty() || woken_; });
    woken_ = false;
    std::vector<Event> taken(std::make_move_iterator(events_.begin()),
                             std::make_move_iterator(events_.end()));
    events_.clear();
    return taken;
  }

  /// Ends the wait of take() without an event.
  void wake() {
    {
      const std::lock_guard lock(mutex_);
      woken_ = true;
    }
    ready_.notify_one();
  }

 private:
  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Event> events_;
  bool woken_ = false;
};

}  // namespace tombolo::control
