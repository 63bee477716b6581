#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tombolo::dataplane {

/// Network byte order, at any alignment.
inline std::uint16_t get16(const std::byte* at) {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(at[0]) << 8 | std::to_integer<unsigned>(at[1]));
}
inline std::uint32_t get32(const std::byte* at) { return std::uint32_t{get16(at)} << 16 | get16(at + 2); }
inline std::uint64_t get48(const std::byte* at) { return std::uint64_t{get16(at)} << 32 | get32(at + 2); }

/// One store each: what is written here is soon read by wider loads, which wait for a value that came in
/// pieces.
inline void put16(std::byte* at, std::uint32_t value) {
  auto low = static_cast<std::uint16_t>(value);
  if constexpr (std::endian::native == std::endian::little) low = __builtin_bswap16(low);
  std::memcpy(at, &low, sizeof low);
}
inline void put32(std::byte* at, std::uint32_t value) {
  if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap32(value);
  std::memcpy(at, &value, sizeof value);
}
inline void put64(std::byte* at, std::uint64_t value) {
  if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap64(value);
  std::memcpy(at, &value, sizeof value);
}
inline void put48(std::byte* at, std::uint64_t value) {
  put16(at, static_cast<std::uint32_t>(value >> 32));
  put32(at + 2, static_cast<std::uint32_t>(value));
}

}  // namespace tombolo::dataplane
