#include "aggregation/fold/kernel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

#include "aggregation/fold/element.h"
#include "aggregation/fold/kind_table.h"
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
void fold_fp32(const Call& call) {
  const std::size_t input_count = call.input_count;
  const std::byte* const* const inputs = call.inputs;
  CHECK(input_count >= 1 && input_count <= kMaxInputs);
  const auto count = static_cast<float>(call.divisor);
  if (input_count <= kBlockInputs) {
    kPasses<finish>[input_count - 1](inputs, call.elements, count, call.out);
    return;
  }
  fold_pass<Pass::kAccumulate, kBlockInputs>(inputs, call.elements, count, call.out);
  std::array<const std::byte*, kBlockInputs> block;
  block[0] = call.out;
  std::size_t next = kBlockInputs;
  while (true) {
    const std::size_t taken = std::min(input_count - next, kBlockInputs - 1);
    std::copy_n(inputs + next, taken, block.begin() + 1);
    next += taken;
    if (next == input_count) {
      kPasses<finish>[taken](block.data(), call.elements, count, call.out);
      return;
    }
    fold_pass<Pass::kAccumulate, kBlockInputs>(block.data(), call.elements, count, call.out);
  }
}

/// The fp32 fold, and a look at its result: what is not finite there was not before, or overflowed.
template <Pass finish>
void fold_fp32_and_look(const Call& call) {
  fold_fp32<finish>(call);
  if (call.findings == nullptr) return;
  const NonFinite found = count_non_finite(wire::Format::kFp32, call.out, call.elements);
  *call.findings = {found.nan + found.infinity > 0, 0};
}

struct Scalar {
  template <Kind kind>
  static void fold(const Call& call) {
    reference_fold(kind, call);
  }
  template <Kind kind>
  static constexpr FoldFunction function() {
    return fold<kind>;
  }
};
constexpr FoldTable kScalarFolds = make_table<Scalar>(std::make_index_sequence<kKinds>());

}  // namespace

Result<InstructionSet> choose_instruction_set(std::string_view forced) {
  if (forced == "scalar") return InstructionSet::kScalar;
  if (forced.empty() || forced == "baseline") return InstructionSet::kBaseline;
  return invalid_input("unknown instruction set \"" + std::string(forced) +
                       "\": use scalar or baseline, or leave it empty");
}

FoldFunction select(const Kind& kind, InstructionSet instruction_set) {
  if (!is_defined(kind)) return nullptr;
  if (instruction_set == InstructionSet::kBaseline && kind.input == wire::Format::kFp32 &&
      output_format(kind) == wire::Format::kFp32) {
    if (kind.operation == wire::Operation::kMean && kind.finish) return fold_fp32_and_look<Pass::kFinishMean>;
    if (kind.operation <= wire::Operation::kMean) return fold_fp32_and_look<Pass::kFinishSum>;
  }
  return kScalarFolds[index_of(kind)];
}

bool is_supported(const Kind& kind) { return is_defined(kind); }

}  // namespace tombolo::fold
