#include "aggregation/fold/element.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "aggregation/fold/format.h"
#include "base/check.h"

namespace tombolo::fold {
namespace {

using wire::Format;

/// MXINT8: a two's complement integer in units of 2^-6; -128 is read but never written.
constexpr double kInt8Unit = 0x1p-6;
constexpr double kInt8Largest = 127;

const SmallFloat& small_float(Format format) {
  switch (format) {
    case Format::kBf16:
      return kBf16;
    case Format::kFp16:
      return kFp16;
    case Format::kMxFp8E4M3:
      return kE4M3;
    default:
      CHECK(format == Format::kMxFp8E5M2);
      return kE5M2;
  }
}

/// The exponent of an element's largest power of two, by which a block's scale is chosen.
int largest_exponent(Format format) {
  return format == Format::kMxInt8 ? 0 : std::ilogb(small_float(format).largest());
}

std::size_t blocks_of(std::size_t elements) { return (elements + kMxBlockElements - 1) / kMxBlockElements; }

/// Where the scale of the block of element i lies.
std::size_t scale_offset(std::size_t elements, std::size_t i) {
  return blocks_of(elements) * kMxBlockElements + i / kMxBlockElements;
}

double mx_element(Format format, std::uint8_t code) {
  if (format == Format::kMxInt8) return static_cast<std::int8_t>(code) * kInt8Unit;
  return small_float(format).decode(code);
}

/// floor(log2(largest magnitude)) - largest exponent of an element, as OCP Microscaling v1.0 (6.3) has it;
/// NaNs and infinities have no say. 0 where there is nothing else than zeros.
int shared_exponent(Format format, const float* values, std::size_t count) {
  float largest = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (std::isfinite(values[i])) largest = std::max(largest, std::fabs(values[i]));
  if (largest == 0) return 0;
  return std::max(std::ilogb(largest) - largest_exponent(format), -kScaleBias);
}

std::size_t write_mx_block(Format format, const float* values, std::size_t count, std::byte* elements,
                           std::byte* scale) {
  std::memset(elements, 0, kMxBlockElements);
  const bool all_finite = std::all_of(values, values + count, [](float v) { return std::isfinite(v); });
  if (format == Format::kMxInt8 && !all_finite) {
    *scale = std::byte{kNanScale};
    return 0;
  }
  const int exponent = shared_exponent(format, values, count);
  *scale = static_cast<std::byte>(exponent + kScaleBias);
  std::size_t saturated = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double scaled = std::ldexp(static_cast<double>(values[i]), -exponent);  // Exact.
    if (format == Format::kMxInt8) {
      const double units = scaled / kInt8Unit;
      saturated += std::fabs(units) > kInt8Largest ? 1 : 0;
      const double code = std::nearbyint(std::clamp(units, -kInt8Largest, kInt8Largest));
      elements[i] = static_cast<std::byte>(static_cast<int>(code));
    } else {
      const SmallFloat& small = small_float(format);
      saturated += std::isfinite(scaled) && std::fabs(scaled) > small.largest() ? 1 : 0;
      elements[i] = static_cast<std::byte>(small.encode(scaled, true));
    }
  }
  return saturated;
}

}  // namespace

double SmallFloat::largest() const {
  const std::uint32_t top = (1U << (exponent_bits + mantissa_bits)) - 1;  // All ones without the sign.
  return decode(has_infinity ? top - (1U << mantissa_bits) : top - 1);
}

double SmallFloat::decode(std::uint32_t code) const {
  const std::uint32_t mantissa = code & ((1U << mantissa_bits) - 1);
  const std::uint32_t exponent = code >> mantissa_bits & ((1U << exponent_bits) - 1);
  const bool negative = code >> (exponent_bits + mantissa_bits) != 0;
  const bool top_exponent = exponent == (1U << exponent_bits) - 1;
  double magnitude = 0;
  if (top_exponent && (has_infinity ? mantissa != 0 : mantissa == (1U << mantissa_bits) - 1))
    return std::numeric_limits<double>::quiet_NaN();
  if (top_exponent && has_infinity)
    magnitude = std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(mantissa, 1 - bias() - mantissa_bits);
  else
    magnitude =
        std::ldexp((1U << mantissa_bits) + mantissa, static_cast<int>(exponent) - bias() - mantissa_bits);
  return negative ? -magnitude : magnitude;
}

std::uint32_t SmallFloat::encode(double value, bool saturate) const {
  if (std::isnan(value) || (std::isinf(value) && !has_infinity)) return canonical_nan;
  const std::uint32_t sign = std::signbit(value) ? 1U << (exponent_bits + mantissa_bits) : 0;
  const std::uint32_t infinity = ((1U << exponent_bits) - 1) << mantissa_bits;
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | infinity;
  if (magnitude > largest() && (saturate || !has_infinity)) magnitude = largest();
  // The distance of neighbours at this magnitude: dividing by it is exact, and only nearbyint rounds.
  const int exponent = magnitude == 0 ? 1 - bias() : std::max(std::ilogb(magnitude), 1 - bias());
  const double units = std::nearbyint(std::ldexp(magnitude, mantissa_bits - exponent));
  // Codes of one sign count upwards without a gap, so what rounds up to the next power of two lands there.
  const auto code = (static_cast<std::uint32_t>(exponent + bias() - 1) << mantissa_bits) +
                    static_cast<std::uint32_t>(units);
  return sign | std::min(code, has_infinity ? infinity : code);
}

float element_value(Format format, const std::byte* payload, std::size_t elements, std::size_t i) {
  double value = 0;
  if (format == Format::kFp32) {
    float bits = 0;
    std::memcpy(&bits, payload + 4 * i, 4);
    return bits;
  }
  if (is_mx(format)) {
    const auto scale = static_cast<std::uint8_t>(payload[scale_offset(elements, i)]);
    if (scale == kNanScale) return canonical_nan();
    value = std::ldexp(mx_element(format, static_cast<std::uint8_t>(payload[i])), scale - kScaleBias);
  } else {
    std::uint16_t code = 0;
    std::memcpy(&code, payload + 2 * i, 2);
    value = small_float(format).decode(code);
  }
  return std::isnan(value) ? canonical_nan() : static_cast<float>(value);
}

std::size_t write_block(Format format, const float* values, std::size_t count, std::size_t first,
                        std::size_t elements, std::byte* payload) {
  CHECK(count <= kMxBlockElements);
  if (format == Format::kFp32) {
    for (std::size_t i = 0; i < count; ++i) {
      const float value = std::isnan(values[i]) ? canonical_nan() : values[i];
      std::memcpy(payload + 4 * (first + i), &value, 4);
    }
    return 0;
  }
  if (is_mx(format)) {
    CHECK(first % kMxBlockElements == 0);
    return write_mx_block(format, values, count, payload + first, payload + scale_offset(elements, first));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto code = static_cast<std::uint16_t>(small_float(format).encode(values[i], false));
    std::memcpy(payload + 2 * (first + i), &code, 2);
  }
  return 0;
}

}  // namespace tombolo::fold
