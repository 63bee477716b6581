#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/wire/header.h"

namespace tombolo::fold {

/// Elements that share a scale in the Microscaling formats.
inline constexpr std::size_t kMxBlockElements = 32;

constexpr bool is_mx(wire::Format format) {
  return format == wire::Format::kMxInt8 || format == wire::Format::kMxFp8E4M3 ||
         format == wire::Format::kMxFp8E5M2;
}

/// Whether the values are floating-point numbers (all formats but int32).
constexpr bool is_floating(wire::Format format) {
  return is_mx(format) || format == wire::Format::kFp32 || format == wire::Format::kBf16 ||
         format == wire::Format::kFp16;
}

/// Bytes of one element, without what it shares with others.
constexpr std::size_t element_bytes(wire::Format format) {
  if (format == wire::Format::kFp32 || format == wire::Format::kInt32) return 4;
  return is_mx(format) ? 1 : 2;
}

/// Bytes that `elements` elements take in a payload; 0 for a format that does not exist. In a Microscaling
/// payload of b = ceil(elements / 32) blocks, 32 b bytes of elements come first and b bytes of scales behind
/// them: where the payload is aligned, the elements are.
std::size_t payload_bytes(wire::Format format, std::size_t elements);

/// What a fold or an encoding came across.
struct Findings {
  /// Floating point: a fold ended in a NaN or an infinity before its division; for minimum and maximum: an
  /// input was one. Encoding: a value was one.
  bool non_finite = false;
  /// Results that int32 or a Microscaling element cannot hold and that became the nearest that it can.
  std::uint64_t saturated = 0;
};

struct NonFinite {
  std::uint64_t nan = 0;
  std::uint64_t infinity = 0;
};

/// Counts the elements of a payload that are no number. For the rare chunk whose fold found something.
NonFinite count_non_finite(wire::Format format, const std::byte* payload, std::size_t elements);

/// Copies a payload with a zero in place of each NaN and infinity. `out` may be `payload`.
void replace_non_finite(wire::Format format, const std::byte* payload, std::size_t elements, std::byte* out);

/// Writes fp32 values in a format, rounded to nearest even; NUMERICS.md says what becomes of values that do
/// not fit. `out` has payload_bytes(format, elements) bytes; the padding of a last block becomes zeros. A NaN
/// becomes the integer 0.
void encode(wire::Format format, const float* values, std::size_t elements, std::byte* out,
            Findings* findings = nullptr);

/// Reads a payload as fp32 values: exact for all floating formats, except that every NaN becomes the
/// canonical one and that a Microscaling value beyond fp32 becomes an infinity. int32 is rounded to nearest
/// even.
void decode(wire::Format format, const std::byte* payload, std::size_t elements, float* values);

}  // namespace tombolo::fold
