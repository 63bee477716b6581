#include "schedule/optimize/optimize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "schedule/barrier_bound.h"
#include "schedule/bounds.h"
#include "schedule/optimize/exact.h"
#include "schedule/optimize/large.h"
#include "schedule/optimize/search.h"
#include "schedule/optimize/seeds.h"

namespace tombolo::schedule {
namespace {

/// D values that differ by less are equal: the rounding of two ways to compute the same.
constexpr double kEqual = 1e-9;

/// One part in so many of the search goes on with packed trees, by which a round takes longer to time.
constexpr std::uint64_t kPackedCyclesPart = 4;
/// Rounds that are packed there, more than nine islands have; any further ones go the shortest way.
constexpr std::uint64_t kPackedRounds = 30'000;
/// A search for trees that goes on for longer is for the answer, not for what is tried on the way to it.
constexpr std::size_t kHastyProgrammes = 40;

/// Few islands have few rounds to try; with many of them each cycle costs more, as the cube of their number.
std::uint64_t default_cycles(std::size_t islands) {
  constexpr std::uint64_t kMost = 10'000'000;
  if (islands <= kMaxExactIslands) return std::min(kMost, std::uint64_t{20'000} << islands);
  const double more = static_cast<double>(islands) / static_cast<double>(kMaxExactIslands);
  return static_cast<std::uint64_t>(static_cast<double>(kMost) / (more * more * more));
}

Status check(const Problem& problem, const OptimizeOptions& options) {
  if (options.max_rounds && (*options.max_rounds == 0 || *options.max_rounds > kMaxRounds))
    return invalid_input(fmt::format("{} rounds; a schedule has 1 to {}", *options.max_rounds, kMaxRounds));
  if (!(options.effort > 0) || !std::isfinite(options.effort))
    return invalid_input("the effort must be above 0");
  if (options.time_limit_s && !(*options.time_limit_s > 0))
    return invalid_input("the time limit must be above 0 s");
  if (problem.islands() > kMaxOptimizedIslands)
    return Error{ErrorCode::kNotSupported, fmt::format("{} islands; schedules are found for at most {}",
                                                       problem.islands(), kMaxOptimizedIslands)};
  return problem.check();
}

/// Times and mixing of a schedule that annealing found, from the model and not from the search.
Status measure(const Problem& problem, Optimized& result) {
  std::vector<double> seconds;
  for (const Round& round : result.schedule.rounds) {
    auto time = problem.model().time(round, problem.update_bytes());
    if (!time) return std::move(time).error();
    seconds.push_back(time->seconds);
    result.times.push_back(std::move(*time));
  }
  const auto mixing = measure_mixing(result.schedule, seconds, problem.islands());
  if (!mixing) return mixing.error();
  result.mixing = *mixing;
  return ok_status();
}

/// What the search and the enumeration together prove.
std::string certificate(const Optimized& result, bool packed_trees) {
  const double d_s = result.mixing.disagreement_s;
  if (d_s <= result.bound_s * (1 + kEqual)) return "all schedules with barriers";
  if (packed_trees) return "";  // The enumeration knew of no trees but the shortest.
  if (result.schedule.rounds.size() <= 2 && result.two_rounds_s && d_s <= *result.two_rounds_s * (1 + kEqual))
    return "cycles of at most two rounds";
  return "";
}

/// One run of the optimizer: what its steps share.
class Run {
 public:
  Run(const Problem& problem, const OptimizeOptions& options, const Clock& clock)
      : problem_(problem), options_(options), clock_(clock), begin_ns_(clock.now_ns()) {}

  Result<Optimized> solve();

 private:
  Status anneal();
  Status improve();
  Status pack();
  Status take_packed(Schedule schedule);
  std::optional<double> packed_seconds(const Round& round, std::uint64_t& rounds_left) const;
  Status finish();
  double elapsed_s() const {
    return static_cast<double>(clock_.now_ns() - begin_ns_) / static_cast<double>(kSecond);
  }
  void tell(std::string_view text) const {
    if (options_.progress) options_.progress(text);
  }
  std::function<bool()> stop() const {
    if (!options_.time_limit_s) return {};
    return [this] { return elapsed_s() >= *options_.time_limit_s; };
  }
  std::uint64_t scaled(std::uint64_t usual) const {
    constexpr double kMost = 1e18;  // That many are not lived to see.
    return static_cast<std::uint64_t>(std::clamp(static_cast<double>(usual) * options_.effort, 1.0, kMost));
  }

  const Problem& problem_;
  const OptimizeOptions& options_;
  const Clock& clock_;
  Nanoseconds begin_ns_;
  Optimized result_;
};

Status Run::anneal() {
  const std::size_t max_rounds = options_.max_rounds.value_or(kFewRounds);
  std::vector<Schedule> starts = options_.starts;
  if (problem_.islands() <= kMaxExactIslands) {
    tell("going through all cycles of at most two rounds");
    auto exact = best_two_rounds(problem_);
    if (!exact) return std::move(exact).error();
    tell(fmt::format("D {:.6f} s is the least of {} rounds and their pairs", exact->disagreement_s,
                     exact->partitions));
    result_.two_rounds_s = exact->disagreement_s;
    starts.push_back(std::move(exact->schedule));
    for (Schedule& runner_up : exact->runners_up) starts.push_back(std::move(runner_up));
  }
  for (Schedule& seed : plain_seeds(problem_, max_rounds)) starts.push_back(std::move(seed));
  const std::uint64_t max_cycles = options_.max_cycles.value_or(scaled(default_cycles(problem_.islands())));
  SearchOptions search{.max_rounds = max_rounds,
                       .seed = options_.seed,
                       .max_cycles = max_cycles,
                       .stop = stop(),
                       .progress = {}};
  search.progress = [&](std::uint64_t cycles, double best_s) {
    tell(fmt::format("D {:.6f} s after {} of {} cycles", best_s, cycles, max_cycles));
  };
  tell(fmt::format("searching cycles of up to {} rounds", max_rounds));
  auto searched = search_cycles(problem_, starts, search);
  if (!searched) return std::move(searched).error();
  result_.schedule = std::move(searched->schedule);
  result_.stopped = searched->stopped;
  return measure(problem_, result_);
}

Status Run::improve() {
  LargeOptions large;
  large.max_rounds = options_.max_rounds.value_or(kManyRounds);
  large.seed = options_.seed;
  large.work = scaled(suitable_work(problem_.islands()));
  large.stop = stop();
  large.starts = options_.starts;
  if (problem_.islands() <= kMaxCliqueMembers)
    for (Schedule& seed : plain_seeds(problem_, large.max_rounds)) large.starts.push_back(std::move(seed));
  tell(fmt::format("improving structured cycles of up to {} rounds", large.max_rounds));
  auto found = improve_large(problem_, large);
  if (!found) return std::move(found).error();
  result_.schedule = std::move(found->schedule);
  result_.times = std::move(found->times);
  result_.mixing = found->mixing;
  result_.stopped = found->stopped;
  return ok_status();
}

/// Packs a schedule's rounds, and takes it if that lowers D. A shorter round need not: D is an average over
/// time, and then the schedule at hand stays.
Status Run::take_packed(Schedule schedule) {
  Optimized packed;
  packed.schedule = std::move(schedule);
  auto times = pack_schedule(problem_.model(), problem_.update_bytes(), packed.schedule,
                             suitable_packing(problem_.islands()));
  if (!times) return std::move(times).error();
  packed.packed = std::move(*times);
  if (auto measured = measure(problem_, packed); !measured) return measured;
  if (packed.mixing.disagreement_s > result_.mixing.disagreement_s) return ok_status();
  packed.two_rounds_s = result_.two_rounds_s;
  packed.stopped = result_.stopped;
  result_ = std::move(packed);
  return ok_status();
}

/// What a round takes with trees that are found in haste; along shortest routes once enough were tried.
std::optional<double> Run::packed_seconds(const Round& round, std::uint64_t& rounds_left) const {
  if (rounds_left == 0) {
    const auto time = problem_.model().time(round, problem_.update_bytes());
    return time ? std::optional(time->seconds) : std::nullopt;
  }
  --rounds_left;
  const auto found =
      pack_round(problem_.model(), round, problem_.update_bytes(), {.max_programmes = kHastyProgrammes});
  return found ? std::optional(found->time.packed_s) : std::nullopt;
}

/// Trees for the schedule at hand; then, for few islands, a search with the times that such trees give.
Status Run::pack() {
  tell("choosing trees");
  const Schedule shortest = result_.schedule;
  if (auto taken = take_packed(shortest);
      !taken || problem_.islands() > kMaxAnnealedIslands || result_.stopped)
    return taken;
  std::uint64_t rounds_left = scaled(kPackedRounds);
  SearchOptions search;
  search.max_rounds = options_.max_rounds.value_or(kFewRounds);
  search.seed = options_.seed;
  const std::uint64_t cycles = options_.max_cycles.value_or(scaled(default_cycles(problem_.islands())));
  search.max_cycles = cycles / kPackedCyclesPart + 1;
  search.stop = stop();
  search.round_seconds = [&](const Round& round) { return packed_seconds(round, rounds_left); };
  tell("searching again, with times by packed trees");
  auto searched = search_cycles(problem_, {&shortest, 1}, search);
  if (!searched) return std::move(searched).error();
  result_.stopped = searched->stopped;
  return take_packed(std::move(searched->schedule));
}

/// What follows from the schedule that was chosen.
Status Run::finish() {
  result_.schedule.name = "optimized";
  for (std::size_t r = 0; r < result_.times.size(); ++r) {
    const RoundTime& time = result_.times[r];
    result_.schedule.rounds[r].modes.assign(time.modes.begin(), time.modes.end());
    result_.cycle_s += time.seconds;
  }
  Capabilities allowed = covering(problem_.capabilities(), result_.schedule);
  if (options_.packed_trees) allowed.family = Family::kBest;  // Other trees could have been chosen.
  const auto bound_s =
      barrier_bound_s(RoundModel(problem_.network(), problem_.routes(), allowed), problem_.update_bytes());
  if (!bound_s) return bound_s.error();
  result_.bound_s = *bound_s;
  result_.gap = optimality_gap(result_.mixing.disagreement_s, result_.bound_s);
  result_.certified = certificate(result_, options_.packed_trees);
  result_.solve_s = elapsed_s();
  return ok_status();
}

Result<Optimized> Run::solve() {
  const bool few = problem_.islands() <= kMaxAnnealedIslands;
  if (auto found = few ? anneal() : improve(); !found) return std::move(found).error();
  if (options_.packed_trees)
    if (auto packed = pack(); !packed) return std::move(packed).error();
  if (auto finished = finish(); !finished) return std::move(finished).error();
  return std::move(result_);
}

}  // namespace

Result<Optimized> optimize(const Problem& problem, const OptimizeOptions& options, const Clock& clock) {
  if (auto sound = check(problem, options); !sound) return std::move(sound).error();
  return Run(problem, options, clock).solve();
}

}  // namespace tombolo::schedule
