#include "aggregation/fold/kernel.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <array>
#include <string>
#include <utility>

#include "aggregation/fold/element.h"
#include "aggregation/fold/kind_table.h"
#include "aggregation/fold/outside.h"
#include "aggregation/fold/reference.h"
#include "aggregation/fold/tables.h"
#include "base/check.h"

namespace tombolo::fold {
namespace {

/// The reference behind the same seam: slow, and so simple that it can be trusted.
struct ScalarFolds {
  template <Kind kind>
  static void fold(const Call& call) {
    check_call(call);
    reference_fold(kind, call);
  }
  template <Kind kind>
  static constexpr FoldFunction function() {
    return fold<kind>;
  }
};
constexpr FoldTable kScalarFolds = make_table<ScalarFolds>(std::make_index_sequence<kKinds>());

#if defined(__x86_64__)
/// Not every compiler's __builtin_cpu_supports knows this name.
bool has_f16c() {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}
#endif

const FoldTable& table_of(InstructionSet instruction_set) {
  switch (instruction_set) {
    case InstructionSet::kScalar:
      return kScalarFolds;
#if defined(__x86_64__)
    case InstructionSet::kAvx2:
      return kAvx2Folds;
    case InstructionSet::kAvx512:
      return kAvx512Folds;
#endif
    default:
      return kBaselineFolds;
  }
}

}  // namespace

std::string_view name_of(InstructionSet instruction_set) {
  constexpr std::array<std::string_view, 4> kNames = {"scalar", "baseline", "avx2", "avx512"};
  return kNames[static_cast<std::size_t>(instruction_set)];
}

bool is_available(InstructionSet instruction_set) {
  switch (instruction_set) {
#if defined(__x86_64__)
    case InstructionSet::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
    case InstructionSet::kAvx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
             is_available(InstructionSet::kAvx2);
#endif
    default:
      return instruction_set <= InstructionSet::kBaseline;
  }
}

Result<InstructionSet> choose_instruction_set(std::string_view forced) {
  if (forced.empty()) {
    auto best = kInstructionSets.back();
    while (!is_available(best)) best = static_cast<InstructionSet>(static_cast<int>(best) - 1);
    return best;
  }
  for (const InstructionSet instruction_set : kInstructionSets) {
    if (forced != name_of(instruction_set)) continue;
    if (is_available(instruction_set)) return instruction_set;
    return invalid_input("this machine has no instruction set \"" + std::string(forced) +
                         "\": leave it empty for the best that it has");
  }
  return invalid_input("unknown instruction set \"" + std::string(forced) +
                       "\": use scalar, baseline, avx2 or avx512, or leave it empty");
}

FoldFunction select(const Kind& kind, InstructionSet instruction_set) {
  return is_defined(kind) ? table_of(instruction_set)[index_of(kind)] : nullptr;
}

bool is_supported(const Kind& kind) { return is_defined(kind); }

void check_call(const Call& call) { CHECK(call.input_count >= 1 && call.input_count <= kMaxInputs); }

std::size_t write_rare_block(wire::Format format, const std::byte* values, std::size_t count,
                             std::size_t first, std::size_t elements, std::byte* out) {
  std::array<float, kMxBlockElements> block;
  __builtin_memcpy(block.data(), values, count * sizeof(float));
  return write_block(format, block.data(), count, first, elements, out);
}

}  // namespace tombolo::fold
