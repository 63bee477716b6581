#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "schedule/mixing.h"
#include "schedule/optimize/problem.h"
#include "schedule/round_model.h"
#include "schedule/schedule.h"

namespace tombolo::schedule {

/// The work that suits a number of islands: some seconds for 50, minutes for 500.
std::uint64_t suitable_work(std::size_t islands);

struct LargeOptions {
  std::size_t max_rounds = 24;  ///< Of the cycle.
  std::uint64_t seed = 1;
  /// How long to search, in steps of work (very roughly a nanosecond each): a limit that gives the same
  /// answer on every machine. 0: suitable_work.
  std::uint64_t work = 0;
  /// Ends the search early when it says so; then the answer depends on when it does. May be empty.
  std::function<bool()> stop;
  std::vector<Schedule> starts;  ///< To begin with, besides the structured seeds.
};

/// What the search for large networks found.
struct LargeSchedule {
  Schedule schedule;
  std::vector<RoundTime> times;  ///< By round, of the round model.
  Mixing mixing;
  double seed_disagreement_s = 0;  ///< Of the best start: what the search began with.
  bool stopped = false;            ///< By `stop`.
};

/// A schedule for any number of islands, by local search from structured seeds: the best few starts are
/// improved a little, the best of those at length, round by round (RoundSearch) and by taking rounds out,
/// doubling them and changing their order. The same answer for the same problem, seed and work.
/// Errors: those of Problem::check; kInvalidInput if no start fits `max_rounds`.
Result<LargeSchedule> improve_large(const Problem& problem, const LargeOptions& options = {});

}  // namespace tombolo::schedule
