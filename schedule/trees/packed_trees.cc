#include "schedule/trees/packed_trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "schedule/trees/shortest_tree.h"
#include "schedule/trees/tree_choice.h"
#include "schedule/trees/tree_relaxation.h"

namespace tombolo::schedule {
namespace {

/// Times that differ by less, as a share, are equal.
constexpr double kEqual = 1e-9;
/// Shares are only as good as the solver's tolerance.
constexpr double kWhole = 1e-6;
constexpr int kMostBoundSteps = 20;

/// The search for the best trees of one round.
class Packing {
 public:
  Packing(const RoundModel& model, PackedCliques round, const PackOptions& options)
      : model_(model), round_(std::move(round)), relaxation_(model, round_, options.max_programmes) {}

  /// Trees that are known to fit.
  void begin_with(RoundTrees trees) {
    relaxation_.add(trees);
    offer(std::move(trees));
  }
  void solve();

  const RoundTrees& best() const { return best_; }
  double best_s() const { return best_s_; }
  double bound_s() const { return bound_s_; }
  bool proven() const { return proven_; }

 private:
  bool done() const { return bound_s_ >= best_s_ * (1 - kEqual); }
  void find_bound();
  std::optional<TreeDecision> undecided(const TreeBound& bound) const;
  bool round_off(const TreeBound& bound);
  bool offer(RoundTrees trees);

  const RoundModel& model_;
  PackedCliques round_;
  TreeRelaxation relaxation_;
  RoundTrees best_;
  double best_s_ = std::numeric_limits<double>::infinity();
  double bound_s_ = 0;
  bool proven_ = true;
};

/// Returns whether they are better than the best so far.
bool Packing::offer(RoundTrees trees) {
  const double time_s = round_.time_s(trees);
  if (time_s >= best_s_ * (1 - kEqual)) return false;
  best_s_ = time_s;
  best_ = std::move(trees);
  return true;
}

/// Newton's steps: prices at one time give a time below which no round is, and prices there a better one.
void Packing::find_bound() {
  double time_s = best_s_;
  for (int step = 0; step < kMostBoundSteps && !done() && !relaxation_.exhausted(); ++step) {
    const double limit_s = best_s_;
    const TreeBound found = relaxation_.solve({}, time_s, limit_s);
    const double before_s = bound_s_;
    bound_s_ = std::max(bound_s_, found.feasible ? found.bound_s : limit_s);
    if (!found.feasible) return;
    round_off(found);
    if (step > 0 && bound_s_ <= before_s * (1 + kEqual)) return;
    time_s = bound_s_;
  }
}

/// The tree that each member uses most, improved.
bool Packing::round_off(const TreeBound& bound) {
  if (bound.shares.empty()) return false;
  const Network& network = model_.network();
  RoundTrees trees;
  for (const CliquePricer& clique : round_.cliques) trees.emplace_back(clique.members());
  std::map<std::pair<std::size_t, std::size_t>, std::map<LinkTree, double>> used;
  for (const TreeShare& share : bound.shares) used[{share.clique, share.member}][*share.tree] += share.share;
  for (const auto& [who, shares] : used) {
    const auto most = std::max_element(shares.begin(), shares.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    const Clique& clique = round_.cliques[who.first].clique();
    std::vector<SiteId> sites;
    for (const Rank rank : clique) sites.push_back(network.islands[rank].site);
    trees[who.first][who.second] = *shortest_tree(network, most->first, sites[who.second], sites, {});
  }
  improve_choice(round_, relaxation_.pool(), trees);
  const bool better = offer(std::move(trees));
  RoundTrees again = best_;
  improve_choice(round_, relaxation_.pool(), again);
  return offer(std::move(again)) || better;
}

/// The link that a member uses most nearly half.
std::optional<TreeDecision> Packing::undecided(const TreeBound& bound) const {
  std::map<std::tuple<std::size_t, std::size_t, std::uint32_t>, double> used;
  for (const TreeShare& share : bound.shares)
    for (const std::uint32_t link : *share.tree) used[{share.clique, share.member, link}] += share.share;
  std::optional<TreeDecision> best;
  double most = kWhole;
  for (const auto& [what, share] : used) {
    const double open = std::min(share, 1 - share);
    if (open <= most) continue;
    most = open;
    best = TreeDecision{std::get<0>(what), std::get<1>(what), std::get<2>(what), true};
  }
  return best;
}

void Packing::solve() {
  find_bound();
  std::vector<std::vector<TreeDecision>> open{{}};
  while (!open.empty() && !done()) {
    std::vector<TreeDecision> node = std::move(open.back());
    open.pop_back();
    TreeBound found = relaxation_.solve(node, best_s_, best_s_);
    while (found.feasible && round_off(found)) found = relaxation_.solve(node, best_s_, best_s_);
    if (relaxation_.exhausted()) {
      proven_ = done();
      return;
    }
    if (!found.feasible) continue;
    const auto decision = undecided(found);
    if (!decision) {  // Prices ask for paths that form no tree, or for more than the tables hold.
      proven_ = false;
      continue;
    }
    node.push_back(*decision);
    node.back().used = false;
    open.push_back(node);
    node.back().used = true;
    open.push_back(std::move(node));
  }
}

Status check_choice(const RoundModel& model) {
  const auto cannot = [](const char* why) {
    return Error{ErrorCode::kNotSupported, std::string("packed trees: ") + why};
  };
  if (!model.network().explicit_trees) return cannot("the network does not let us choose trees");
  if (!model.all_alike()) return cannot("sites and links must all be alike in what they can do");
  return ok_status();
}

/// From the source outwards, as people read it.
SourceTree as_source_tree(const Network& network, SiteId source, const LinkTree& links) {
  SourceTree tree;
  std::vector<SiteId> sites{source};
  for (std::size_t i = 0; i < sites.size(); ++i)
    for (const std::uint32_t link : links)
      if (network.links[link].from == sites[i]) {
        tree.push_back({sites[i], network.links[link].to});
        sites.push_back(network.links[link].to);
      }
  return tree;
}

/// By member; none where all are the shortest routes.
CliqueTrees chosen_trees(const Network& network, const Clique& clique, const std::vector<LinkTree>& best,
                         const std::vector<LinkTree>& shortest) {
  CliqueTrees trees;
  if (best == shortest) return trees;
  for (std::size_t i = 0; i < clique.size(); ++i)
    trees.push_back(as_source_tree(network, network.islands[clique[i]].site, best[i]));
  return trees;
}

LinkTree as_links(const Network& network, const SourceTree& tree) {
  LinkTree links;
  for (const SiteLink& link : tree) links.push_back(*find_link(network, link));
  std::sort(links.begin(), links.end());
  return links;
}

/// Of each clique of mode direct, in order: its place in the round.
std::vector<std::size_t> direct_cliques(const Round& round) {
  std::vector<std::size_t> places;
  for (std::size_t c = 0; c < round.cliques.size(); ++c)
    if (round.modes[c]->mode == Mode::kDirect) places.push_back(c);
  return places;
}

PackedCliques packed_cliques(const RoundModel& model, const Round& round, double update_bytes) {
  PackedCliques packed;
  packed.update_s = model.update_seconds(update_bytes);
  for (std::size_t c = 0; c < round.cliques.size(); ++c)
    if (round.modes[c]->mode == Mode::kDirect)
      packed.cliques.emplace_back(model, round.cliques[c]);
    else
      packed.fixed.push_back(model.load(round.cliques[c], *round.modes[c]));
  return packed;
}

/// What the round would take if cliques of mode direct found their links empty and infinitely fast: trees can
/// do no better, for shortest routes have the least latency and access lines carry the same by all of them.
double without_links_s(const RoundModel& model, const Round& round, double update_bytes) {
  const std::size_t access = 2 * model.network().islands.size();
  std::vector<CliqueLoad> loads;
  for (std::size_t c = 0; c < round.cliques.size(); ++c) {
    loads.push_back(model.load(round.cliques[c], *round.modes[c]));
    if (round.modes[c]->mode == Mode::kDirect)
      std::erase_if(loads.back().loads, [&](const ResourceLoad& asked) { return asked.resource >= access; });
  }
  std::vector<const CliqueLoad*> all;
  for (const CliqueLoad& load : loads) all.push_back(&load);
  return RoundModel::least_time(all, model.update_seconds(update_bytes));
}

}  // namespace

Result<PackedRound> pack_round(const RoundModel& model, const Round& round, double update_bytes,
                               const PackOptions& options) {
  PackedRound result{round, {}};
  const Network& network = model.network();
  const auto given = model.time(round, update_bytes);
  if (!given) return given.error();
  result.round.trees.clear();
  auto time = model.time(result.round, update_bytes);
  if (!time) return std::move(time).error();
  result.time.shortest_s = result.time.packed_s = result.time.bound_s = time->seconds;
  result.time.proven = true;
  if (round.cliques.empty()) return result;
  if (auto can = check_choice(model); !can) return std::move(can).error();
  // With trees a clique is direct; the others keep the mode that is quickest along shortest routes.
  const std::vector<CliqueMode>& modes = round.trees.empty() ? time->modes : given->modes;
  result.round.modes.assign(modes.begin(), modes.end());

  const std::vector<std::size_t> places = direct_cliques(result.round);
  if (places.empty() || without_links_s(model, result.round, update_bytes) >= time->seconds * (1 - kEqual))
    return result;
  PackedCliques cliques = packed_cliques(model, result.round, update_bytes);
  RoundTrees shortest;
  for (const CliquePricer& clique : cliques.cliques) shortest.push_back(clique.shortest());
  RoundTrees start = shortest;
  for (std::size_t i = 0; i < places.size() && !round.trees.empty(); ++i)
    for (std::size_t member = 0; member < round.trees[places[i]].size(); ++member)
      if (const SourceTree& tree = round.trees[places[i]][member]; !tree.empty())
        start[i][member] = as_links(network, tree);
  Packing packing(model, std::move(cliques), options);
  packing.begin_with(shortest);
  packing.begin_with(std::move(start));
  packing.solve();

  result.time.bound_s = std::min(packing.bound_s(), packing.best_s());
  result.time.proven = packing.proven();
  if (packing.best_s() >= result.time.shortest_s * (1 - kEqual)) return result;
  result.round.trees.resize(round.cliques.size());
  for (std::size_t i = 0; i < places.size(); ++i)
    result.round.trees[places[i]] =
        chosen_trees(network, round.cliques[places[i]], packing.best()[i], shortest[i]);
  const auto packed = model.time(result.round, update_bytes);
  if (!packed) return packed.error();
  result.time.packed_s = packed->seconds;
  result.time.bound_s = std::min(result.time.bound_s, result.time.packed_s);
  return result;
}

Result<std::vector<PackedTime>> pack_schedule(const RoundModel& model, double update_bytes,
                                              Schedule& schedule, const PackOptions& options) {
  if (schedule.form != Form::kBarrier)
    return Error{ErrorCode::kNotSupported, "packed trees: only for schedules of the form barrier"};
  std::vector<Round> rounds;
  std::vector<PackedTime> times;
  for (const Round& round : schedule.rounds) {
    auto packed = pack_round(model, round, update_bytes, options);
    if (!packed) return std::move(packed).error().within(fmt::format("round {}", rounds.size()));
    rounds.push_back(std::move(packed->round));
    times.push_back(packed->time);
  }
  schedule.rounds = std::move(rounds);
  return times;
}

}  // namespace tombolo::schedule
