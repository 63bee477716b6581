#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "aggregation/fold/format.h"
#include "base/result.h"
#include "protocol/wire/header.h"

namespace tombolo::fold {

/// Most inputs of one fold: the members of a clique.
inline constexpr std::size_t kMaxInputs = 64;

/// What fixes a kernel; chosen once per round.
struct Kind {
  wire::Format input = wire::Format::kNone;
  wire::Format output = wire::Format::kNone;  ///< kNone: the input's.
  wire::Operation operation = wire::Operation::kNone;
  /// Of inputs that are partials, and of the output when `finish` is false: kFp32 or the input's. int32 is
  /// folded by way of int32 whatever stands here.
  wire::Format partial = wire::Format::kFp32;
  /// False: the output is a partial, a fold that others go on with: not divided, rounded once where `partial`
  /// is narrower than fp32.
  bool finish = true;
};

/// The format of partials.
constexpr wire::Format partial_format(const Kind& kind) {
  return kind.input == wire::Format::kInt32 ? wire::Format::kInt32 : kind.partial;
}

/// The format of what the fold writes.
constexpr wire::Format output_format(const Kind& kind) {
  if (!kind.finish) return partial_format(kind);
  return kind.output == wire::Format::kNone ? kind.input : kind.output;
}

/// One chunk. No pointer needs an alignment; 64 bytes are best. `out` overlaps no input, except that it may
/// be exactly inputs[0] where both have one format.
struct Call {
  const std::byte* const* inputs = nullptr;  ///< In the order of the fold.
  std::size_t input_count = 0;               ///< 1 to kMaxInputs.
  std::size_t elements = 0;
  /// By input, finite; read for kWeighted only, and not for partials, whose weights are in them.
  const float* weights = nullptr;
  std::uint64_t partial_inputs = 0;  ///< Bit i: inputs[i] is a partial.
  std::uint32_t divisor = 0;         ///< kMean: how many contributed; not 0.
  std::byte* out = nullptr;          ///< payload_bytes(output_format(kind), elements) bytes.
  Findings* findings = nullptr;      ///< If not null, written by the call.
  /// Inputs and result are in memory and in no cache, so they are asked for ahead: with two inputs a fifth
  /// quicker. In a cache that would be a third slower.
  bool cold = false;
};

using FoldFunction = void (*)(const Call& call);

/// The code paths that give the same bits, the best one last.
enum class InstructionSet : std::uint8_t {
  kScalar,    ///< The reference, one element at a time.
  kBaseline,  ///< What every machine has that can run this program (x86-64-v2).
  kAvx2,      ///< AVX2, FMA and F16C.
  kAvx512,    ///< AVX-512 F, BW, DQ and VL.
};
inline constexpr std::array kInstructionSets = {InstructionSet::kScalar, InstructionSet::kBaseline,
                                                InstructionSet::kAvx2, InstructionSet::kAvx512};

/// The word by which an operator asks for it.
std::string_view name_of(InstructionSet instruction_set);

/// Whether this machine has it. What it has not must not be called.
bool is_available(InstructionSet instruction_set);

/// Chooses the code path once, at start. `forced` is what an operator asked for: "scalar", "baseline",
/// "avx2", "avx512", or empty for the best one that this machine has. Errors: kInvalidInput for any other
/// name and for what this machine has not.
Result<InstructionSet> choose_instruction_set(std::string_view forced);

/// The fold of a kind, or nullptr when there is none. Called once per round or at set-up, never per element.
FoldFunction select(const Kind& kind, InstructionSet instruction_set);

/// True if select() has a fold of this kind, with any instruction set.
bool is_supported(const Kind& kind);

}  // namespace tombolo::fold
