#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "aggregation/facts.h"
#include "aggregation/fold/kernel.h"
#include "base/number_format.h"

namespace tombolo::aggregation {

struct ChunkFoldConfig {
  fold::InstructionSet instruction_set = fold::InstructionSet::kBaseline;
  NonFinitePolicy non_finite = NonFinitePolicy::kPropagate;
  std::size_t max_members = 1;
  std::uint32_t max_payload_bytes = 0;  ///< Of a member's chunk.
  bool narrow_partials = false;         ///< Partials have the update's format; otherwise fp32.
};

/// What a fold is of its clique: by default, all of it.
struct FoldPart {
  std::uint64_t partial_inputs = 0;  ///< A bit per input that is a partial.
  bool finish = true;                ///< False: the result is a partial.
  std::uint32_t divisor = 0;         ///< For a mean: members of the clique; 0: as many as inputs.
  bool cold = false;                 ///< As in fold::Call.
};

/// What became of one chunk.
struct FoldedChunk {
  std::uint64_t contributors = 0;  ///< A bit per member whose input is in it; none: all were rejected.
  std::uint64_t non_finite = 0;    ///< A bit per member whose input had values that are not finite.
  std::uint64_t saturated = 0;     ///< Values of the result that its format could not hold.
  wire::Format format = wire::Format::kNone;
  std::uint32_t payload_bytes = 0;  ///< Of the result, or the partial.
};

/// Folds a chunk under a job's policy for values that are not finite. It folds first and looks only where the
/// fold found such a value, so the policy costs nothing while updates are sound. What it decides follows from
/// the inputs alone: all members' edges decide alike.
class ChunkFold {
 public:
  /// Reserves what the policy needs: under `zero`, a copy of every member's chunk.
  explicit ChunkFold(const ChunkFoldConfig& config);

  /// `inputs` are all members' chunks in fold order; `weights`, by member, are read for weighted only. `out`
  /// has room for the result and overlaps no input. When every member is rejected the result is that of
  /// `propagate`, so that nobody takes it for a value. Hot path.
  /// On trees only contributions are looked at, where they come in; none is rejected there.
  FoldedChunk fold(const Facts& facts, std::span<const std::byte* const> inputs, std::size_t elements,
                   const float* weights, std::byte* out, const FoldPart& part = {});

  /// How many values of each member's input were not finite, in the last chunk with FoldedChunk::non_finite.
  std::span<const fold::NonFinite> found() const { return found_; }

 private:
  void choose(const Facts& facts, bool finish);
  static fold::Findings run(fold::FoldFunction function, fold::Call& call);
  std::uint64_t look(const Facts& facts, const fold::Call& call);
  std::uint64_t apply_policy(const Facts& facts, fold::Call& call, std::uint64_t non_finite,
                             fold::Findings& findings);

  ChunkFoldConfig config_;
  Facts facts_;  ///< For which `kind_` and `function_` were chosen.
  fold::Kind kind_;
  fold::FoldFunction function_ = nullptr;
  std::vector<fold::NonFinite> found_;  ///< By member.
  std::vector<std::byte> zeroed_;  ///< By member, max_payload_bytes each; empty unless the policy is zero.
};

}  // namespace tombolo::aggregation
