#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tombolo {

/// Number formats of an update, a partial or a result. The values are those of the wire.
enum class NumberFormat : std::uint8_t {
  kNone = 0,
  kFp32 = 1,
  kBf16 = 2,
  kFp16 = 3,
  kInt32 = 4,
  kMxInt8 = 5,  ///< OCP Microscaling v1.0, like the next two: blocks of 32 elements that share a scale.
  kMxFp8E4M3 = 6,
  kMxFp8E5M2 = 7,
};
inline constexpr std::size_t kNumberFormats = 8;

/// The smallest whole piece of an array: one element, or one block with its scale. 0 bytes: no such format.
struct FormatUnit {
  std::uint8_t bytes = 0;
  std::uint8_t elements = 0;
};

constexpr FormatUnit unit_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::kFp32:
    case NumberFormat::kInt32:
      return {4, 1};
    case NumberFormat::kBf16:
    case NumberFormat::kFp16:
      return {2, 1};
    case NumberFormat::kMxInt8:
    case NumberFormat::kMxFp8E4M3:
    case NumberFormat::kMxFp8E5M2:
      return {33, 32};
    case NumberFormat::kNone:
      break;
  }
  return {};
}

/// Bytes that so many elements take; the last block is padded and counts whole. 0 for kNone.
constexpr std::uint64_t encoded_bytes(NumberFormat format, std::uint64_t elements) {
  const FormatUnit unit = unit_of(format);
  return unit.bytes == 0 ? 0 : (elements + unit.elements - 1) / unit.elements * unit.bytes;
}

/// The most elements, in whole blocks, that so many bytes hold; 0 for kNone.
constexpr std::uint64_t elements_within(NumberFormat format, std::uint64_t bytes) {
  const FormatUnit unit = unit_of(format);
  return unit.bytes == 0 ? 0 : bytes / unit.bytes * unit.elements;
}

/// Chunks have whole blocks, whatever the format.
inline constexpr std::uint32_t kChunkElementStep = 32;

/// The largest chunk, in elements, of which a packet of that payload carries the contribution as well as the
/// partial and the result, whichever of the formats they are in. The formats are none of them kNone.
std::uint32_t chunk_elements_for(std::span<const NumberFormat> formats, std::uint32_t payload);

/// "fp32", "bf16", "fp16", "int32", "mxint8", "mxfp8_e4m3", "mxfp8_e5m2"; "none".
std::string_view name(NumberFormat format);
/// The format of that name; nothing for any other text, "none" among them.
std::optional<NumberFormat> number_format(std::string_view name);
/// All names, for a message: "fp32, bf16, ...".
std::string_view number_format_names();

/// What a fold does with a contribution that holds a value that is not finite.
enum class NonFinitePolicy : std::uint8_t {
  kPropagate = 0,  ///< Nothing: the result shows it.
  kZero = 1,       ///< Such values count as zero.
  kReject = 2,     ///< That member's chunk is left out, and the outcome names it.
};
inline constexpr std::size_t kNonFinitePolicies = 3;

/// "propagate", "zero", "reject".
std::string_view name(NonFinitePolicy policy);
std::optional<NonFinitePolicy> non_finite_policy(std::string_view name);

}  // namespace tombolo
