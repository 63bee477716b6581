#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "base/counter.h"
#include "protocol/address.h"
#include "protocol/mapped_memory.h"
#include "protocol/port.h"

namespace tombolo::dataplane {

/// A packet on its way along a wire; its bytes follow at data().
struct alignas(64) Frame {
  Frame* next = nullptr;  ///< In the list that holds the frame: on its way, or free.
  Nanoseconds arrival_ns = 0;
  std::uint64_t order = 0;  ///< Decides between frames of one arrival time.
  Address from;
  std::uint32_t bytes = 0;
  std::uint16_t lane = 0;
  std::uint8_t size_class = 0;

  std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(Frame) == 64, "the bytes behind a frame are 64-byte aligned");

/// The frames of one direction of a wire, in two sizes: most packets are far smaller than the largest.
/// Reserved at the start in memory that costs nothing until it is used; more is added when that was too
/// little, and counted. Not thread-safe: the wire's lock protects it.
class FrameStore {
 public:
  /// Reserves enough for `flight_bytes` of packets in flight, whichever size they have.
  explicit FrameStore(std::uint64_t flight_bytes);

  /// A frame with room for `bytes` (at most kMaxPacketBytes), or nullptr when the machine is out of memory.
  Frame* allocate(std::uint32_t bytes);
  void recycle(Frame* frame);

  /// How often the reserve was too small.
  std::uint64_t growths() const { return growths_.get(); }

 private:
  struct SizeClass {
    std::size_t stride = 0;
    Frame* free = nullptr;
    std::byte* fresh = nullptr;  ///< Memory that was never a frame, up to fresh_end.
    std::byte* fresh_end = nullptr;
    std::vector<MappedMemory> slabs;
  };

  static bool add_slab(SizeClass& size_class, std::uint64_t frames);

  std::array<SizeClass, 2> classes_;
  Counter growths_;
};

}  // namespace tombolo::dataplane
