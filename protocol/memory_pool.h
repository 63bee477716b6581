#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "protocol/buffer.h"
#include "protocol/mapped_memory.h"
#include "protocol/port.h"

namespace tombolo {

/// Who calls a pool: one thread only, or several at once. A pool of one owner needs no locked instruction;
/// its counts may be read by anybody all the same.
enum class PoolSharing { kSingleOwner, kShared };

/// A fixed number of equal buffers in ordinary memory. The buffer that came back last is handed out first,
/// because it is still in the cache. A buffer's data and payload are both 64-byte aligned.
class MemoryPool final : public BufferPool {
 public:
  static constexpr std::uint32_t kMaxBuffers = 1U << 24;

  /// Reserves `buffers` buffers of at least `buffer_bytes` bytes; rounded up to a multiple of 64.
  /// Errors: kInvalidInput for a number or size out of range, kUnavailable when the kernel gives no memory.
  static Result<std::unique_ptr<MemoryPool>> create(std::uint32_t buffers, PoolSharing sharing,
                                                    std::uint32_t buffer_bytes = kMaxPacketBytes);
  /// Every buffer must be back: whoever holds one would write to memory that is gone.
  ~MemoryPool() override;

  Buffer* allocate() override;
  void recycle(Buffer* buffer) override;

  std::uint32_t buffers() const { return buffers_; }
  std::uint32_t buffer_bytes() const { return buffer_bytes_; }
  /// Buffers that are out now.
  std::uint64_t in_use() const { return in_use_.load(std::memory_order_relaxed); }
  /// Most buffers that were out at a time.
  std::uint64_t high_water() const { return high_water_.load(std::memory_order_relaxed); }
  /// Calls of allocate() that found nothing.
  std::uint64_t empties() const { return empties_.load(std::memory_order_relaxed); }

 private:
  /// On a cache line of its own: neighbours belong to different workers.
  struct alignas(64) Slot {
    Buffer buffer;
    std::atomic<std::uint32_t> next{0};  ///< The free slot below this one; valid while this one is free.
  };

  MemoryPool(std::uint32_t buffers, PoolSharing sharing, std::uint32_t buffer_bytes, MappedMemory memory);
  Slot* pop_alone();
  Slot* pop_shared();
  void push_alone(std::uint32_t index);
  void push_shared(std::uint32_t index);
  void count_empty();
  void raise_high_water(std::uint64_t in_use);

  const std::uint32_t buffers_;
  const std::uint32_t buffer_bytes_;
  const bool shared_;
  MappedMemory memory_;
  std::unique_ptr<Slot[]> slots_;

  /// The top free slot's index in the low half, a number of changes in the high half: a slot that left and
  /// came back while another thread looked away is recognised by it.
  alignas(64) std::atomic<std::uint64_t> head_{0};
  alignas(64) std::atomic<std::uint64_t> in_use_{0};
  std::atomic<std::uint64_t> high_water_{0};
  std::atomic<std::uint64_t> empties_{0};
};

}  // namespace tombolo
