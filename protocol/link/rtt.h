#pragma once

#include "base/clock.h"

namespace tombolo::link {

/// Smoothed round-trip time of one link (RFC 6298 without the retransmission timer, which no one needs here:
/// a loss is reported by its receiver). Starts from the value that the epoch or the configuration gives.
class RttEstimator {
 public:
  explicit RttEstimator(Nanoseconds initial_ns) : smoothed_ns_(initial_ns) {}

  void add_sample(Nanoseconds sample_ns) {
    if (!measured_) {
      measured_ = true;
      smoothed_ns_ = sample_ns;
      return;
    }
    smoothed_ns_ = smoothed_ns_ - smoothed_ns_ / 8 + sample_ns / 8;
  }

  Nanoseconds smoothed_ns() const { return smoothed_ns_; }
  bool measured() const { return measured_; }

 private:
  Nanoseconds smoothed_ns_;
  bool measured_ = false;
};

}  // namespace tombolo::link
