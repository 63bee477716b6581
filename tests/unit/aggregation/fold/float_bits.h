#pragma once

#include <bit>
#include <cstdint>
#include <iterator>

#include "base/random.h"

namespace tombolo::fold {

inline std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
inline float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }

/// Columns of inputs differ in kind, because sums of values of any size hardly round and any NaN hides the
/// rest: comparable values that round at every step; any bits at all; and the special values among
/// themselves.
inline float random_float(Random& random, std::uint64_t column) {
  switch (column % 4) {
    case 0:
    case 1: {
      const auto sign_and_mantissa = static_cast<std::uint32_t>(random.bits()) & 0x807fffffU;
      const auto exponent = static_cast<std::uint32_t>(124 + random.below(7));
      return float_of(sign_and_mantissa | (exponent << 23));
    }
    case 2:
      return float_of(static_cast<std::uint32_t>(random.bits()));
    default: {
      constexpr std::uint32_t kSpecial[] = {0x00000000, 0x80000000, 0x80000000, 0x00000001, 0x80000001,
                                            0x007fffff, 0x807fffff, 0x00800000, 0x7f7fffff, 0x7f800000,
                                            0xff800000, 0x7fc00001, 0xffc12345, 0x7f800001};
      // Infinities and NaNs only in every fourth of these columns, or every sum would be one.
      const std::uint64_t choices = column % 16 == 3 ? std::size(kSpecial) : 8;
      return float_of(kSpecial[random.below(choices)]);
    }
  }
}

}  // namespace tombolo::fold
