#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "protocol/wire/header.h"

/// The number formats as their definitions say, one element at a time. Nothing here is quick: the kernels
/// have code of their own, and tests hold the two against each other.
namespace tombolo::fold {

/// The bits of the one NaN that an fp32 result can hold: quiet, positive, no payload.
inline constexpr std::uint32_t kCanonicalNan = 0x7fc00000;

inline float canonical_nan() { return std::bit_cast<float>(kCanonicalNan); }

/// A binary format of sign, exponent and mantissa with subnormals, as IEEE 754 describes them.
struct SmallFloat {
  int exponent_bits = 0;
  int mantissa_bits = 0;
  bool has_infinity = true;  ///< If not, the highest exponent holds numbers and only all ones are NaN (E4M3).
  std::uint32_t canonical_nan = 0;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  double largest() const;
  /// The exact value of a code; NaN codes give the canonical NaN.
  double decode(std::uint32_t code) const;
  /// The code of the nearest value, ties to the even one. Beyond the largest value: the infinity, or the
  /// largest where `saturate` is set or there is no infinity. A NaN gives canonical_nan, and so does an
  /// infinity in a format without.
  std::uint32_t encode(double value, bool saturate) const;
};

inline constexpr SmallFloat kBf16{8, 7, true, 0x7fc0};
inline constexpr SmallFloat kFp16{5, 10, true, 0x7e00};
inline constexpr SmallFloat kE4M3{4, 3, false, 0x7f};
inline constexpr SmallFloat kE5M2{5, 2, true, 0x7e};

/// The scale of a block that is all NaN.
inline constexpr std::uint8_t kNanScale = 0xff;
/// A scale s means 2^(s - kScaleBias).
inline constexpr int kScaleBias = 127;

/// Element i of a payload of `elements` elements in a floating format, as fp32.
float element_value(wire::Format format, const std::byte* payload, std::size_t elements, std::size_t i);

/// Writes values into a payload of `elements` elements from element `first` on, one Microscaling block or
/// less: `first` is a multiple of 32 there. Returns how many were saturated.
std::size_t write_block(wire::Format format, const float* values, std::size_t count, std::size_t first,
                        std::size_t elements, std::byte* payload);

}  // namespace tombolo::fold
