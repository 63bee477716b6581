#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"

struct rte_mbuf;
struct rte_ring;

namespace tombolo::bench {

/// A device of DPDK's rings in this process (net_ring): what a port receives from it was put in by hand, what
/// a port sends is taken out by hand. No wire, no copy: the fastest device there is that hands packets over
/// one by one.
class RingDevice {
 public:
  /// Frames that wait in each direction at most.
  static constexpr unsigned kFrames = 4095;

  /// The device of that number, made at its first use and kept: EAL has few devices. EAL is running. Errors:
  /// kUnavailable when DPDK makes no more.
  static Result<RingDevice*> get(unsigned number);

  /// As DpdkPortConfig::device takes it.
  const std::string& name() const { return name_; }
  /// Puts frames where the port receives them; false, and none is put, when they do not fit.
  bool put(std::span<rte_mbuf* const> frames);
  /// Takes frames that the port sent; returns how many.
  std::size_t take(std::span<rte_mbuf*> frames);
  /// Takes all frames that the port sent and frees them, as a network card does; returns how many.
  std::size_t swallow();
  /// Frames that nobody has received yet.
  unsigned waiting() const;
  /// Frees all frames on their way.
  void drain();

 private:
  RingDevice() = default;

  std::string name_;
  rte_ring* in_ = nullptr;
  rte_ring* out_ = nullptr;
};

}  // namespace tombolo::bench
