#pragma once

#ifdef __SSE4_2__
#include <nmmintrin.h>
#endif

#include <cstddef>
#include <cstdint>
#include <span>

namespace tombolo::wire {

/// CRC32C (Castagnoli polynomial, reflected, all ones before and inverted after): 0xE3069283 for the
/// digits "123456789", 0 for no bytes. Hot path.
std::uint32_t crc32c(std::span<const std::byte> bytes);

#ifdef __SSE4_2__

/// Up to here the processor's own instruction, eight bytes at a time and three cycles each, is done before
/// ISA-L's folds of long inputs have begun: headers have 60 bytes, and each copy's is summed anew.
inline constexpr std::size_t kShortCrcBytes = 128;

/// One step of it over eight or four bytes that are in registers; begins with all ones, ends with an
/// inversion.
inline std::uint32_t crc32c_step(std::uint32_t crc, std::uint64_t bytes) {
  return static_cast<std::uint32_t>(_mm_crc32_u64(crc, bytes));
}
inline std::uint32_t crc32c_step(std::uint32_t crc, std::uint32_t bytes) { return _mm_crc32_u32(crc, bytes); }

#endif

}  // namespace tombolo::wire
