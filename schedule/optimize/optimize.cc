#include "schedule/optimize/optimize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "schedule/optimize/bound.h"
#include "schedule/optimize/exact.h"
#include "schedule/optimize/search.h"
#include "schedule/optimize/seeds.h"

namespace tombolo::schedule {
namespace {

/// D values that differ by less are equal: the rounding of two ways to compute the same.
constexpr double kEqual = 1e-9;

/// Few islands have few rounds to try; with many of them each cycle costs more, as the cube of their number.
std::uint64_t default_cycles(std::size_t islands) {
  constexpr std::uint64_t kMost = 10'000'000;
  if (islands <= kMaxExactIslands) return std::min(kMost, std::uint64_t{20'000} << islands);
  const double more = static_cast<double>(islands) / static_cast<double>(kMaxExactIslands);
  return static_cast<std::uint64_t>(static_cast<double>(kMost) / (more * more * more));
}

Status check(const Problem& problem, const OptimizeOptions& options) {
  if (options.max_rounds == 0 || options.max_rounds > kMaxRounds)
    return invalid_input(fmt::format("{} rounds; a schedule has 1 to {}", options.max_rounds, kMaxRounds));
  if (options.time_limit_s && !(*options.time_limit_s > 0))
    return invalid_input("the time limit must be above 0 s");
  return problem.check();
}

/// Times, cycle and mixing of the schedule that was chosen, from the model and not from the search.
Status describe(const Problem& problem, Optimized& result) {
  std::vector<double> seconds;
  for (Round& round : result.schedule.rounds) {
    auto time = problem.model().time(round, problem.update_bytes());
    if (!time) return std::move(time).error();
    seconds.push_back(time->seconds);
    round.modes.assign(time->modes.begin(), time->modes.end());
    result.cycle_s += time->seconds;
    result.times.push_back(std::move(*time));
  }
  const auto mixing = measure_mixing(result.schedule, seconds, problem.islands());
  if (!mixing) return mixing.error();
  result.mixing = *mixing;
  result.bound_s = disagreement_bound_s(problem);
  result.gap = result.mixing.disagreement_s / result.bound_s - 1;
  return ok_status();
}

/// What the search and the enumeration together prove.
std::string certificate(const Optimized& result) {
  const double d_s = result.mixing.disagreement_s;
  if (d_s <= result.bound_s * (1 + kEqual)) return "all schedules with barriers";
  if (result.schedule.rounds.size() <= 2 && result.two_rounds_s && d_s <= *result.two_rounds_s * (1 + kEqual))
    return "cycles of at most two rounds";
  return "";
}

}  // namespace

Result<Optimized> optimize(const Problem& problem, const OptimizeOptions& options, const Clock& clock) {
  if (auto sound = check(problem, options); !sound) return std::move(sound).error();
  const Nanoseconds begin_ns = clock.now_ns();
  const auto elapsed_s = [&] {
    return static_cast<double>(clock.now_ns() - begin_ns) / static_cast<double>(kSecond);
  };
  const auto tell = [&](const std::string& text) {
    if (options.progress) options.progress(text);
  };

  Optimized result;
  std::vector<Schedule> starts = options.starts;
  if (problem.islands() <= kMaxExactIslands) {
    tell("going through all cycles of at most two rounds");
    auto exact = best_two_rounds(problem);
    if (!exact) return std::move(exact).error();
    tell(fmt::format("D {:.6f} s is the least of {} rounds and their pairs", exact->disagreement_s,
                     exact->partitions));
    result.two_rounds_s = exact->disagreement_s;
    starts.push_back(std::move(exact->schedule));
    for (Schedule& runner_up : exact->runners_up) starts.push_back(std::move(runner_up));
  }
  for (Schedule& seed : plain_seeds(problem, options.max_rounds)) starts.push_back(std::move(seed));

  const std::uint64_t max_cycles = options.max_cycles.value_or(default_cycles(problem.islands()));
  SearchOptions search{.max_rounds = options.max_rounds,
                       .seed = options.seed,
                       .max_cycles = max_cycles,
                       .stop = {},
                       .progress = {}};
  if (options.time_limit_s) search.stop = [&] { return elapsed_s() >= *options.time_limit_s; };
  search.progress = [&](std::uint64_t cycles, double best_s) {
    tell(fmt::format("D {:.6f} s after {} of {} cycles", best_s, cycles, max_cycles));
  };
  tell(fmt::format("searching cycles of up to {} rounds", options.max_rounds));
  auto searched = search_cycles(problem, starts, search);
  if (!searched) return std::move(searched).error();
  result.schedule = std::move(searched->schedule);
  result.schedule.name = "optimized";
  result.stopped = searched->stopped;
  if (auto described = describe(problem, result); !described) return std::move(described).error();
  result.certified = certificate(result);
  result.solve_s = elapsed_s();
  return result;
}

}  // namespace tombolo::schedule
