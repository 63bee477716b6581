#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "base/counter.h"
#include "protocol/port.h"

namespace tombolo::dataplane {

/// Collects what a worker's lanes send on one port and hands it over in bursts. One per worker and port.
class Transmitter {
 public:
  Transmitter(Port& port, std::uint32_t queue) : port_(&port), queue_(queue) {}

  /// The next packet of the burst, of which the caller sets every field; `keep` is empty. A full burst is
  /// sent before.
  TxPacket& next(Nanoseconds now_ns) {
    if (count_ == burst_.size()) flush(now_ns);
    return burst_[count_++];
  }

  /// Sends what has been collected. What the port does not take is counted; the link repairs it like a loss.
  void flush(Nanoseconds now_ns) {
    if (count_ == 0) return;
    const std::size_t sent = port_->transmit(queue_, std::span(burst_.data(), count_), now_ns);
    refused_.add(count_ - sent);
    for (std::size_t i = 0; i < count_; ++i) burst_[i].keep.reset();
    count_ = 0;
  }

  /// Packets that the port had no room for.
  std::uint64_t refused() const { return refused_.get(); }

 private:
  Port* port_;
  std::uint32_t queue_;
  std::size_t count_ = 0;
  std::array<TxPacket, kBurst> burst_;
  Counter refused_;
};

}  // namespace tombolo::dataplane
