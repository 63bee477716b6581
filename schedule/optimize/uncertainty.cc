#include "schedule/optimize/uncertainty.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/random.h"
#include "schedule/mixing.h"

namespace tombolo::schedule {
namespace {

constexpr double kSecondsPerNs = 1e-9;

/// A round as planned: what its cliques ask for, which stays, and whose latency changes.
struct PlannedRound {
  std::vector<Clique> cliques;
  std::vector<CliqueMode> modes;
  std::vector<CliqueLoad> loads;
  double rest_s = 0;
};

/// One draw: what is off, and by how much.
class Draw {
 public:
  Draw(const Problem& problem, double share, Random& random) : problem_(problem) {
    const auto factor = [&] { return 1 + share * (2 * random.unit() - 1); };
    for (const double seconds : problem.model().update_seconds(problem.update_bytes()))
      update_s_.push_back(seconds / factor());
    for (const DirectedLink& link : problem.network().links)
      link_s_.push_back(static_cast<double>(link.one_way_ns) * kSecondsPerNs * factor());
  }

  double seconds(const PlannedRound& round) const {
    if (round.cliques.empty()) return round.rest_s;
    std::vector<CliqueLoad> loads = round.loads;
    std::vector<const CliqueLoad*> pointers;
    for (std::size_t i = 0; i < loads.size(); ++i) {
      loads[i].latency_s = latency_s(round.cliques[i], round.modes[i]);
      pointers.push_back(&loads[i]);
    }
    return RoundModel::least_time(pointers, update_s_);
  }

 private:
  /// Along the planned route.
  double way_s(SiteId from, SiteId to) const {
    double seconds = 0;
    for (SiteId at = to; at != from; at = problem_.routes().parent(from, at))
      seconds += link_s_[problem_.routes().link_into(from, at)];
    return seconds;
  }

  /// As the round model defines it for each mode.
  double latency_s(const Clique& clique, CliqueMode mode) const {
    const auto site = [&](Rank rank) { return problem_.network().islands[rank].site; };
    if (mode.mode == Mode::kTree) {
      double up_s = 0;
      double down_s = 0;
      for (const Rank rank : clique) {
        up_s = std::max(up_s, way_s(site(rank), mode.root));
        down_s = std::max(down_s, way_s(mode.root, site(rank)));
      }
      return up_s + down_s;
    }
    double longest_s = 0;
    for (const Rank a : clique)
      for (const Rank b : clique) longest_s = std::max(longest_s, way_s(site(a), site(b)));
    return mode.mode == Mode::kSharded ? 2 * longest_s : longest_s;
  }

  const Problem& problem_;
  std::vector<double> update_s_;  ///< By resource.
  std::vector<double> link_s_;    ///< By directed link: its latency.
};

Result<std::vector<PlannedRound>> plan(const Problem& problem, const Schedule& schedule) {
  std::vector<PlannedRound> rounds;
  for (const Round& round : schedule.rounds) {
    const auto time = problem.model().time(round, problem.update_bytes());
    if (!time) return Error{time.error()};
    PlannedRound planned{round.cliques, time->modes, {}, round.rest_s};
    if (!round.trees.empty())
      return Error{ErrorCode::kNotSupported, "uncertainty is not for schedules with trees of their own yet"};
    for (std::size_t i = 0; i < round.cliques.size(); ++i)
      planned.loads.push_back(problem.model().load(round.cliques[i], time->modes[i]));
    rounds.push_back(std::move(planned));
  }
  return rounds;
}

DisagreementSpread spread_of(std::vector<double> ascending_s) {
  const std::size_t count = ascending_s.size();
  const auto quantile = [&](std::size_t percent) { return ascending_s[(count - 1) * percent / 100]; };
  const std::size_t worst = std::max<std::size_t>(1, count / 10);
  DisagreementSpread spread{quantile(10), quantile(50), quantile(90), 0, {}};
  spread.worst_decile_s =
      std::accumulate(ascending_s.end() - static_cast<std::ptrdiff_t>(worst), ascending_s.end(), 0.0) /
      static_cast<double>(worst);
  spread.ascending_s = std::move(ascending_s);
  return spread;
}

}  // namespace

Result<DisagreementSpread> disagreement_spread(const Problem& problem, const Schedule& schedule,
                                               const UncertaintyOptions& options) {
  if (!(options.share >= 0 && options.share < 1))
    return invalid_input(fmt::format("an uncertainty of {}; must be from 0 to below 1", options.share));
  if (options.draws < 10)
    return invalid_input(fmt::format("{} draws; the worst tenth needs at least 10", options.draws));
  if (auto checked = problem.check(); !checked) return std::move(checked).error();
  const auto rounds = plan(problem, schedule);
  if (!rounds) return Error{rounds.error()};
  Random random(options.seed);
  std::vector<double> disagreements_s;
  for (std::size_t i = 0; i < options.draws; ++i) {
    const Draw draw(problem, options.share, random);
    std::vector<double> seconds;
    for (const PlannedRound& round : *rounds) seconds.push_back(draw.seconds(round));
    const auto mixing = measure_mixing(schedule, seconds, problem.islands());
    if (!mixing) return Error{mixing.error()};
    disagreements_s.push_back(mixing->disagreement_s);
  }
  std::sort(disagreements_s.begin(), disagreements_s.end());
  return spread_of(std::move(disagreements_s));
}

Result<RobustChoice> choose_robust(const Problem& problem, std::span<const Schedule> candidates,
                                   const UncertaintyOptions& options) {
  if (candidates.empty()) return invalid_input("there is no schedule to choose from");
  RobustChoice choice;
  for (const Schedule& candidate : candidates) {
    auto spread = disagreement_spread(problem, candidate, options);
    if (!spread) return std::move(spread).error();
    choice.spreads.push_back(*std::move(spread));
    if (choice.spreads.back().worst_decile_s < choice.spreads[choice.index].worst_decile_s)
      choice.index = choice.spreads.size() - 1;
  }
  return choice;
}

}  // namespace tombolo::schedule
