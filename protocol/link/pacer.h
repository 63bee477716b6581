#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.h"
#include "base/units.h"

namespace tombolo::link {

/// Spaces packets so that a source keeps its wire rate. A sender that was held up may catch up with a burst
/// of at most kBurstPackets; edges absorb no more jitter than that. Where sizes differ, a burst has no more
/// bytes than kBurstPackets of its largest packet.
class Pacer {
 public:
  static constexpr std::uint64_t kBurstPackets = 8;

  /// `rate_bps`: wire bits per second, framing included; 0 means unlimited.
  void set_rate(std::uint64_t rate_bps) { rate_bps_ = rate_bps; }

  /// When the next packet may leave; compare with now.
  Nanoseconds next_send_ns() const { return rate_bps_ == 0 ? 0 : next_ns_; }
  bool may_send(Nanoseconds now_ns) const { return next_send_ns() <= now_ns; }

  /// A packet of `wire_bytes` (framing included) leaves now.
  void on_sent(std::uint64_t wire_bytes, Nanoseconds now_ns) {
    if (rate_bps_ == 0) return;
    const std::uint64_t scaled = wire_bytes * kBitsPerByte * kSecond + remainder_;
    const Nanoseconds interval_ns = scaled / rate_bps_;
    remainder_ = scaled % rate_bps_;
    const Nanoseconds credit_ns = (kBurstPackets - 1) * interval_ns;
    const Nanoseconds earliest_ns = now_ns > credit_ns ? now_ns - credit_ns : 0;
    next_ns_ = std::max(next_ns_, earliest_ns) + interval_ns;
  }

 private:
  std::uint64_t rate_bps_ = 0;
  std::uint64_t remainder_ = 0;  ///< What the last interval lost to rounding, in bits x ns.
  Nanoseconds next_ns_ = 0;
};

}  // namespace tombolo::link
