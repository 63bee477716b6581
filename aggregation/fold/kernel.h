#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "protocol/wire/header.h"

namespace tombolo::fold {

/// Most inputs of one fold: the members of a clique.
inline constexpr std::size_t kMaxInputs = 64;

/// Folds inputs[0 .. input_count) of `elements` elements each into `out`, in that order; the format and the
/// operation are fixed by the choice of the function. 1 <= input_count <= kMaxInputs. No pointer needs an
/// alignment. `out` overlaps no input, except that it may be exactly inputs[0], which it then replaces.
using FoldFunction = void (*)(const std::byte* const* inputs, std::size_t input_count, std::size_t elements,
                              std::byte* out);

/// The code paths that give the same bits. More instruction sets join here.
enum class InstructionSet : std::uint8_t {
  kScalar,    ///< The reference, one element at a time.
  kBaseline,  ///< What every machine has that can run this program (x86-64-v2).
};

/// Chooses the code path once, at start. `forced` is what an operator asked for: "scalar", "baseline", or
/// empty for the best one that this machine has. Errors: kInvalidInput for any other name.
Result<InstructionSet> choose_instruction_set(std::string_view forced);

/// The fold for a format and an operation, or nullptr when there is none. Called once per round or at set-up,
/// never per element.
FoldFunction select(wire::Format format, wire::Operation operation, InstructionSet instruction_set);

/// True if select() has a fold for this pair, with any instruction set.
bool is_supported(wire::Format format, wire::Operation operation);

/// Bytes that `elements` elements take in a payload; 0 for a format that cannot be folded.
std::size_t payload_bytes(wire::Format format, std::size_t elements);

}  // namespace tombolo::fold
