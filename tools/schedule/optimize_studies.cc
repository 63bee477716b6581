#include "tools/schedule/optimize_studies.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "base/units.h"
#include "schedule/baselines/baselines.h"
#include "schedule/optimize/exact.h"
#include "schedule/optimize/search.h"
#include "schedule/optimize/seeds.h"

namespace tombolo::tools {
namespace {

using schedule::Aggregation;
using schedule::Problem;
using schedule::Schedule;

constexpr std::size_t kMostSearchedIslands = 16;
constexpr std::size_t kMostComparedIslands = 24;
constexpr std::size_t kMostStudiedRounds = 10;
constexpr double kEqual = 1e-9;  // A relative difference that is rounding.

struct Setting {
  const char* name;
  bool multicast;
  Aggregation aggregation;
};
constexpr std::array kSettings{Setting{"neither", false, Aggregation::kNone},
                               Setting{"multicast", true, Aggregation::kNone},
                               Setting{"edge aggregation", false, Aggregation::kEdge},
                               Setting{"multicast and edge aggregation", true, Aggregation::kEdge},
                               Setting{"multicast and tree aggregation", true, Aggregation::kTree}};
constexpr std::array<std::uint64_t, 4> kUpdateBytes{10'000'000, 100'000'000, 1'000'000'000, 10'000'000'000};

/// One clique of all: the only cycle of one round that joins all islands.
std::optional<RoundsPoint> one_round(const Problem& problem) {
  schedule::Round round;
  round.cliques.emplace_back(problem.islands());
  std::iota(round.cliques.front().begin(), round.cliques.front().end(), schedule::Rank{0});
  const auto time = problem.model().time(round, problem.update_bytes());
  if (problem.islands() > schedule::kMaxCliqueMembers || !time || !time->modes_proven) return std::nullopt;
  const auto n = static_cast<double>(problem.islands());
  return RoundsPoint{1, 1.5 * time->seconds * (n - 1) / n, true};
}

/// Searches with one round more at a time, each beginning at what was found before.
Result<std::vector<RoundsPoint>> study_rounds(const Problem& problem, const schedule::Optimized& best,
                                              const StudyOptions& options) {
  std::vector<RoundsPoint> points;
  if (const auto first = one_round(problem)) points.push_back(*first);
  std::vector<Schedule> starts;
  std::optional<double> two_rounds_s;
  if (problem.islands() <= schedule::kMaxExactIslands && options.max_rounds >= 2) {
    auto exact = schedule::best_two_rounds(problem);
    if (!exact) return std::move(exact).error();
    two_rounds_s = exact->disagreement_s;
    starts.push_back(std::move(exact->schedule));
    for (Schedule& other : exact->runners_up) starts.push_back(std::move(other));
    points.push_back({2, *two_rounds_s, true});
  }
  for (std::size_t rounds = two_rounds_s ? 3 : 2; rounds <= std::min(options.max_rounds, kMostStudiedRounds);
       ++rounds) {
    if (best.schedule.rounds.size() == rounds) starts.push_back(best.schedule);
    std::vector<Schedule> begin = starts;
    for (Schedule& seed : schedule::plain_seeds(problem, rounds)) begin.push_back(std::move(seed));
    auto found = schedule::search_cycles(problem, begin,
                                         {.max_rounds = rounds,
                                          .seed = options.seed,
                                          .max_cycles = options.max_cycles,
                                          .stop = {},
                                          .progress = {}});
    if (!found) return std::move(found).error();
    double d_s = found->disagreement_s;
    if (best.schedule.rounds.size() <= rounds) d_s = std::min(d_s, best.mixing.disagreement_s);
    points.push_back({rounds, d_s, d_s <= best.bound_s * (1 + kEqual)});
    starts.push_back(std::move(found->schedule));
  }
  return points;
}

Variant failed(const Error& error) {
  Variant variant;
  variant.failure = error.message;
  return variant;
}

Variant best_variant(const Problem& problem, const StudyOptions& options) {
  Variant variant;
  std::vector<Schedule> starts;
  std::optional<double> two_rounds_s;
  if (problem.islands() <= schedule::kMaxExactIslands) {
    auto exact = schedule::best_two_rounds(problem);
    if (!exact) return failed(exact.error());
    two_rounds_s = exact->disagreement_s;
    starts.push_back(std::move(exact->schedule));
    for (Schedule& other : exact->runners_up) starts.push_back(std::move(other));
  }
  for (Schedule& seed : schedule::plain_seeds(problem, options.max_rounds)) starts.push_back(std::move(seed));
  const std::size_t rounds = std::max<std::size_t>(options.max_rounds, 2);
  auto found = schedule::search_cycles(problem, starts,
                                       {.max_rounds = rounds,
                                        .seed = options.seed,
                                        .max_cycles = options.variant_cycles,
                                        .stop = {},
                                        .progress = {}});
  if (!found) return failed(found.error());
  variant.schedule = std::move(found->schedule);
  variant.disagreement_s = found->disagreement_s;
  variant.certified = two_rounds_s && variant.schedule.rounds.size() <= 2 &&
                      variant.disagreement_s <= *two_rounds_s * (1 + kEqual);
  return variant;
}

VariantGrid make_grid(const Problem& problem, double egress_share, const StudyOptions& options) {
  VariantGrid grid{.title = fmt::format("Egress at {:.0f} %", 100 * egress_share)};
  schedule::Network network = problem.network();
  for (std::uint64_t& rate : network.egress_bps)
    rate = static_cast<std::uint64_t>(static_cast<double>(rate) * egress_share);
  for (const std::uint64_t bytes : kUpdateBytes) grid.columns.push_back(format_bytes(bytes));
  for (const Setting& setting : kSettings) {
    if (options.progress) options.progress(fmt::format("page: {}, {}", grid.title, setting.name));
    grid.rows.emplace_back(setting.name);
    std::vector<Variant> row;
    schedule::Capabilities capabilities = problem.capabilities();
    capabilities.multicast = setting.multicast;
    capabilities.aggregation = setting.aggregation;
    for (const std::uint64_t bytes : kUpdateBytes)
      row.push_back(best_variant(Problem(network, capabilities, static_cast<double>(bytes)), options));
    grid.cells.push_back(std::move(row));
  }
  return grid;
}

}  // namespace

Result<Studies> make_studies(const Problem& problem, const schedule::Optimized& best,
                             const StudyOptions& options) {
  Studies studies;
  const auto tell = [&](std::string_view text) {
    if (options.progress) options.progress(text);
  };
  const std::size_t islands = problem.islands();
  if (islands <= kMostSearchedIslands) {
    tell("page: D against the number of rounds");
    auto points = study_rounds(problem, best, options);
    if (!points) return std::move(points).error();
    studies.by_rounds = std::move(*points);
    studies.grids.push_back(make_grid(problem, 1, options));
    if (islands <= schedule::kMaxExactIslands) studies.grids.push_back(make_grid(problem, 0.25, options));
  } else {
    studies.left_out.push_back(
        fmt::format("{} islands: how D depends on the number of rounds, on capabilities, sizes and egress is "
                    "shown for at most {}, because each value takes a search of its own.",
                    islands, kMostSearchedIslands));
  }
  if (islands <= kMostComparedIslands) {
    tell("page: the comparison");
    auto rows =
        schedule::baselines::all_baselines({problem.network(), problem.routes(), problem.capabilities(),
                                            problem.update_bytes(), 1, options.seed},
                                           options.local_steps);
    if (!rows) return std::move(rows).error();
    studies.baselines = std::move(*rows);
  } else {
    studies.left_out.push_back(
        fmt::format("{} islands: the comparison is shown for at most {}; `tombolo schedule compare` makes it "
                    "for any number.",
                    islands, kMostComparedIslands));
  }
  return studies;
}

}  // namespace tombolo::tools
