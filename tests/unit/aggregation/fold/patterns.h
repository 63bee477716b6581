#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

#include "aggregation/fold/format.h"
#include "base/random.h"

namespace tombolo::fold {

inline std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
inline float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }

inline constexpr wire::Format kFloatingFormats[] = {wire::Format::kFp32,      wire::Format::kBf16,
                                                    wire::Format::kFp16,      wire::Format::kMxInt8,
                                                    wire::Format::kMxFp8E4M3, wire::Format::kMxFp8E5M2};

/// What random payloads are made of. Kinds apart, because sums of values of any size hardly round and any NaN
/// hides the rest.
enum class Pattern {
  kComparable,  ///< Values of like size, whose sums round at every step.
  kAnyBits,
  kSpecial,  ///< Zeros of both signs, subnormals, the largest numbers, infinities, NaNs; finite by three
             ///< quarters.
  kFinite,   ///< Special ones without infinities and NaNs.
};
inline constexpr Pattern kPatterns[] = {Pattern::kComparable, Pattern::kAnyBits, Pattern::kSpecial,
                                        Pattern::kFinite};

/// A code of `exponent_bits` and `mantissa_bits`, with a sign.
inline std::uint32_t random_code(Random& random, Pattern pattern, int exponent_bits, int mantissa_bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(random.below(2)) << (exponent_bits + mantissa_bits);
  const std::uint32_t mantissa = static_cast<std::uint32_t>(random.bits()) & ((1U << mantissa_bits) - 1);
  const std::uint32_t top = (1U << exponent_bits) - 1;
  const std::uint32_t all_ones = (1U << mantissa_bits) - 1;
  std::uint32_t exponent = 0;
  switch (pattern) {
    case Pattern::kComparable:
      exponent = top / 2 - 3 + static_cast<std::uint32_t>(random.below(7));
      return sign | exponent << mantissa_bits | mantissa;
    case Pattern::kAnyBits:
      return sign | (static_cast<std::uint32_t>(random.bits()) & top) << mantissa_bits | mantissa;
    default: {
      const std::uint32_t codes[] = {0,
                                     0,
                                     1,
                                     all_ones,                                 // The largest subnormal.
                                     1U << mantissa_bits,                      // The smallest normal number.
                                     ((top - 1) << mantissa_bits) | all_ones,  // The largest of IEEE formats.
                                     (top / 2) << mantissa_bits,               // One.
                                     (top / 2) << mantissa_bits | 1,
                                     top << mantissa_bits,  // Infinity.
                                     top << mantissa_bits | 1,
                                     top << mantissa_bits | all_ones};
      const bool may_be_anything = pattern == Pattern::kSpecial && random.chance(0.25);
      return sign | codes[random.below(may_be_anything ? std::size(codes) : 8)];
    }
  }
}

inline std::uint8_t random_scale(Random& random, Pattern pattern) {
  constexpr std::uint8_t kEdges[] = {0, 1, 6, 7, 119, 127, 240, 246, 247, 253, 254, 255};
  switch (pattern) {
    case Pattern::kComparable:
      return static_cast<std::uint8_t>(125 + random.below(5));
    case Pattern::kAnyBits:
      return static_cast<std::uint8_t>(random.bits());
    case Pattern::kSpecial:
      return kEdges[random.below(std::size(kEdges))];
    default:
      return kEdges[random.below(6)];
  }
}

/// A payload of `elements` elements; its padding is not zero.
inline std::vector<std::byte> random_payload(Random& random, wire::Format format, std::size_t elements,
                                             Pattern pattern) {
  std::vector<std::byte> payload(payload_bytes(format, elements));
  const auto put = [&](std::size_t at, std::uint32_t code, std::size_t size) {
    std::memcpy(payload.data() + at * size, &code, size);
  };
  const std::size_t blocks = (elements + kMxBlockElements - 1) / kMxBlockElements;
  for (std::size_t i = 0; i < (is_mx(format) ? blocks * kMxBlockElements : elements); ++i) {
    switch (format) {
      case wire::Format::kInt32:
        put(i,
            pattern == Pattern::kComparable || pattern == Pattern::kAnyBits
                ? static_cast<std::uint32_t>(random.bits())
                : 0x7ffffffe + static_cast<std::uint32_t>(random.below(4)),
            4);
        break;
      case wire::Format::kFp32:
        put(i, random_code(random, pattern, 8, 23), 4);
        break;
      case wire::Format::kBf16:
        put(i, random_code(random, pattern, 8, 7), 2);
        break;
      case wire::Format::kFp16:
        put(i, random_code(random, pattern, 5, 10), 2);
        break;
      case wire::Format::kMxInt8:
        put(i, static_cast<std::uint32_t>(random.bits()), 1);
        break;
      case wire::Format::kMxFp8E4M3:
        put(i, random_code(random, pattern, 4, 3), 1);
        break;
      default:
        put(i, random_code(random, pattern, 5, 2), 1);
    }
  }
  if (is_mx(format))
    for (std::size_t block = 0; block < blocks; ++block)
      payload[blocks * kMxBlockElements + block] = std::byte{random_scale(random, pattern)};
  return payload;
}

}  // namespace tombolo::fold
