#include "schedule/optimize/scenarios.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "schedule/source_tree.h"

namespace tombolo::schedule {
namespace {

constexpr double kSecondsPerNs = 1e-9;

using Way = PlannedRound::Way;

/// The ways of the packets of one clique.
class WayFinder {
 public:
  explicit WayFinder(const Problem& problem) : problem_(problem) {}

  SiteId site(Rank rank) const { return problem_.network().islands[rank].site; }

  Way route(SiteId from, SiteId to) const {
    Way way;
    for (SiteId at = to; at != from; at = problem_.routes().parent(from, at))
      way.push_back(problem_.routes().link_into(from, at));
    return way;
  }

  /// Along a tree that was chosen for the source.
  void add_tree(SiteId source, const SourceTree& tree, const Clique& clique, std::vector<Way>& ways) const {
    std::map<SiteId, SiteLink> into;
    for (const SiteLink& link : tree) into.emplace(link.to, link);
    for (const Rank receiver : clique) {
      Way way;
      for (SiteId at = site(receiver); at != source; at = into.at(at).from) {
        const auto link = find_link(problem_.network(), into.at(at));
        CHECK(link.has_value());
        way.push_back(*link);
      }
      ways.push_back(std::move(way));
    }
  }

  /// As the round model defines the latency of each mode.
  void find(const Clique& clique, CliqueMode mode, const CliqueTrees& trees,
            PlannedRound::PlannedClique& planned) const {
    if (mode.mode == Mode::kTree) {
      for (const Rank rank : clique) {
        planned.there.push_back(route(site(rank), mode.root));
        planned.back.push_back(route(mode.root, site(rank)));
      }
      return;
    }
    planned.passes = mode.mode == Mode::kSharded ? 2 : 1;
    for (std::size_t i = 0; i < clique.size(); ++i) {
      const SiteId source = site(clique[i]);
      if (!trees.empty() && !trees[i].empty())
        add_tree(source, trees[i], clique, planned.there);
      else
        for (const Rank receiver : clique) planned.there.push_back(route(source, site(receiver)));
    }
  }

 private:
  const Problem& problem_;
};

double longest_s(const std::vector<Way>& ways, const std::vector<double>& link_s) {
  double longest_s = 0;
  for (const Way& way : ways) {
    double seconds = 0;
    for (const std::uint32_t link : way) seconds += link_s[link];
    longest_s = std::max(longest_s, seconds);
  }
  return longest_s;
}

}  // namespace

Status UncertaintyOptions::check() const {
  if (!(share >= 0 && share < 1))
    return invalid_input(fmt::format("an uncertainty of {}; must be from 0 to below 1", share));
  if (draws < 10) return invalid_input(fmt::format("{} draws; the worst tenth needs at least 10", draws));
  return ok_status();
}

Result<PlannedRound> plan_round(const Problem& problem, const Round& round) {
  const auto time = problem.model().time(round, problem.update_bytes());
  if (!time) return Error{time.error()};
  PlannedRound planned;
  planned.rest_s = round.rest_s;
  const WayFinder finder(problem);
  for (std::size_t i = 0; i < round.cliques.size(); ++i) {
    const Clique& clique = round.cliques[i];
    const CliqueTrees trees = round.trees.empty() ? CliqueTrees{} : round.trees[i];
    PlannedRound::PlannedClique& one = planned.cliques.emplace_back();
    one.load =
        trees.empty() ? problem.model().load(clique, time->modes[i]) : problem.model().load(clique, trees);
    finder.find(clique, time->modes[i], trees, one);
  }
  return planned;
}

Scenarios::Scenarios(const Problem& problem, const UncertaintyOptions& options) {
  Random random(options.seed);
  const auto factor = [&] { return 1 + options.share * (2 * random.unit() - 1); };
  const std::vector<double> update_s = problem.model().update_seconds(problem.update_bytes());
  for (std::size_t i = 0; i < options.draws; ++i) {
    Scenario& scenario = scenarios_.emplace_back();
    for (const double seconds : update_s) scenario.update_s.push_back(seconds / factor());
    for (const DirectedLink& link : problem.network().links)
      scenario.link_s.push_back(static_cast<double>(link.one_way_ns) * kSecondsPerNs * factor());
  }
}

Scenarios Scenarios::only(std::span<const std::size_t> draws) const {
  Scenarios some;
  for (const std::size_t draw : draws) some.scenarios_.push_back(scenarios_[draw]);
  return some;
}

std::vector<double> Scenarios::seconds(PlannedRound round) const {
  if (round.cliques.empty()) return std::vector<double>(draws(), round.rest_s);
  std::vector<const CliqueLoad*> loads;
  for (const PlannedRound::PlannedClique& clique : round.cliques) loads.push_back(&clique.load);
  std::vector<double> seconds;
  for (const Scenario& scenario : scenarios_) {
    for (PlannedRound::PlannedClique& clique : round.cliques)
      clique.load.latency_s = clique.passes * (longest_s(clique.there, scenario.link_s) +
                                               longest_s(clique.back, scenario.link_s));
    seconds.push_back(RoundModel::least_time(loads, scenario.update_s));
  }
  return seconds;
}

}  // namespace tombolo::schedule
