#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace tombolo::bench {

/// Gives mapped memory back.
struct UnmapMemory {
  std::uint64_t bytes = 0;
  void operator()(std::byte* base) const;
};

/// The inputs and results of many chunks in one piece of memory, one member's chunks after another's, as an
/// arena holds them: bytes of member m's chunk c begin 64-byte aligned behind those of its chunk c - 1.
class Arena {
 public:
  struct Shape {
    std::size_t k = 0;            ///< Inputs per chunk.
    std::size_t input_bytes = 0;  ///< Of one payload.
    std::size_t result_bytes = 0;
    std::uint64_t total_bytes = 0;  ///< To be filled with chunks, as many as fit; at least one.
  };

  /// Takes `bytes` of memory, 64-byte aligned and touched. Errors: kUnavailable.
  static Result<Arena> create(std::uint64_t bytes);

  /// Lays the arena out anew and fills it: the payloads of member m are payloads[m mod payloads.size()],
  /// turned on by one from chunk to chunk. Errors: kInvalidInput when not even one chunk fits.
  Status fill(const Shape& shape, std::span<const std::vector<std::byte>> payloads);

  std::size_t chunks() const { return chunks_; }
  std::uint64_t bytes() const { return bytes_; }
  const std::byte* input(std::size_t member, std::size_t chunk) const {
    return base_.get() + (member * chunks_ + chunk) * input_stride_;
  }
  std::byte* result(std::size_t chunk) {
    return base_.get() + shape_.k * chunks_ * input_stride_ + chunk * result_stride_;
  }

 private:
  std::unique_ptr<std::byte, UnmapMemory> base_;
  std::uint64_t bytes_ = 0;
  Shape shape_;
  std::size_t chunks_ = 0;
  std::size_t input_stride_ = 0;
  std::size_t result_stride_ = 0;
};

}  // namespace tombolo::bench
