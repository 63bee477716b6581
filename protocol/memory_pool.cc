#include "protocol/memory_pool.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>
#include <type_traits>
#include <utility>

namespace tombolo {
namespace {

constexpr std::uint32_t kAlignment = 64;
constexpr std::uint32_t kMaxBufferBytes = 1U << 16;
constexpr std::uint32_t kNone = ~std::uint32_t{0};

constexpr std::uint32_t index_of(std::uint64_t head) { return static_cast<std::uint32_t>(head); }

/// The head that follows `head` with `index` on top.
constexpr std::uint64_t next_head(std::uint64_t head, std::uint32_t index) {
  return (((head >> 32) + 1) << 32) | index;
}

}  // namespace

Result<std::unique_ptr<MemoryPool>> MemoryPool::create(std::uint32_t buffers, PoolSharing sharing,
                                                       std::uint32_t buffer_bytes) {
  if (buffers == 0 || buffers > kMaxBuffers)
    return invalid_input(fmt::format("a pool of {} buffers: must be 1 to {}", buffers, kMaxBuffers));
  if (buffer_bytes <= kHeaderBytes || buffer_bytes > kMaxBufferBytes)
    return invalid_input(fmt::format("buffers of {} bytes: must be {} to {}", buffer_bytes, kHeaderBytes + 1,
                                     kMaxBufferBytes));
  const std::uint32_t stride = (buffer_bytes + kAlignment - 1) / kAlignment * kAlignment;
  MappedMemory memory = MappedMemory::map(std::size_t{buffers} * stride);
  if (memory.data() == nullptr)
    return Error{ErrorCode::kUnavailable, fmt::format("{} buffers of {} bytes: no memory: {}", buffers,
                                                      stride, std::generic_category().message(errno))};
  return std::unique_ptr<MemoryPool>(new MemoryPool(buffers, sharing, stride, std::move(memory)));
}

MemoryPool::MemoryPool(std::uint32_t buffers, PoolSharing sharing, std::uint32_t buffer_bytes,
                       MappedMemory memory)
    : buffers_(buffers),
      buffer_bytes_(buffer_bytes),
      shared_(sharing == PoolSharing::kShared),
      memory_(std::move(memory)),
      slots_(std::make_unique<Slot[]>(buffers)) {
  for (std::uint32_t i = 0; i < buffers; ++i) {
    slots_[i].buffer = Buffer{memory_.data() + std::size_t{i} * buffer_bytes, buffer_bytes, 0, this};
    slots_[i].next.store(i + 1 < buffers ? i + 1 : kNone, std::memory_order_relaxed);
  }
}

MemoryPool::~MemoryPool() {
  static_assert(std::is_standard_layout_v<Slot>, "recycle() gets from a buffer to its slot");
  CHECK(in_use() == 0);
}

Buffer* MemoryPool::allocate() {
  Slot* slot = shared_ ? pop_shared() : pop_alone();
  if (slot == nullptr) {
    count_empty();
    return nullptr;
  }
  slot->buffer.references = 1;
  return &slot->buffer;
}

void MemoryPool::recycle(Buffer* buffer) {
  CHECK(buffer->pool == this && buffer->references == 0);
  // A Buffer is the first member of its slot.
  const auto index = static_cast<std::uint32_t>(reinterpret_cast<Slot*>(buffer) - slots_.get());
  if (shared_)
    push_shared(index);
  else
    push_alone(index);
}

MemoryPool::Slot* MemoryPool::pop_alone() {
  const std::uint64_t head = head_.load(std::memory_order_relaxed);
  if (index_of(head) == kNone) return nullptr;
  Slot& slot = slots_[index_of(head)];
  head_.store(slot.next.load(std::memory_order_relaxed), std::memory_order_relaxed);
  const std::uint64_t in_use = in_use_.load(std::memory_order_relaxed) + 1;
  in_use_.store(in_use, std::memory_order_relaxed);
  if (in_use > high_water()) high_water_.store(in_use, std::memory_order_relaxed);
  return &slot;
}

void MemoryPool::push_alone(std::uint32_t index) {
  slots_[index].next.store(index_of(head_.load(std::memory_order_relaxed)), std::memory_order_relaxed);
  head_.store(index, std::memory_order_relaxed);
  in_use_.store(in_use_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

MemoryPool::Slot* MemoryPool::pop_shared() {
  std::uint64_t head = head_.load(std::memory_order_acquire);
  while (index_of(head) != kNone) {
    Slot& slot = slots_[index_of(head)];
    // Another thread may take this slot now; `next` is then stale, and the exchange fails on the count.
    const std::uint32_t next = slot.next.load(std::memory_order_relaxed);
    if (head_.compare_exchange_weak(head, next_head(head, next), std::memory_order_acquire)) {
      raise_high_water(in_use_.fetch_add(1, std::memory_order_relaxed) + 1);
      return &slot;
    }
  }
  return nullptr;
}

void MemoryPool::push_shared(std::uint32_t index) {
  // Counted first, so that the buffer's next user never finds it counted twice.
  in_use_.fetch_sub(1, std::memory_order_relaxed);
  std::uint64_t head = head_.load(std::memory_order_relaxed);
  do {
    slots_[index].next.store(index_of(head), std::memory_order_relaxed);
  } while (!head_.compare_exchange_weak(head, next_head(head, index), std::memory_order_acq_rel));
}

void MemoryPool::count_empty() {
  if (shared_)
    empties_.fetch_add(1, std::memory_order_relaxed);
  else
    empties_.store(empties() + 1, std::memory_order_relaxed);
}

void MemoryPool::raise_high_water(std::uint64_t in_use) {
  std::uint64_t seen = high_water();
  while (in_use > seen && !high_water_.compare_exchange_weak(seen, in_use, std::memory_order_relaxed)) {
  }
}

}  // namespace tombolo
