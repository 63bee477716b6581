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
  if (!is_floating(format)) return found;
  for (std::size_t i = 0; i < elements; ++i) {
    const float value = element_value(format, payload, elements, i);
    found.nan += std::isnan(value) ? 1 : 0;
    found.infinity += std::isinf(value) ? 1 : 0;
  }
  return found;
}

void replace_non_finite(Format format, const std::byte* payload, std::size_t elements, std::byte* out) {
  std::memmove(out, payload, payload_bytes(format, elements));
  if (!is_floating(format)) return;
  const std::size_t size = element_bytes(format);
  for (std::size_t i = 0; i < elements; ++i)
    if (!std::isfinite(element_value(format, out, elements, i))) std::memset(out + size * i, 0, size);
  if (!is_mx(format)) return;
  // Blocks that were all NaN are all zero by now, and want a scale that is a number.
  const std::size_t blocks = (elements + kMxBlockElements - 1) / kMxBlockElements;
  std::byte* const scales = out + blocks * kMxBlockElements;
  std::replace(scales, scales + blocks, std::byte{kNanScale}, static_cast<std::byte>(kScaleBias));
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
