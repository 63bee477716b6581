#include "aggregation/fold/kernel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "aggregation/fold/reference.h"
#include "base/check.h"

namespace tombolo::fold {
namespace {

/// Inputs of one pass. Each is a pointer that the loop holds, so more would only spill.
constexpr std::size_t kBlockInputs = 16;

/// A float at any address, whatever type the bytes were written as.
using AnyFloat [[gnu::aligned(1), gnu::may_alias]] = float;

/// What a pass does with its sums: the last one of a fold finishes them.
enum class Pass { kAccumulate, kFinishSum, kFinishMean };

float canonical(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits & 0x7fffffff) > 0x7f800000 ? kCanonicalNan : bits);
}

/// Folds the inputs in one pass. `out` may be the first one: element i is read before it is written and never
/// again, so the iterations stay independent, which is all that ivdep asserts.
template <Pass pass, std::size_t First, std::size_t... Rest>
void fold_elements(const std::byte* const* inputs, std::size_t elements, float count, std::byte* out_bytes,
                   std::index_sequence<First, Rest...>) {
  const AnyFloat* const input[] = {reinterpret_cast<const AnyFloat*>(inputs[First]),
                                   reinterpret_cast<const AnyFloat*>(inputs[Rest])...};
  AnyFloat* const out = reinterpret_cast<AnyFloat*>(out_bytes);  // Not auto, which forgets the attributes.
#pragma GCC ivdep
  for (std::size_t i = 0; i < elements; ++i) {
    float value = input[First][i];
    ((value += input[Rest][i]), ...);
    if constexpr (pass == Pass::kFinishMean) value /= count;
    if constexpr (pass != Pass::kAccumulate) value = canonical(value);
    out[i] = value;
  }
}

using PassFunction = void (*)(const std::byte* const* inputs, std::size_t elements, float count,
                              std::byte* out);

template <Pass pass, std::size_t input_count>
void fold_pass(const std::byte* const* inputs, std::size_t elements, float count, std::byte* out) {
  fold_elements<pass>(inputs, elements, count, out, std::make_index_sequence<input_count>());
}

template <Pass pass, std::size_t... I>
constexpr std::array<PassFunction, sizeof...(I)> make_passes(std::index_sequence<I...>) {
  return {fold_pass<pass, I + 1>...};
}

/// [n - 1]: the pass that folds n inputs and finishes.
template <Pass pass>
constexpr auto kPasses = make_passes<pass>(std::make_index_sequence<kBlockInputs>());

/// Folds by blocks: what one block leaves in `out` is the first input of the next, so the order is that of
/// one long left fold.
template <Pass finish>
void fold_fp32(const std::byte* const* inputs, std::size_t input_count, std::size_t elements,
               std::byte* out) {
  CHECK(input_count >= 1 && input_count <= kMaxInputs);
  const auto count = static_cast<float>(input_count);
  if (input_count <= kBlockInputs) {
    kPasses<finish>[input_count - 1](inputs, elements, count, out);
    return;
  }
  fold_pass<Pass::kAccumulate, kBlockInputs>(inputs, elements, count, out);
  std::array<const std::byte*, kBlockInputs> block;
  block[0] = out;
  std::size_t next = kBlockInputs;
  while (true) {
    const std::size_t taken = std::min(input_count - next, kBlockInputs - 1);
    std::copy_n(inputs + next, taken, block.begin() + 1);
    next += taken;
    if (next == input_count) {
      kPasses<finish>[taken](block.data(), elements, count, out);
      return;
    }
    fold_pass<Pass::kAccumulate, kBlockInputs>(block.data(), elements, count, out);
  }
}

/// The reference behind the same seam, an element at a time: slow, and so simple that it can be trusted.
template <wire::Operation operation>
void fold_scalar(const std::byte* const* inputs, std::size_t input_count, std::size_t elements,
                 std::byte* out) {
  CHECK(input_count >= 1 && input_count <= kMaxInputs);
  std::array<float, kMaxInputs> values;
  std::array<const float*, kMaxInputs> pointers;
  for (std::size_t input = 0; input < input_count; ++input) pointers[input] = &values[input];
  for (std::size_t at = 0; at < elements * sizeof(float); at += sizeof(float)) {
    for (std::size_t input = 0; input < input_count; ++input) {
      std::memcpy(&values[input], inputs[input] + at, sizeof(float));
    }
    float result = 0;
    reference_fold({pointers.data(), input_count}, 1, operation, &result);
    std::memcpy(out + at, &result, sizeof(float));
  }
}

}  // namespace

Result<InstructionSet> choose_instruction_set(std::string_view forced) {
  if (forced == "scalar") return InstructionSet::kScalar;
  if (forced.empty() || forced == "baseline") return InstructionSet::kBaseline;
  return invalid_input("unknown instruction set \"" + std::string(forced) +
                       "\": use scalar or baseline, or leave it empty");
}

FoldFunction select(wire::Format format, wire::Operation operation, InstructionSet instruction_set) {
  if (format != wire::Format::kFp32) return nullptr;
  const bool scalar = instruction_set == InstructionSet::kScalar;
  switch (operation) {
    case wire::Operation::kSum:
      return scalar ? fold_scalar<wire::Operation::kSum> : fold_fp32<Pass::kFinishSum>;
    case wire::Operation::kMean:
      return scalar ? fold_scalar<wire::Operation::kMean> : fold_fp32<Pass::kFinishMean>;
    default:
      return nullptr;
  }
}

bool is_supported(wire::Format format, wire::Operation operation) {
  return select(format, operation, InstructionSet::kScalar) != nullptr;
}

std::size_t payload_bytes(wire::Format format, std::size_t elements) {
  return format == wire::Format::kFp32 ? elements * sizeof(float) : 0;
}

}  // namespace tombolo::fold
