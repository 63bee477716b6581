#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "schedule/optimize/problem.h"
#include "schedule/schedule.h"

namespace tombolo::schedule {

/// By how much capacities and latencies may be off.
struct UncertaintyOptions {
  double share = 0.2;  ///< From 0, below 1: each is multiplied by a factor from 1 - share to 1 + share.
  std::uint64_t seed = 1;
  std::size_t draws = 200;  ///< At least 10.
};

/// D of one schedule over the draws.
struct DisagreementSpread {
  double p10_s = 0;
  double p50_s = 0;
  double p90_s = 0;
  double worst_decile_s = 0;          ///< Mean over the worst tenth of the draws.
  std::vector<double> ascending_s{};  ///< Of every draw.
};

/// D of `schedule` when the network is not quite what it was taken for: in each draw every access line, every
/// direction of a core link, and every link's latency has a factor of its own, uniform and independent.
/// Routes, trees and modes stay as they were planned. Draws depend on the seed only, so schedules may be
/// compared draw by draw. Errors: kInvalidInput for options out of range; those of the round model.
Result<DisagreementSpread> disagreement_spread(const Problem& problem, const Schedule& schedule,
                                               const UncertaintyOptions& options);

struct RobustChoice {
  std::size_t index = 0;  ///< Of the candidate with the least worst decile; the first on a tie.
  std::vector<DisagreementSpread> spreads;  ///< By candidate.
};

/// Errors: kInvalidInput for no candidates; those of disagreement_spread.
Result<RobustChoice> choose_robust(const Problem& problem, std::span<const Schedule> candidates,
                                   const UncertaintyOptions& options);

}  // namespace tombolo::schedule
