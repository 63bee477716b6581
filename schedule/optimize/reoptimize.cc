#include "schedule/optimize/reoptimize.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "schedule/optimize/cycle.h"
#include "schedule/optimize/search.h"
#include "schedule/optimize/seeds.h"

namespace tombolo::schedule {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Changes that the schedule goes through one at a time; beyond, it is a new schedule.
constexpr int kMaxSteps = 8;
/// Of D, as a share of it: when iterating stops.
constexpr double kPrecision = 1e-13;

bool is_lost(const DirectedLink& link, const Losses& losses) {
  const auto lost_site = [&](SiteId site) {
    return std::find(losses.sites.begin(), losses.sites.end(), site) != losses.sites.end();
  };
  const LostLink name{std::min(link.from, link.to), std::max(link.from, link.to)};
  return lost_site(link.from) || lost_site(link.to) ||
         std::find(losses.links.begin(), losses.links.end(), name) != losses.links.end();
}

/// Sites of the part of the network that holds the most islands, each reached from each.
std::vector<bool> largest_part(const Network& network, const Losses& losses) {
  const Routes routes(network);
  const std::size_t sites = network.site_names.size();
  std::vector<bool> lost(sites, false);
  for (const SiteId site : losses.sites) lost[site] = true;
  std::vector<bool> best(sites, false);
  std::size_t most = 0;
  for (std::size_t i = 0; i < sites; ++i) {
    std::vector<bool> part(sites, false);
    const auto source = static_cast<SiteId>(i);
    for (std::size_t j = 0; j < sites; ++j) {
      const auto site = static_cast<SiteId>(j);
      part[j] = !lost[i] && !lost[j] && routes.reaches(source, site) && routes.reaches(site, source);
    }
    const auto islands = static_cast<std::size_t>(std::count_if(
        network.islands.begin(), network.islands.end(), [&](const Island& one) { return part[one.site]; }));
    if (islands <= most) continue;
    most = islands;
    best = std::move(part);
  }
  return best;
}

/// The running schedule in the ranks of what is left.
std::vector<Partition> left_of(const Schedule& running, const Remainder& rest) {
  std::vector<Partition> cycle;
  for (const Round& round : running.rounds) {
    Round left;
    for (const Clique& clique : round.cliques) {
      Clique members;
      for (std::size_t i = 0; i < rest.ranks.size(); ++i)
        if (std::binary_search(clique.begin(), clique.end(), rest.ranks[i]))
          members.push_back(static_cast<Rank>(i));
      if (members.size() >= 2) left.cliques.push_back(std::move(members));
    }
    if (!left.cliques.empty()) cycle.push_back(to_partition(left, rest.ranks.size()));
  }
  return cycle;
}

/// Changes a cycle a little at a time.
class Changer {
 public:
  Changer(const Problem& problem, const std::vector<Partition>& running, std::uint64_t max_cycles)
      : book_(problem), meter_(problem.islands()), left_(max_cycles) {
    for (const Partition& sets : running)
      for (const IslandSet set : sets)
        if (!std::has_single_bit(set)) known_.insert(set);
  }

  double measure(const std::vector<Partition>& rounds);
  std::size_t changed(const std::vector<Partition>& rounds) const;
  /// The change that gains most per clique changed; false if none gains.
  bool step(std::vector<Partition>& rounds, double& disagreement_s);

 private:
  std::vector<Partition> neighbours(const Partition& sets) const;

  RoundBook book_;
  CycleMeter meter_;
  std::uint64_t left_;
  std::multiset<IslandSet> known_;  ///< The cliques of the running schedule.
};

/// Cliques that came or cliques that went, whichever are more; a clique may be there in several rounds.
std::size_t Changer::changed(const std::vector<Partition>& rounds) const {
  std::multiset<IslandSet> gone = known_;
  std::size_t came = 0;
  for (const Partition& sets : rounds)
    for (const IslandSet set : sets) {
      if (std::has_single_bit(set)) continue;
      if (const auto same = gone.find(set); same != gone.end())
        gone.erase(same);
      else
        ++came;
    }
  return std::max(came, gone.size());
}

double Changer::measure(const std::vector<Partition>& rounds) {
  Cycle cycle;
  for (const Partition& sets : rounds) {
    cycle.push_back(book_.find(sets));
    if (cycle.back() == nullptr) return kInfinity;
  }
  return cycle.empty() ? kInfinity : meter_.disagreement_s(cycle, kInfinity, kPrecision);
}

/// The partitions one move away: an island joins another set or rests, two change places, two sets are one.
std::vector<Partition> Changer::neighbours(const Partition& sets) const {
  std::vector<Partition> all;
  const auto add = [&](Partition changed) {
    std::erase(changed, IslandSet{0});
    all.push_back(std::move(changed));
  };
  for (std::size_t a = 0; a < sets.size(); ++a)
    for (IslandSet left = sets[a]; left != 0; left &= left - 1) {
      const IslandSet i = left & -left;
      Partition rest = sets;
      rest[a] ^= i;
      rest.push_back(i);
      if (!std::has_single_bit(sets[a])) add(rest);
      for (std::size_t b = 0; b < sets.size(); ++b) {
        if (b == a) continue;
        Partition moved = sets;
        moved[a] ^= i;
        moved[b] |= i;
        add(moved);
        for (IslandSet right = b > a ? sets[b] : 0; right != 0; right &= right - 1) {
          Partition swapped = moved;
          swapped[a] |= right & -right;
          swapped[b] ^= right & -right;
          add(swapped);
        }
      }
    }
  for (std::size_t a = 0; a < sets.size(); ++a)
    for (std::size_t b = a + 1; b < sets.size(); ++b) {
      Partition merged = sets;
      merged[a] |= merged[b];
      merged[b] = 0;
      add(merged);
    }
  return all;
}

bool Changer::step(std::vector<Partition>& rounds, double& disagreement_s) {
  Cycle cycle;
  for (const Partition& sets : rounds) cycle.push_back(book_.find(sets));
  const std::size_t before = changed(rounds);
  double best_gain = 0;
  std::vector<Partition> best;
  double best_s = disagreement_s;
  for (std::size_t r = 0; r < rounds.size(); ++r) {
    const RoundHandle old = cycle[r];
    for (const Partition& sets : neighbours(rounds[r])) {
      if (left_ == 0) break;
      --left_;
      cycle[r] = book_.find(sets);
      if (cycle[r] == nullptr) continue;
      const double now_s = meter_.disagreement_s(cycle, disagreement_s, kPrecision);
      if (!(now_s < disagreement_s)) continue;
      std::vector<Partition> candidate = rounds;
      candidate[r] = sets;
      const std::size_t after = changed(candidate);
      const double more = after > before ? static_cast<double>(after - before) : 0.5;
      const double gained_s = std::isinf(disagreement_s) ? 1 / now_s : disagreement_s - now_s;
      if (gained_s / more <= best_gain) continue;
      best_gain = gained_s / more;
      best = std::move(candidate);
      best_s = now_s;
    }
    cycle[r] = old;
  }
  if (best.empty()) return false;
  rounds = std::move(best);
  disagreement_s = best_s;
  return true;
}

Schedule in_whole_ranks(const std::vector<Partition>& rounds, const std::vector<Rank>& ranks) {
  Schedule schedule{"reoptimized", {}};
  for (const Partition& sets : rounds) {
    Round round = to_round(sets);
    for (Clique& clique : round.cliques)
      for (Rank& rank : clique) rank = ranks[rank];
    schedule.rounds.push_back(std::move(round));
  }
  return schedule;
}

}  // namespace

Result<Remainder> without(const Network& network, const Capabilities& capabilities, const Losses& losses) {
  for (const SiteId site : losses.sites)
    if (site >= network.site_names.size()) return invalid_input(fmt::format("there is no site {}", site));
  Remainder rest{network, capabilities, {}};
  const auto keep = [&](auto& list, const auto& whole) {
    list.clear();
    for (std::size_t i = 0; i < whole.size(); ++i)
      if (!is_lost(network.links[i], losses)) list.push_back(whole[i]);
  };
  keep(rest.network.links, network.links);
  keep(rest.capabilities.link_multicast, capabilities.link_multicast);
  const std::vector<bool> part = largest_part(rest.network, losses);
  rest.network.islands.clear();
  for (std::size_t rank = 0; rank < network.islands.size(); ++rank) {
    if (!part[network.islands[rank].site]) continue;
    rest.network.islands.push_back(network.islands[rank]);
    rest.ranks.push_back(static_cast<Rank>(rank));
  }
  return rest;
}

Result<Reoptimized> reoptimize(const Network& network, const Capabilities& capabilities, double update_bytes,
                               const Schedule& running, const Losses& losses,
                               const ReoptimizeOptions& options) {
  const auto rest = without(network, capabilities, losses);
  if (!rest) return Error{rest.error()};
  const Problem problem(rest->network, rest->capabilities, update_bytes);
  if (auto checked = problem.check(); !checked) return std::move(checked).error();
  if (problem.islands() > kMaxSetIslands)
    return Error{ErrorCode::kNotSupported, fmt::format("re-optimizing is for up to {} islands, not for {}",
                                                       kMaxSetIslands, problem.islands())};
  std::vector<Partition> rounds = left_of(running, *rest);
  Changer changer(problem, rounds, options.max_cycles);
  Reoptimized result;
  for (std::size_t rank = 0, next = 0; rank < network.islands.size(); ++rank) {
    if (next < rest->ranks.size() && rest->ranks[next] == rank)
      ++next;
    else
      result.lost.push_back(static_cast<Rank>(rank));
  }
  result.unchanged_disagreement_s = changer.measure(rounds);

  std::vector<Schedule> starts = plain_seeds(problem, options.max_rounds);
  if (std::isfinite(result.unchanged_disagreement_s) && rounds.size() <= options.max_rounds) {
    starts.push_back({"running", {}});
    for (const Partition& sets : rounds) starts.back().rounds.push_back(to_round(sets));
  }
  SearchOptions search;
  search.max_rounds = options.max_rounds;
  search.seed = options.seed;
  search.max_cycles = options.max_cycles;
  const auto fresh = search_cycles(problem, starts, search);
  if (!fresh) return Error{fresh.error()};
  result.fresh_disagreement_s = fresh->disagreement_s;

  const double enough_s = fresh->disagreement_s * (1 + options.tolerance);
  result.disagreement_s = result.unchanged_disagreement_s;
  for (int step = 0; step < kMaxSteps && result.disagreement_s > enough_s && !rounds.empty(); ++step)
    if (!changer.step(rounds, result.disagreement_s)) break;
  if (result.disagreement_s > enough_s) {
    rounds.clear();
    for (const Round& round : fresh->schedule.rounds)
      rounds.push_back(to_partition(round, problem.islands()));
    result.disagreement_s = fresh->disagreement_s;
  }
  result.fresh_disagreement_s = std::min(result.fresh_disagreement_s, result.disagreement_s);
  result.changed_cliques = changer.changed(rounds);
  result.schedule = in_whole_ranks(rounds, rest->ranks);
  for (const Round& round : result.schedule.rounds) result.cliques += round.cliques.size();
  return result;
}

}  // namespace tombolo::schedule
