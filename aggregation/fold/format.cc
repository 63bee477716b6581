#include "aggregation/fold/format.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "aggregation/fold/element.h"
#include "aggregation/fold/kernel.h"
#include "base/check.h"

namespace tombolo::fold {
namespace {

using wire::Format;

/// The least scale at which an element can be beyond fp32: 57344 x 2^113, of E5M2; the scale of a NaN is
/// above.
constexpr std::uint8_t kLeastOverflowingScale = 113 + kScaleBias;

std::size_t scale_offset(std::size_t elements, std::size_t first) {
  return (elements + kMxBlockElements - 1) / kMxBlockElements * kMxBlockElements + first / kMxBlockElements;
}

std::uint8_t scale_of(const std::byte* payload, std::size_t elements, std::size_t first) {
  return static_cast<std::uint8_t>(payload[scale_offset(elements, first)]);
}

std::int32_t to_int32(float value) {
  constexpr auto kLowest = static_cast<double>(std::numeric_limits<std::int32_t>::min());
  constexpr auto kHighest = static_cast<double>(std::numeric_limits<std::int32_t>::max());
  if (std::isnan(value)) return 0;
  return static_cast<std::int32_t>(std::nearbyint(std::clamp(static_cast<double>(value), kLowest, kHighest)));
}

void encode_int32(const float* values, std::size_t elements, std::byte* out, Findings& findings) {
  for (std::size_t i = 0; i < elements; ++i) {
    const std::int32_t code = to_int32(values[i]);
    std::memcpy(out + 4 * i, &code, 4);
    if (!std::isfinite(values[i])) findings.non_finite = true;
    // 2^31 is the first float beyond what int32 holds.
    findings.saturated += values[i] >= 0x1p31F || values[i] < -0x1p31F ? 1 : 0;
  }
}

/// Codes without their sign bit that stand above and at the infinity.
template <typename Code, Code infinity>
NonFinite count_codes(const std::byte* at, std::size_t count) {
  constexpr auto kSign = static_cast<Code>(Code{1} << (8 * sizeof(Code) - 1));
  std::uint32_t nan = 0;
  std::uint32_t infinite = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Code code = 0;
    std::memcpy(&code, at + i * sizeof code, sizeof code);
    code = static_cast<Code>(code & ~kSign);
    nan += code > infinity ? 1 : 0;
    infinite += code == infinity ? 1 : 0;
  }
  return {nan, infinite};
}

/// Elements of a block that the scale makes what they are: all of one that is NaN, and those that overflow.
NonFinite count_by_value(Format format, const std::byte* payload, std::size_t elements, std::size_t first,
                         std::size_t count) {
  NonFinite found;
  for (std::size_t i = first; i < first + count; ++i) {
    const float value = element_value(format, payload, elements, i);
    found.nan += std::isnan(value) ? 1 : 0;
    found.infinity += std::isinf(value) ? 1 : 0;
  }
  return found;
}

/// Counts among up to 32 elements from `first` on, by their codes where these say it all.
NonFinite count_in_block(Format format, const std::byte* payload, std::size_t elements, std::size_t first,
                         std::size_t count) {
  const std::byte* const at = payload + first * element_bytes(format);
  switch (format) {
    case Format::kFp32:
      return count_codes<std::uint32_t, 0x7f800000>(at, count);
    case Format::kBf16:
      return count_codes<std::uint16_t, 0x7f80>(at, count);
    case Format::kFp16:
      return count_codes<std::uint16_t, 0x7c00>(at, count);
    default:
      if (!is_mx(format)) return {};
  }
  if (scale_of(payload, elements, first) >= kLeastOverflowingScale)
    return count_by_value(format, payload, elements, first, count);
  if (format == Format::kMxFp8E5M2) return count_codes<std::uint8_t, 0x7c>(at, count);
  if (format == Format::kMxFp8E4M3) return {count_codes<std::uint8_t, 0x7e>(at, count).nan, 0};
  return {};
}

/// Another format is what the sum of one input gives, and the kernels are quick at it.
void fold_one(Format from, const std::byte* payload, std::size_t elements, Format to, std::byte* out,
              Findings* findings) {
  const FoldFunction fold =
      select({.input = from, .output = to, .operation = wire::Operation::kSum}, *choose_instruction_set(""));
  CHECK(fold != nullptr);
  fold({.inputs = &payload, .input_count = 1, .elements = elements, .out = out, .findings = findings});
}

}  // namespace

std::size_t payload_bytes(Format format, std::size_t elements) {
  if (is_mx(format)) {
    const std::size_t blocks = (elements + kMxBlockElements - 1) / kMxBlockElements;
    return blocks * (kMxBlockElements + 1);
  }
  return is_floating(format) || format == Format::kInt32 ? elements * element_bytes(format) : 0;
}

NonFinite count_non_finite(Format format, const std::byte* payload, std::size_t elements) {
  NonFinite found;
  for (std::size_t first = 0; first < elements; first += kMxBlockElements) {
    const NonFinite more =
        count_in_block(format, payload, elements, first, std::min(elements - first, kMxBlockElements));
    found.nan += more.nan;
    found.infinity += more.infinity;
  }
  return found;
}

void replace_non_finite(Format format, const std::byte* payload, std::size_t elements, std::byte* out) {
  std::memmove(out, payload, payload_bytes(format, elements));
  const std::size_t size = element_bytes(format);
  for (std::size_t first = 0; first < elements; first += kMxBlockElements) {
    const std::size_t count = std::min(elements - first, kMxBlockElements);
    const NonFinite found = count_in_block(format, out, elements, first, count);
    if (found.nan + found.infinity == 0) continue;
    for (std::size_t i = first; i < first + count; ++i)
      if (!std::isfinite(element_value(format, out, elements, i))) std::memset(out + size * i, 0, size);
    // A block that was all NaN is all zero by now, and wants a scale that is a number.
    if (is_mx(format) && scale_of(out, elements, first) == kNanScale)
      out[scale_offset(elements, first)] = static_cast<std::byte>(kScaleBias);
  }
}

void encode(Format format, const float* values, std::size_t elements, std::byte* out, Findings* findings) {
  if (format == Format::kInt32) {
    Findings found;
    encode_int32(values, elements, out, found);
    if (findings != nullptr) *findings = found;
    return;
  }
  fold_one(Format::kFp32, reinterpret_cast<const std::byte*>(values), elements, format, out, findings);
}

void decode(Format format, const std::byte* payload, std::size_t elements, float* values) {
  if (format != Format::kInt32) {
    fold_one(format, payload, elements, Format::kFp32, reinterpret_cast<std::byte*>(values), nullptr);
    return;
  }
  for (std::size_t i = 0; i < elements; ++i) {
    std::int32_t code = 0;
    std::memcpy(&code, payload + 4 * i, 4);
    values[i] = static_cast<float>(code);
  }
}

}  // namespace tombolo::fold
