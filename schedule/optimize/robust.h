#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"
#include "schedule/optimize/problem.h"
#include "schedule/optimize/scenarios.h"
#include "schedule/schedule.h"

namespace tombolo::schedule {

struct RobustOptions {
  UncertaintyOptions uncertainty{};  ///< The draws on which every cycle is scored: the same for all.
  std::size_t max_rounds = 8;
  std::uint64_t seed = 1;  ///< Of the walk from cycle to cycle.
  std::uint64_t max_cycles = 2'000'000;
  /// Asked now and then, if given; once it says true the search gives what it has.
  std::function<bool()> stop{};
};

struct RobustSearched {
  Schedule schedule;
  double worst_decile_s = 0;        ///< Over the draws: mean D of the worst tenth.
  double start_worst_decile_s = 0;  ///< The least of the starts.
  std::uint64_t cycles = 0;         ///< That were measured.
  bool stopped = false;             ///< By `stop`: then the answer depends on when.
};

/// Looks for the cycle whose D is least where the network turns out worst: search_cycles with the mean over
/// the worst tenth of the draws in place of D, on the same draws for every cycle. A round has the modes, and
/// where a start has such a round the trees, that it would have on the network as planned. With more than
/// twelve islands it stays near the best start and keeps its length. Never worse, over
/// these draws, than the best of `starts`; unless stopped the answer is the same for the same problem, starts
/// and options. A mean of few draws flatters what was chosen by it: judge the answer by draws of another
/// seed. Errors: those of search_cycles, of UncertaintyOptions::check and of the round model.
Result<RobustSearched> search_robust(const Problem& problem, std::span<const Schedule> starts,
                                     const RobustOptions& options);

}  // namespace tombolo::schedule
