#include "tools/schedule/optimize_solution.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "schedule/optimize/exact.h"
#include "schedule/optimize/partition.h"
#include "schedule/optimize/pricing.h"
#include "schedule/optimize/robust.h"
#include "schedule/optimize/seeds.h"

namespace tombolo::tools {
namespace {

/// A draw costs a measurement of the whole schedule: with many islands fewer must do.
constexpr std::size_t draws_for(std::size_t islands) {
  if (islands <= schedule::kMaxAnnealedIslands) return 1000;
  return islands <= schedule::kMaxSetIslands ? 200 : 40;
}

/// Of the search for each further candidate of --robust, as a share of the first one's.
constexpr double kCandidateEffort = 0.3;
constexpr double kCandidateTime = 0.3;
/// Of the time limit, for the first one: then two candidates and the search for the worst tenth follow.
constexpr double kPlannedTime = 0.4;
/// How many cycles the search for the worst tenth measures, of few islands at the usual effort, and the most
/// that the effort raises it.
constexpr double kRobustCycles = 2e6;
constexpr double kMostEffort = 1e6;

using Tell = std::function<void(std::string_view)>;

schedule::OptimizeOptions search_options(const OptimizeArguments& arguments, const OptimizeWishes& wishes,
                                         const Tell& tell) {
  schedule::OptimizeOptions options;
  if (arguments.max_rounds != 0) options.max_rounds = arguments.max_rounds;
  options.effort = arguments.effort;
  options.seed = arguments.seed;
  if (arguments.time_limit_s != 0) options.time_limit_s = arguments.time_limit_s;
  if (wishes.running) options.starts.push_back(*wishes.running);
  options.packed_trees = arguments.packed_trees;
  options.progress = tell;
  return options;
}

/// Says in the schedule itself which modes it was scored with: that is what its file must hold.
void keep_modes(ScheduleScore& score) {
  for (std::size_t r = 0; r < score.times.size(); ++r)
    score.schedule.rounds[r].modes.assign(score.times[r].modes.begin(), score.times[r].modes.end());
}

double update_bytes(const NetworkInput& input) { return static_cast<double>(input.update_bytes); }

Status find_best(const schedule::Problem& problem, const schedule::OptimizeOptions& options,
                 const Clock& clock, Solution& solution) {
  auto best = schedule::optimize(problem, options, clock);
  if (!best) return std::move(best).error();
  ScheduleScore& score = solution.score;
  score.schedule = std::move(best->schedule);
  score.times = std::move(best->times);
  score.cycle_s = best->cycle_s;
  score.mixing = best->mixing;
  score.bound_s = best->bound_s;
  score.certified = std::move(best->certified);
  score.packed = std::move(best->packed);
  solution.two_rounds_s = best->two_rounds_s;
  solution.stopped = best->stopped;
  return ok_status();
}

std::size_t most_rounds(const schedule::Problem& problem, const schedule::OptimizeOptions& options) {
  const bool few = problem.islands() <= schedule::kMaxAnnealedIslands;
  return options.max_rounds.value_or(few ? schedule::kFewRounds : schedule::kManyRounds);
}

/// Other schedules that may do better when the network is not what it was taken for: the plain ones, and the
/// best for smaller and for larger updates, which is to say for links that are all quicker or all slower.
Result<std::vector<schedule::Schedule>> candidates(const schedule::Problem& problem, double share,
                                                   schedule::OptimizeOptions options, const Clock& clock) {
  std::vector<schedule::Schedule> others;
  if (problem.islands() <= schedule::kMaxCliqueMembers)
    others = schedule::plain_seeds(problem, most_rounds(problem, options));
  options.effort *= kCandidateEffort;
  if (options.time_limit_s) *options.time_limit_s *= kCandidateTime;
  for (const double slower : {1 / (1 - share), 1 / (1 + share)}) {
    const schedule::Problem other(problem.network(), problem.capabilities(), problem.update_bytes() * slower);
    auto best = schedule::optimize(other, options, clock);
    if (!best) return std::move(best).error();
    others.push_back(std::move(best->schedule));
  }
  return others;
}

/// Takes a schedule in place of the one at hand if its worst tenth is better.
Status take_if_robust(const schedule::Problem& problem, const schedule::UncertaintyOptions& uncertainty,
                      bool packed_trees, schedule::Schedule schedule, Solution& solution) {
  auto score = score_schedule(solution.input, std::move(schedule), packed_trees);
  if (!score) return std::move(score).error();
  auto spread = schedule::disagreement_spread(problem, score->schedule, uncertainty);
  if (!spread) return std::move(spread).error();
  if (!(spread->worst_decile_s < solution.spread.worst_decile_s)) return ok_status();
  solution.score = std::move(*score);
  solution.score.schedule.name = "robust";
  keep_modes(solution.score);
  solution.spread = std::move(*spread);
  return ok_status();
}

/// Few islands have few rounds to try; with many of them each cycle costs more, as the cube of their number.
std::uint64_t robust_cycles(std::size_t islands, double effort) {
  const double more =
      std::max(1.0, static_cast<double>(islands) / static_cast<double>(schedule::kMaxExactIslands));
  return 1 + static_cast<std::uint64_t>(kRobustCycles * std::min(effort, kMostEffort) / (more * more * more));
}

/// Looks for the least worst tenth, from the best for the network as planned and from its rivals. The search
/// goes by draws of its own, so that those which the answer is judged by do not flatter it.
Status make_robust(const schedule::Problem& problem, const schedule::UncertaintyOptions& uncertainty,
                   const schedule::OptimizeOptions& options, const std::function<bool()>& stop,
                   const Clock& clock, Solution& solution) {
  auto starts = candidates(problem, uncertainty.share, options, clock);
  if (!starts) return std::move(starts).error();
  starts->insert(starts->begin(), solution.score.schedule);
  auto choice = schedule::choose_robust(problem, *starts, uncertainty);
  if (!choice) return std::move(choice).error();
  solution.spread = std::move(choice->spreads.front());
  solution.planned_worst_decile_s = solution.spread.worst_decile_s;
  if (choice->index != 0)
    if (auto taken =
            take_if_robust(problem, uncertainty, options.packed_trees, (*starts)[choice->index], solution);
        !taken)
      return taken;
  if (problem.islands() > schedule::kMaxSetIslands) return ok_status();
  if (options.progress) options.progress("searching for the least worst tenth");
  schedule::RobustOptions search{.uncertainty = uncertainty,
                                 .max_rounds = most_rounds(problem, options),
                                 .seed = options.seed,
                                 .max_cycles = robust_cycles(problem.islands(), options.effort),
                                 .stop = stop};
  search.uncertainty.seed = ~uncertainty.seed;
  auto found = schedule::search_robust(problem, *starts, search);
  if (!found) return std::move(found).error();
  solution.stopped |= found->stopped;
  return take_if_robust(problem, uncertainty, options.packed_trees, std::move(found->schedule), solution);
}

/// The running schedule, changed as little as it takes; the network becomes what is left of it.
Status go_on(const OptimizeArguments& arguments, const OptimizeWishes& wishes, Solution& solution) {
  schedule::ReoptimizeOptions options;
  options.seed = arguments.seed;
  if (arguments.max_rounds != 0) options.max_rounds = arguments.max_rounds;
  options.max_cycles = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(static_cast<double>(options.max_cycles) * arguments.effort));
  NetworkInput& input = solution.input;
  auto rest = schedule::without(input.network, input.capabilities, wishes.losses);
  if (!rest) return std::move(rest).error();
  auto next = schedule::reoptimize(input.network, input.capabilities, update_bytes(input), *wishes.running,
                                   wishes.losses, options);
  if (!next) return std::move(next).error();
  schedule::Schedule left = next->schedule;
  for (schedule::Round& round : left.rounds)
    for (schedule::Clique& clique : round.cliques)
      for (schedule::Rank& rank : clique)
        rank = static_cast<schedule::Rank>(std::lower_bound(rest->ranks.begin(), rest->ranks.end(), rank) -
                                           rest->ranks.begin());
  for (const schedule::Rank rank : next->lost)
    solution.lost_islands.push_back(input.network.islands[rank].id);
  input.network = std::move(rest->network);
  input.capabilities = std::move(rest->capabilities);
  auto score = score_schedule(input, std::move(left), arguments.packed_trees);
  if (!score) return std::move(score).error();
  solution.score = std::move(*score);
  keep_modes(solution.score);
  solution.after_loss = std::move(*next);
  return ok_status();
}

/// The best without barriers, from the best with them on.
Status drop_barriers(const OptimizeArguments& arguments, const OptimizeWishes& wishes, const Clock& clock,
                     const Tell& tell, Solution& solution) {
  std::vector<schedule::Schedule> seeds{solution.score.schedule};
  if (wishes.running) seeds.push_back(*wishes.running);
  EventWishes event{.fragments = arguments.fragments,
                    .max_rounds = arguments.max_rounds,
                    .effort = arguments.effort,
                    .seed = arguments.seed};
  if (arguments.time_limit_s != 0) event.time_limit_s = arguments.time_limit_s;
  auto found = find_event(solution.input, seeds, event, clock, tell);
  if (!found) return std::move(found).error().within("--form " + arguments.form);
  solution.event = std::move(*found);
  solution.chose_event =
      arguments.form == "event" || solution.event->disagreement_s < solution.score.mixing.disagreement_s;
  return ok_status();
}

}  // namespace

Result<Solution> solve(const OptimizeArguments& arguments, const Clock& clock, const Tell& tell) {
  const Nanoseconds begin_ns = clock.now_ns();
  const auto elapsed_s = [&] {
    return static_cast<double>(clock.now_ns() - begin_ns) / static_cast<double>(kSecond);
  };
  auto input = load_network(arguments.network);
  if (!input) return std::move(input).error();
  Solution solution{std::move(*input), {}};
  const auto wishes = read_wishes(arguments, solution.input.network);
  if (!wishes) return wishes.error();
  if (wishes->lost_something())
    if (auto done = go_on(arguments, *wishes, solution); !done) return std::move(done).error();
  const schedule::Problem problem(solution.input.network, solution.input.capabilities,
                                  update_bytes(solution.input));
  schedule::OptimizeOptions options = search_options(arguments, *wishes, tell);
  if (arguments.robust && options.time_limit_s) *options.time_limit_s *= kPlannedTime;
  if (!wishes->lost_something())
    if (auto done = find_best(problem, options, clock, solution); !done) return std::move(done).error();
  if (wishes->uncertainty) {
    tell("drawing networks that are not quite this one");
    solution.uncertainty = wishes->uncertainty;
    const schedule::UncertaintyOptions uncertainty{
        .share = *wishes->uncertainty, .seed = arguments.seed, .draws = draws_for(problem.islands())};
    if (arguments.robust) {
      std::function<bool()> stop;
      if (arguments.time_limit_s != 0) stop = [&] { return elapsed_s() >= arguments.time_limit_s; };
      if (auto done = make_robust(problem, uncertainty, options, stop, clock, solution); !done)
        return std::move(done).error();
    } else {
      auto spread = schedule::disagreement_spread(problem, solution.score.schedule, uncertainty);
      if (!spread) return std::move(spread).error();
      solution.spread = std::move(*spread);
    }
  }
  if (arguments.wants_event())
    if (auto done = drop_barriers(arguments, *wishes, clock, tell, solution); !done)
      return std::move(done).error();
  solution.score.solve_s = elapsed_s();
  if (solution.event) solution.event->solve_s = solution.score.solve_s;
  // After a loss every second counts, and a comparison can wait.
  const std::size_t most_compared = wishes->lost_something() ? 0 : schedule::kMaxPricedIslands;
  if (auto added = add_best_random(problem, most_compared, solution.score); !added)
    return std::move(added).error();
  return solution;
}

}  // namespace tombolo::tools
