#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "aggregation/stream_copy.h"
#include "base/check.h"

namespace tombolo::aggregation {

/// How far behind the newest arrival of a window a contribution may lie and still wait in its packet, in
/// bytes of payload. What folds within that distance is read from where the NIC put it, while it is in the
/// cache: 256 KiB are half of the second-level cache of the smallest server cores. What waits longer would
/// leave the cache anyway, and would pin a receive buffer for as long as the slowest member is late.
inline constexpr std::uint32_t kHeldBytes = 256 * 1024;
/// What waits behind more than so much is taken to leave the caches: it is copied past them, and asked for
/// ahead when it is folded.
inline constexpr std::size_t kCachedBytes = 4 << 20;
/// Contributions stay in their packets for as long as they wait.
inline constexpr std::uint32_t kHoldAll = std::numeric_limits<std::uint32_t>::max();

/// Where a window keeps contributions that wait long: a cell of its own for each place of a slot, those of
/// one chunk side by side, and the order in which contributions came. The memory is the fold point's.
class Arena {
 public:
  /// A cell starts on a cache line.
  static constexpr std::size_t kAlignment = 64;
  static constexpr std::size_t cell_bytes(std::uint32_t max_payload_bytes) {
    return (max_payload_bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  /// A contribution that waits in its packet.
  struct Waiting {
    std::uint32_t index = 0;  ///< Of the chunk, in its lane.
    std::uint8_t member = 0;
    std::uint8_t looks = 0;  ///< How often its buffer was found to be needed elsewhere.
    std::uint16_t bytes = 0;
  };

  /// None: everything waits in its packet.
  Arena() = default;
  /// `memory` has `cells` cells for payloads of that size. Beyond `held` contributions the oldest is due.
  Arena(std::byte* memory, std::size_t cells, std::uint32_t max_payload_bytes, std::uint32_t held)
      : memory_(memory),
        cell_bytes_(cell_bytes(max_payload_bytes)),
        cells_(cells),
        held_(held),
        queue_(2 * cells) {
    CHECK(cells > 0);
  }

  bool exists() const { return memory_ != nullptr; }
  /// Copies a contribution into its cell and returns where it is; past the caches if it is not read soon.
  std::byte* store(std::size_t place, std::span<const std::byte> contribution, bool read_soon) {
    CHECK(place < cells_ && contribution.size() <= cell_bytes_);
    std::byte* const cell = memory_ + place * cell_bytes_;
    if (!read_soon)
      stream_copy(cell, contribution.data(), contribution.size());
    else if (!contribution.empty())
      std::memcpy(cell, contribution.data(), contribution.size());
    return cell;
  }
  bool holds(const std::byte* data) const {
    return exists() && data >= memory_ && data < memory_ + cells_ * cell_bytes_;
  }

  /// False when there is no room: then the contribution must not wait. A place may be in the queue twice,
  /// once for a chunk that is folded by now.
  bool push(const Waiting& waiting) {
    if (count_ == queue_.size()) return false;
    queue_[(first_ + count_++) % queue_.size()] = waiting;
    return true;
  }
  /// Whether more wait than may.
  bool is_due() const { return count_ > held_; }
  Waiting pop() {
    const Waiting oldest = queue_[first_];
    first_ = (first_ + 1) % queue_.size();
    --count_;
    return oldest;
  }
  void clear() { first_ = count_ = 0; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t cell_bytes_ = 0;
  std::size_t cells_ = 0;
  std::size_t held_ = 0;
  std::vector<Waiting> queue_;  ///< A ring.
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace tombolo::aggregation
