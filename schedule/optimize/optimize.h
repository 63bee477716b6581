#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "schedule/mixing.h"
#include "schedule/optimize/problem.h"
#include "schedule/round_model.h"
#include "schedule/schedule.h"

namespace tombolo::schedule {

struct OptimizeOptions {
  std::size_t max_rounds = 8;  ///< Of the cycle.
  std::uint64_t seed = 1;
  /// How many cycles the search measures: a limit that gives the same answer on every machine. None: as many
  /// as the number of islands deserves, for nine some twenty seconds.
  std::optional<std::uint64_t> max_cycles;
  /// Stops the search by the clock; then the answer depends on the machine, and `stopped` says so.
  std::optional<double> time_limit_s;
  /// Schedules to begin with besides its own, for example the one that runs.
  std::vector<Schedule> starts;
  /// Told now and then what it is at, if given.
  std::function<void(std::string_view)> progress;
};

/// A schedule and what is known about it.
struct Optimized {
  Schedule schedule;
  std::vector<RoundTime> times;  ///< By round.
  double cycle_s = 0;
  Mixing mixing;
  double bound_s = 0;  ///< No cycle with barriers has a smaller D.
  double gap = 0;      ///< D / bound - 1.
  /// The class of schedules of which this is proved to be the best, for people; empty: of none.
  std::string certified;
  /// The least D of all cycles of one or two rounds, if it was determined.
  std::optional<double> two_rounds_s;
  bool stopped = false;  ///< By the time limit.
  double solve_s = 0;
};

/// The best schedule that can be found for the problem: all cycles of at most two rounds where there are no
/// more than nine islands, then a search among longer ones. `clock` limits and measures; it decides nothing
/// else.
/// Errors: those of Problem::check; kInvalidInput for `max_rounds` 0 or above kMaxRounds, or a time limit
/// that is not above 0; kNotSupported for what the round model or the search cannot do.
Result<Optimized> optimize(const Problem& problem, const OptimizeOptions& options, const Clock& clock);

}  // namespace tombolo::schedule
