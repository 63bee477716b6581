#include "schedule/trees/tree_relaxation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "schedule/trees/shortest_tree.h"

namespace tombolo::schedule {
namespace {

constexpr double kSecondsPerNs = 1e-9;
/// Times and loads that differ by less, as a share, are equal.
constexpr double kEqual = 1e-9;
constexpr int kBisections = 100;

double seconds(std::uint64_t ns) { return static_cast<double>(ns) * kSecondsPerNs; }

}  // namespace

TreeRelaxation::TreeRelaxation(const RoundModel& model, PackedCliques& round, std::size_t max_programmes)
    : model_(model),
      round_(round),
      programmes_left_(max_programmes),
      curves_(round.cliques.size()),
      access_price_(round.cliques.size()) {
  for (const CliquePricer& clique : round.cliques) pool_.emplace_back(clique.members());
  for (std::size_t i = 0; i < round.fixed.size(); ++i)
    bundles_.push_back({round.cliques.size() + i, {}, round.fixed[i]});
}

void TreeRelaxation::add(const RoundTrees& trees) {
  for (std::size_t c = 0; c < trees.size(); ++c) add_bundle(c, trees[c]);
}

/// Returns whether it is new.
bool TreeRelaxation::add_bundle(std::size_t clique, std::vector<LinkTree> trees) {
  if (!known_.emplace(clique, trees).second) return false;
  const CliquePricer& pricer = round_.cliques[clique];
  const Network& network = model_.network();
  std::vector<SiteId> sites;
  for (const Rank rank : pricer.clique()) sites.push_back(network.islands[rank].site);
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const auto tree = shortest_tree(network, trees[i], sites[i], sites, {});
    CHECK(tree.has_value());
    auto& pool = pool_[clique][i];
    if (std::find(pool.begin(), pool.end(), *tree) == pool.end()) pool.push_back(*tree);
  }
  CliqueLoad load = pricer.load(trees);
  bundles_.push_back({clique, std::move(trees), std::move(load)});
  return true;
}

bool TreeRelaxation::keeps(const TreeBundle& bundle, const std::vector<TreeDecision>& decisions) const {
  return std::all_of(decisions.begin(), decisions.end(), [&](const TreeDecision& decision) {
    if (decision.clique != bundle.clique) return true;
    const LinkTree& tree = bundle.trees[decision.member];
    return std::binary_search(tree.begin(), tree.end(), decision.link) == decision.used;
  });
}

/// A tree enters a site once: who must use a link must reach its end, and by no other.
RulesByMember TreeRelaxation::rules(const std::vector<TreeDecision>& decisions, std::size_t clique) const {
  const std::vector<DirectedLink>& links = model_.network().links;
  RulesByMember rules;
  for (const TreeDecision& decision : decisions) {
    if (decision.clique != clique) continue;
    TreeRules& rule = rules[decision.member];
    rule.forbidden.resize(links.size(), false);
    if (!decision.used) {
      rule.forbidden[decision.link] = true;
      continue;
    }
    rule.required.push_back(links[decision.link].to);
    for (std::size_t i = 0; i < links.size(); ++i)
      if (i != decision.link && links[i].to == links[decision.link].to) rule.forbidden[i] = true;
  }
  return rules;
}

/// With more, the access lines alone would take the round over the limit.
std::uint64_t TreeRelaxation::latency_limit_ns(std::size_t clique, double limit_s) const {
  double access_s = 0;
  for (const ResourceLoad& asked : round_.cliques[clique].access())
    access_s = std::max(access_s, asked.updates * round_.update_s[asked.resource]);
  return static_cast<std::uint64_t>(std::ceil(std::max(0.0, limit_s - access_s) / kSecondsPerNs)) + 1;
}

/// Whether every clique has trees.
bool TreeRelaxation::find_curves(const std::vector<TreeDecision>& decisions, std::span<const double> prices,
                                 double limit_s) {
  const std::vector<double>& update_s = round_.update_s;
  const std::size_t first = 2 * model_.network().islands.size();
  const auto cost = [&](const ResourceLoad& asked) {
    return asked.updates * update_s[asked.resource] * prices[asked.resource];
  };
  std::vector<double> by_link;
  for (std::size_t e = first; e < prices.size(); ++e) by_link.push_back(prices[e] * update_s[e]);
  fixed_price_.clear();
  for (const CliqueLoad& load : round_.fixed) {
    double price = 0;
    for (const ResourceLoad& asked : load.loads) price += cost(asked);
    fixed_price_.emplace_back(load.latency_s, price);
  }
  for (std::size_t c = 0; c < round_.cliques.size(); ++c) {
    access_price_[c] = 0;
    for (const ResourceLoad& asked : round_.cliques[c].access()) access_price_[c] += cost(asked);
    curves_[c] = round_.cliques[c].find(by_link, latency_limit_ns(c, limit_s), rules(decisions, c));
    if (curves_[c].empty()) return false;
  }
  return true;
}

/// The trees that fill least for their price in a round of this time; none if all are too long.
const TreeRelaxation::Point* TreeRelaxation::cheapest(std::size_t clique, double time_s) const {
  const Point* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Point& point : curves_[clique]) {
    const double sending_s = time_s - seconds(point.latency_ns);
    if (sending_s <= 0) break;
    const double fullness = (access_price_[clique] + point.price) / sending_s;
    if (fullness >= least) continue;
    least = fullness;
    best = &point;
  }
  return best;
}

/// Prices sum to 1, so in a round of this time some resource is at least so full, whatever the trees.
double TreeRelaxation::least_fullness(double time_s) const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double sum = 0;
  for (const auto& [latency_s, price] : fixed_price_)
    sum += time_s > latency_s ? price / (time_s - latency_s) : kInfinity;
  for (std::size_t c = 0; c < curves_.size(); ++c) {
    const Point* const point = cheapest(c, time_s);
    if (point == nullptr) return kInfinity;
    sum += (access_price_[c] + point->price) / (time_s - seconds(point->latency_ns));
  }
  return sum;
}

/// The time below which some resource would be more than full, as far as these prices tell.
double TreeRelaxation::bound_s(double limit_s) const {
  if (least_fullness(limit_s) >= 1) return limit_s;
  double short_s = 0;
  double long_s = limit_s;
  for (int i = 0; i < kBisections; ++i) {
    const double middle_s = (short_s + long_s) / 2;
    (least_fullness(middle_s) >= 1 ? short_s : long_s) = middle_s;
  }
  return short_s;
}

/// Returns whether any of them is new.
bool TreeRelaxation::add_cheapest(double time_s) {
  bool added = false;
  for (std::size_t c = 0; c < curves_.size(); ++c)
    if (const Point* const point = cheapest(c, time_s))
      added |= add_bundle(c, round_.cliques[c].trees(*point));
  return added;
}

TreeBound TreeRelaxation::solve(const std::vector<TreeDecision>& decisions, double time_s, double limit_s) {
  TreeBound result;
  const std::size_t cliques = round_.cliques.size() + round_.fixed.size();
  TreeMaster master(round_.update_s, cliques, time_s);
  std::vector<std::size_t> columns;
  std::size_t seen = 0;
  std::vector<double> prices(round_.update_s.size(), 1 / static_cast<double>(round_.update_s.size()));
  for (std::size_t turn = 0; programmes_left_ > 0; ++turn, --programmes_left_) {
    if (!find_curves(decisions, prices, limit_s)) return result;
    result.bound_s = std::max(result.bound_s, bound_s(limit_s));
    if (result.bound_s >= limit_s * (1 - kEqual)) return result;
    const double least = least_fullness(time_s);
    // In the first turn there are no shares yet, and these bundles make sure that every clique has one.
    const bool converged = turn > 0 && master.fullness() - least <= kEqual * master.fullness();
    if (converged || (!add_cheapest(time_s) && turn > 0)) break;
    for (; seen < bundles_.size(); ++seen) {
      if (!keeps(bundles_[seen], decisions) || bundles_[seen].load.latency_s >= time_s) continue;
      master.add(bundles_[seen]);
      columns.push_back(seen);
    }
    if (!master.solve()) {  // Nothing is proved by that; the search goes on without an answer.
      columns.clear();
      break;
    }
    prices = master.prices();
  }
  result.feasible = true;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const TreeBundle& bundle = bundles_[columns[i]];
    for (std::size_t member = 0; member < bundle.trees.size(); ++member)
      result.shares.push_back({bundle.clique, member, &bundle.trees[member], master.share(i)});
  }
  return result;
}

}  // namespace tombolo::schedule
