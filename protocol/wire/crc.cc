#include "protocol/wire/crc.h"

#include <isa-l/crc.h>
#ifdef __SSE4_2__
#include <immintrin.h>
#endif

#include <cstring>

#include "base/check.h"

namespace tombolo::wire {

#ifdef __SSE4_2__

namespace {

std::uint32_t crc32c_short(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xffffffff;
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    crc = crc32c_step(crc, word);
  }
  if (left >= 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, at, sizeof word);
    crc = crc32c_step(crc, word);
    at += 4, left -= 4;
  }
  for (; left > 0; ++at, --left) crc = _mm_crc32_u8(crc, std::to_integer<std::uint8_t>(*at));
  return ~crc;
}

const bool kHasAvx = __builtin_cpu_supports("avx");

/// ISA-L's wide kernels return with the upper halves of the vector registers in use. Every instruction of the
/// older kind that comes after them, which is all of ours outside the folds, then waits to keep those halves:
/// once per packet, for longer than the sum itself takes.
[[gnu::target("avx")]] void release_upper_halves() { _mm256_zeroupper(); }

}  // namespace

#endif

std::uint32_t crc32c(std::span<const std::byte> bytes) {
#ifdef __SSE4_2__
  if (bytes.size() <= kShortCrcBytes) return crc32c_short(bytes);
#endif
  // ISA-L takes the length as an int; no datagram comes near that limit.
  CHECK(bytes.size() <= 0xffffu);
  // ISA-L does neither inversion of the standard itself, and its parameter lacks a const: it only reads.
  auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
  const std::uint32_t crc = ~crc32_iscsi(data, static_cast<int>(bytes.size()), 0xffffffffu);
#ifdef __SSE4_2__
  if (kHasAvx) release_upper_halves();
#endif
  return crc;
}

}  // namespace tombolo::wire
