#pragma once

#include <chrono>
#include <cstdint>

namespace tombolo {

/// A moment in nanoseconds since an arbitrary start; never negative.
using Nanoseconds = std::uint64_t;

inline constexpr Nanoseconds kMicrosecond = 1'000;
inline constexpr Nanoseconds kMillisecond = 1'000'000;
inline constexpr Nanoseconds kSecond = 1'000'000'000;
/// "Never": no timer is set.
inline constexpr Nanoseconds kNever = ~Nanoseconds{0};

/// Where loops get the time from. Logic never reads a clock: it is given `now_ns`.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Nanoseconds now_ns() const = 0;
};

/// The machine's monotonic clock.
class MonotonicClock final : public Clock {
 public:
  Nanoseconds now_ns() const override {
    return static_cast<Nanoseconds>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
  }
};

/// Virtual time: stands still until somebody moves it, and never goes back.
class VirtualClock final : public Clock {
 public:
  Nanoseconds now_ns() const override { return now_ns_; }
  void advance_to(Nanoseconds now_ns) {
    if (now_ns > now_ns_) now_ns_ = now_ns;
  }

 private:
  Nanoseconds now_ns_ = 0;
};

}  // namespace tombolo
