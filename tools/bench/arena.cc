#include "tools/bench/arena.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "base/units.h"

namespace tombolo::bench {
namespace {

std::size_t aligned(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

void UnmapMemory::operator()(std::byte* base) const { munmap(base, bytes); }

Result<Arena> Arena::create(std::uint64_t bytes) {
  void* const base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED)
    return Error{ErrorCode::kUnavailable, fmt::format("no memory for {} of chunks", format_bytes(bytes))};
  // Large pages where the kernel gives them, as DPDK's pools have; without, all sides miss in the TLB alike.
  madvise(base, bytes, MADV_HUGEPAGE);
  std::memset(base, 0, bytes);
  Arena arena;
  arena.base_ = {static_cast<std::byte*>(base), UnmapMemory{bytes}};
  arena.bytes_ = bytes;
  return arena;
}

Status Arena::fill(const Shape& shape, std::span<const std::vector<std::byte>> payloads) {
  input_stride_ = aligned(shape.input_bytes);
  result_stride_ = aligned(shape.result_bytes);
  const std::uint64_t chunk_bytes = shape.k * input_stride_ + result_stride_;
  if (chunk_bytes > bytes_)
    return invalid_input(
        fmt::format("{} for chunks of {}: not one fits", format_bytes(bytes_), format_bytes(chunk_bytes)));
  shape_ = shape;
  chunks_ = std::max<std::size_t>(1, std::min(shape.total_bytes, bytes_) / chunk_bytes);
  for (std::size_t member = 0; member < shape.k; ++member)
    for (std::size_t chunk = 0; chunk < chunks_; ++chunk)
      std::memcpy(base_.get() + (member * chunks_ + chunk) * input_stride_,
                  payloads[(member + chunk) % payloads.size()].data(), shape.input_bytes);
  return ok_status();
}

}  // namespace tombolo::bench
