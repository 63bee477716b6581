#pragma once

#include <cstddef>
#include <cstdint>

#include "aggregation/fold/format.h"
#include "aggregation/fold/outside.h"
#include "aggregation/fold/vector_scale.h"
#include "protocol/wire/header.h"

/// From fp32 to the Microscaling formats, and the arithmetic of small formats, over vectors; vector_fold.h
/// says how these files are compiled.
namespace tombolo::fold {
namespace {

/// Converts `count` fp32 values (aligned, readable up to the next whole block of 128, zeros behind the last)
/// and writes them into a payload of `elements` elements from `first` on. Returns how many were saturated.
using Encoder = std::size_t (*)(const std::byte* values, std::size_t count, std::size_t first,
                                std::size_t elements, std::byte* out);

/// The codes of a format of 1 + exponent_bits + mantissa_bits bits without its sign, for magnitudes within
/// its numbers; or for any where it has infinities: what is beyond the largest number becomes one.
template <typename V, int exponent_bits, int mantissa_bits, bool has_infinity>
[[gnu::always_inline]] inline typename V::U encode_magnitude(typename V::F magnitude) {
  using U = typename V::U;
  constexpr int kBias = (1 << (exponent_bits - 1)) - 1;
  constexpr int kShift = 23 - mantissa_bits;
  constexpr float kLeastNormal = power_of_two(1 - kBias);
  // Floats of this size are whole multiples of the least subnormal: adding it rounds as the format does.
  constexpr float kSubnormals = power_of_two(23 + 1 - kBias - mantissa_bits);
  constexpr auto kInfinity = static_cast<std::uint32_t>(((1 << exponent_bits) - 1) << mantissa_bits);
  const U bits = V::bits(magnitude);
  const U odd = bits >> kShift & 1;
  const U rounded = (bits + ((1U << (kShift - 1)) - 1) + odd) >> kShift;
  const U normal = rounded - (static_cast<std::uint32_t>(127 - kBias) << mantissa_bits);
  U bounded = normal;
  if constexpr (has_infinity) bounded = normal > kInfinity ? V::all_bits(kInfinity) : normal;
  const U subnormal = V::bits(magnitude + kSubnormals) - std::bit_cast<std::uint32_t>(kSubnormals);
  return magnitude < kLeastNormal ? subnormal : bounded;
}

/// The codes of finite values times `inverse`, and -1 in each lane that was saturated.
template <typename V, wire::Format format>
[[gnu::always_inline]] inline typename V::U encode_scaled(typename V::F value, typename V::I& saturated) {
  using F = typename V::F;
  using U = typename V::U;
  constexpr std::uint32_t kSign = 0x80000000;
  constexpr float kLargest = format == wire::Format::kMxInt8      ? 127
                             : format == wire::Format::kMxFp8E4M3 ? 448
                                                                  : 57344;
  if constexpr (format == wire::Format::kMxInt8) value = value * 64.0F;
  const U sign = V::bits(value) & kSign;
  F magnitude = V::floats(V::bits(value) & ~kSign);
  saturated += magnitude > kLargest;
  magnitude = magnitude > kLargest ? V::all(kLargest) : magnitude;
  if constexpr (format == wire::Format::kMxInt8) {
    constexpr float kWhole = 0x1.8p23F;  // Floats of this size are whole numbers: adding it rounds.
    const F signed_value = V::floats(V::bits(magnitude) | sign);
    return V::bits(signed_value + kWhole) - std::bit_cast<std::uint32_t>(kWhole);
  } else if constexpr (format == wire::Format::kMxFp8E4M3) {
    return encode_magnitude<V, 4, 3, false>(magnitude) | sign >> 24;
  } else {
    return encode_magnitude<V, 5, 2, true>(magnitude) | sign >> 24;
  }
}

/// The Microscaling formats: the padding of the last block becomes zeros like the values behind the last.
template <typename V, wire::Format format>
[[gnu::noinline]] std::size_t encode_mx(const std::byte* values, std::size_t count, std::size_t first,
                                        std::size_t elements, std::byte* out) {
  using F = typename V::F;
  using U = typename V::U;
  constexpr std::size_t kVectors = kMxBlockElements / V::kWidth;
  constexpr std::uint32_t kInfinity = 0x7f800000;
  constexpr std::uint32_t kEmax = format == wire::Format::kMxInt8      ? 0
                                  : format == wire::Format::kMxFp8E4M3 ? 8
                                                                       : 15;
  constexpr std::uint32_t kOne = 127;  // The scale of a block of zeros.
  std::byte* const scales = out + (elements + kMxBlockElements - 1) / kMxBlockElements * kMxBlockElements +
                            first / kMxBlockElements;
  typename V::I saturated{};
  std::size_t rare = 0;
  for (std::size_t i = 0; i < count; i += kMxBlockElements) {
    U largest{};
    for (std::size_t j = 0; j < kVectors; ++j) {
      const U magnitude = V::template load<U>(values + (i + j * V::kWidth) * 4) & 0x7fffffff;
      largest = magnitude > largest ? magnitude : largest;
    }
    const std::uint32_t greatest = V::greatest(largest);
    if (greatest >= kInfinity) [[unlikely]] {
      rare += write_rare_block(format, values + i * 4,
                               count - i < kMxBlockElements ? count - i : kMxBlockElements, first + i,
                               elements, out);
      continue;
    }
    const std::uint32_t exponent = greatest >> 23;
    const std::uint32_t scale = greatest == 0 ? kOne : exponent > kEmax ? exponent - kEmax : 0;
    scales[i / kMxBlockElements] = static_cast<std::byte>(scale);
    const float inverse = kInverseScales.value[scale];
    for (std::size_t j = 0; j < kVectors; ++j) {
      const F value = V::template load<F>(values + (i + j * V::kWidth) * 4);
      V::store_bytes(out + first + i + j * V::kWidth, encode_scaled<V, format>(value * inverse, saturated));
    }
  }
  for (std::size_t lane = 0; lane < V::kWidth; ++lane) rare += static_cast<std::size_t>(-saturated[lane]);
  return rare;
}

template <typename V>
constexpr Encoder encoder_of(wire::Format format) {
  switch (format) {
    case wire::Format::kMxInt8:
      return encode_mx<V, wire::Format::kMxInt8>;
    case wire::Format::kMxFp8E4M3:
      return encode_mx<V, wire::Format::kMxFp8E4M3>;
    case wire::Format::kMxFp8E5M2:
      return encode_mx<V, wire::Format::kMxFp8E5M2>;
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace tombolo::fold
