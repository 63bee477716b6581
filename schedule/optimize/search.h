#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"
#include "schedule/optimize/cycle.h"
#include "schedule/optimize/problem.h"
#include "schedule/schedule.h"

namespace tombolo::schedule {

/// What a cycle costs, in seconds; above `cutoff_s` any value above it, and else to the share `precision`.
using CycleCost =
    std::function<double(std::span<const RoundHandle> cycle, double cutoff_s, double precision)>;

struct SearchOptions {
  std::size_t max_rounds = 8;
  std::uint64_t seed = 1;
  std::uint64_t max_cycles = 2'000'000;  ///< How many cycles it measures: what bounds its time.
  /// Asked now and then, if given; once it says true the search gives what it has.
  std::function<bool()> stop;
  /// Told after each run of annealing how many cycles were measured and the least D, if given.
  std::function<void(std::uint64_t cycles, double best_s)> progress;
  /// What rounds take, if not what the round model says.
  RoundSeconds round_seconds{};
  /// What is to be least, if not D.
  CycleCost cost{};
  /// Only cycles as long as the best of `starts`, for where there is no time for more.
  bool one_length = false;
  /// Annealing begins by accepting a cycle worse by this share, one time in e.
  double start_heat = 0.02;
};

struct Searched {
  Schedule schedule;
  double disagreement_s = 0;  ///< Or what `cost` says.
  std::uint64_t cycles = 0;   ///< That were measured.
  bool stopped = false;       ///< By `stop`: then the answer depends on when.
};

/// Looks for the cycle of at most `max_rounds` rounds with the least D (or `cost`), beginning at `starts`:
/// simulated annealing (an island moves or two change places, cliques join or split, a round is added,
/// doubled, dropped, replaced or trades places with another), then each round in turn is put in the place of
/// every partition that the search knows to be quick. Never worse than the best of `starts`. Unless stopped
/// the answer is the same for the same problem, starts and options. Errors: those of Problem::check;
/// kInvalidInput for no starts or `max_rounds` 0; kNotSupported for more than 64 islands.
Result<Searched> search_cycles(const Problem& problem, std::span<const Schedule> starts,
                               const SearchOptions& options);

}  // namespace tombolo::schedule
