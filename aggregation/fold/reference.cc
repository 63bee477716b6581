#include "aggregation/fold/reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "aggregation/fold/element.h"
#include "base/check.h"

namespace tombolo::fold {
namespace {

using wire::Format;
using wire::Operation;

bool is_partial(const Call& call, std::size_t input) { return (call.partial_inputs >> input & 1) != 0; }

/// The lesser of two numbers; minus zero is less than zero, and a NaN wins.
float minimum(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return canonical_nan();
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

float maximum(float a, float b) { return -minimum(-a, -b); }

/// The accumulator of one element after all inputs.
float fold_element(const Kind& kind, const Call& call, std::size_t element, bool& non_finite) {
  float sum = 0;
  for (std::size_t input = 0; input < call.input_count; ++input) {
    const bool partial = is_partial(call, input);
    const float value =
        element_value(partial ? kind.partial : kind.input, call.inputs[input], call.elements, element);
    const bool first = input == 0;
    switch (kind.operation) {
      case Operation::kMin:
        sum = first ? value : minimum(sum, value);
        non_finite = non_finite || !std::isfinite(value);
        break;
      case Operation::kMax:
        sum = first ? value : maximum(sum, value);
        non_finite = non_finite || !std::isfinite(value);
        break;
      case Operation::kWeighted:
        if (partial)
          sum = first ? value : sum + value;
        else
          sum = first ? call.weights[0] * value : std::fma(call.weights[input], value, sum);
        break;
      default:
        sum = first ? value : sum + value;
    }
  }
  non_finite = non_finite || !std::isfinite(sum);
  if (kind.operation == Operation::kMean && kind.finish) sum /= static_cast<float>(call.divisor);
  // Which NaN an operation returns depends on the order of its operands, which compilers are free to swap.
  return std::isnan(sum) ? canonical_nan() : sum;
}

/// The quotient that is nearest, ties to the even one.
std::int64_t divide(std::int64_t sum, std::int64_t divisor) {
  std::int64_t quotient = sum / divisor;
  std::int64_t rest = sum % divisor;
  if (rest < 0) {  // Floor and a rest of 0 or more, where C++ truncates.
    quotient -= 1;
    rest += divisor;
  }
  const bool up = 2 * rest > divisor || (2 * rest == divisor && quotient % 2 != 0);
  return up ? quotient + 1 : quotient;
}

std::int64_t int32_at(const Call& call, std::size_t input, std::size_t element) {
  std::int32_t value = 0;
  std::memcpy(&value, call.inputs[input] + element * sizeof value, sizeof value);
  return value;
}

void fold_int32(const Kind& kind, const Call& call, Findings& findings) {
  for (std::size_t element = 0; element < call.elements; ++element) {
    std::int64_t sum = int32_at(call, 0, element);
    for (std::size_t input = 1; input < call.input_count; ++input) {
      const std::int64_t value = int32_at(call, input, element);
      if (kind.operation == Operation::kMin)
        sum = std::min(sum, value);
      else if (kind.operation == Operation::kMax)
        sum = std::max(sum, value);
      else
        sum += value;
    }
    if (kind.operation == Operation::kMean && kind.finish) sum = divide(sum, call.divisor);
    const auto result = static_cast<std::int32_t>(std::clamp<std::int64_t>(
        sum, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
    findings.saturated += result != sum ? 1 : 0;
    std::memcpy(call.out + element * sizeof result, &result, sizeof result);
  }
}

}  // namespace

void reference_fold(const Kind& kind, const Call& call) {
  CHECK(call.input_count >= 1 && call.input_count <= kMaxInputs);
  Findings findings;
  if (kind.input == Format::kInt32) {
    fold_int32(kind, call, findings);
  } else {
    std::array<float, kMxBlockElements> block;
    for (std::size_t first = 0; first < call.elements; first += kMxBlockElements) {
      const std::size_t count = std::min(call.elements - first, kMxBlockElements);
      for (std::size_t i = 0; i < count; ++i)
        block[i] = fold_element(kind, call, first + i, findings.non_finite);
      findings.saturated +=
          write_block(output_format(kind), block.data(), count, first, call.elements, call.out);
    }
  }
  if (call.findings != nullptr) *call.findings = findings;
}

}  // namespace tombolo::fold
