#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "schedule/optimize/problem.h"
#include "schedule/optimize/scenarios.h"
#include "schedule/schedule.h"

namespace tombolo::schedule {

/// D of one schedule over the draws.
struct DisagreementSpread {
  double p10_s = 0;
  double p50_s = 0;
  double p90_s = 0;
  double worst_decile_s = 0;          ///< Mean over the worst tenth of the draws.
  std::vector<double> ascending_s{};  ///< Of every draw.
};

/// The mean over the largest tenth of the values, of at least one; reorders them.
double mean_of_worst_tenth(std::span<double> values);

/// D of `schedule` when the network is not quite what it was taken for (Scenarios). Routes, trees and modes
/// stay as they were planned. Draws depend on the seed only, so schedules may be compared draw by draw.
/// Errors: kInvalidInput for options out of range; those of the round model.
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
