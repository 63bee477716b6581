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
#include "schedule/trees/packed_trees.h"

namespace tombolo::schedule {

/// More are refused: nobody waits for the answer.
inline constexpr std::size_t kMaxOptimizedIslands = 1024;

/// Up to so many islands annealing finds the better schedules; above, improve_large does.
inline constexpr std::size_t kMaxAnnealedIslands = 12;
inline constexpr std::size_t kFewRounds = 8;
inline constexpr std::size_t kManyRounds = 24;

struct OptimizeOptions {
  /// Of the cycle. None: kFewRounds for up to kMaxAnnealedIslands islands, kManyRounds for more.
  std::optional<std::size_t> max_rounds;
  std::uint64_t seed = 1;
  /// How long to search, as a multiple of what the number of islands deserves (for nine some twenty seconds,
  /// for 500 some minutes): a limit that gives the same answer on every machine. Above 0.
  double effort = 1;
  /// Instead: how many cycles the search of up to kMaxAnnealedIslands islands measures.
  std::optional<std::uint64_t> max_cycles;
  /// Stops the search by the clock; then the answer depends on the machine, and `stopped` says so.
  std::optional<double> time_limit_s;
  /// Whether cliques of mode direct may send by trees of our choice: those of pack_round.
  bool packed_trees = false;
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
  double gap = 0;      ///< optimality_gap: (D - bound) / D.
  /// The class of schedules of which this is proved to be the best, for people; empty: of none.
  std::string certified;
  /// The least D of all cycles of one or two rounds, if it was determined.
  std::optional<double> two_rounds_s;
  std::vector<PackedTime> packed;  ///< By round, if trees were packed and lower D: what it takes otherwise.
  bool stopped = false;            ///< By the time limit.
  double solve_s = 0;
};

/// The best schedule that can be found for the problem: all cycles of at most two rounds for up to
/// kMaxExactIslands islands; then a search among longer ones, by annealing for up to kMaxAnnealedIslands, for
/// more by improving structured seeds. With packed trees the answer is never worse than without: it goes on
/// from there, for up to kMaxAnnealedIslands with the times of packed rounds. `clock` limits and measures; it
/// decides nothing else. Errors: those of Problem::check; kInvalidInput for `max_rounds` 0 or above
/// kMaxRounds, an effort or a time limit that is not above 0; those of pack_round; kNotSupported for more
/// than kMaxOptimizedIslands islands.
Result<Optimized> optimize(const Problem& problem, const OptimizeOptions& options, const Clock& clock);

}  // namespace tombolo::schedule
