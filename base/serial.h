#pragma once

#include <cstdint>

namespace tombolo {

/// Comparison of 32-bit numbers that wrap (RFC 1982): a is before b if the way forward from a to b
/// is shorter than the way back.
constexpr bool serial_before(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a - b) < 0;
}

/// The distance forward from a to b; negative if b is before a.
constexpr std::int32_t serial_distance(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(b - a);
}

}  // namespace tombolo
