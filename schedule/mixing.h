#pragma once

#include <span>

#include "base/result.h"
#include "schedule/schedule.h"

namespace tombolo::schedule {

/// How well a schedule keeps islands together.
struct Mixing {
  /// D, in seconds, lower is better: every island drifts by an independent process of unit variance per
  /// second; D is the long-run, time-averaged variance of an island about the mean of all. One full clique of
  /// n islands and time T gives 1.5 T (n - 1) / n. Infinite if the schedule never joins all islands.
  double disagreement_s = 0;
  /// R, per second, higher is better: (1 - ||W_L ... W_1 - J||^2) / (sum of the times). 0 if some island
  /// never meets the others. Of random rounds: (1 - ||E[W'W] - J||) / E[T].
  double r_per_s = 0;
};

/// Measures a schedule whose round r takes `seconds[r]`. A round averages inside its cliques what its members
/// held at its start; a rest averages nothing. 500 islands take about a second: the work is that of c^3, c
/// being the number of cliques (islands at rest counted) of the round with the fewest.
/// Errors: kInvalidInput unless there is one time above 0 for every round, and at least one island.
Result<Mixing> measure_mixing(const Schedule& schedule, std::span<const double> seconds, std::size_t islands);

/// Measures rounds drawn independently, `patterns.rounds[r]` with probability `probabilities[r]` (they are
/// scaled to a sum of 1). Errors: as above, and unless the probabilities are finite, at least 0 and not all
/// 0.
Result<Mixing> measure_random_mixing(const Schedule& patterns, std::span<const double> seconds,
                                     std::span<const double> probabilities, std::size_t islands);

}  // namespace tombolo::schedule
