#include "schedule/tree_plan.h"

#include <algorithm>
#include <utility>

namespace tombolo::schedule {
namespace {

/// What is on its way to the root: the contributions of one island, or what one site has folded.
struct Stream {
  Rank lowest = 0;  ///< The lowest rank that is in it.
  Rank source = kNoRank;
  std::vector<SiteId> path;  ///< Where it has been, its first site first.
};

/// A site that folds, while trees have no numbers yet.
struct Fold {
  SiteId site = 0;
  Rank lowest = 0;
  std::vector<Stream> inputs;  ///< By their lowest rank.
};

/// The ways of a clique's contributions to its root.
class TreeShape {
 public:
  TreeShape(const Network& network, const Routes& routes, const PlannedClique& clique, SiteId root)
      : network_(network),
        root_(root),
        next_(network.site_names.size(), root),
        at_(network.site_names.size()) {
    std::vector<std::pair<std::uint64_t, SiteId>> sites;  // By distance to the root.
    std::vector<bool> seen(network.site_names.size(), false);
    const auto see = [&](SiteId site) {
      if (!seen[site]) sites.emplace_back(routes.latency_ns(site, root), site);
      seen[site] = true;
    };
    see(root);
    for (const Rank rank : clique.members) {
      const SiteId home = network.islands[rank].site;
      see(home);
      at_[home].push_back({rank, rank, {home}});
      for (SiteId at = root; at != home;) {
        const SiteId before = routes.parent(home, at);
        next_[before] = at;
        see(before);
        at = before;
      }
    }
    // The farthest first: whatever passes a site comes from farther away.
    std::sort(sites.rbegin(), sites.rend());
    for (const auto& [distance_ns, site] : sites) leave(site);
    std::reverse(folds_.begin(), folds_.end());
  }

  /// The root first, each behind the one that its partials go to.
  const std::vector<Fold>& folds() const { return folds_; }

 private:
  bool aggregates(SiteId site) const {
    return network_.site_aggregates.empty() || network_.site_aggregates[site];
  }

  /// Everything that passes the site has come.
  void leave(SiteId site) {
    std::vector<Stream> streams = std::move(at_[site]);
    if (site == root_ || (streams.size() > 1 && aggregates(site))) {
      std::sort(streams.begin(), streams.end(),
                [](const Stream& a, const Stream& b) { return a.lowest < b.lowest; });
      const Rank lowest = streams.front().lowest;
      folds_.push_back({site, lowest, std::move(streams)});
      streams = {{lowest, kNoRank, {site}}};
    }
    if (site == root_) return;
    for (Stream& stream : streams) {
      stream.path.push_back(next_[site]);
      at_[next_[site]].push_back(std::move(stream));
    }
  }

  const Network& network_;
  SiteId root_;
  std::vector<SiteId> next_;             ///< By site: the next one on the way to the root.
  std::vector<std::vector<Stream>> at_;  ///< By site: what comes by.
  std::vector<Fold> folds_;
};

std::vector<TreeHop> path_hops(const std::vector<SiteId>& path) {
  std::vector<TreeHop> hops;
  for (std::size_t i = 0; i < path.size(); ++i) {
    hops.push_back({.site = path[i], .parent = path[i == 0 ? 0 : i - 1], .children = {}, .deliver = {}});
    if (i + 1 < path.size()) hops.back().children.push_back(path[i + 1]);
  }
  return hops;
}

std::vector<TreeHop> result_hops(const Network& network, const Routes& routes, const PlannedClique& clique,
                                 SiteId root) {
  std::vector<SiteId> sites;
  for (const Rank rank : clique.members) sites.push_back(network.islands[rank].site);
  std::vector<TreeHop> hops = routes.tree(root, sites);
  for (TreeHop& hop : hops)
    for (const Rank rank : clique.members)
      if (network.islands[rank].site == hop.site) hop.deliver.push_back(rank);
  return hops;
}

}  // namespace

void add_tree_folds(const Network& network, const Routes& routes, SiteId root, std::uint32_t entry,
                    PlannedClique& clique, std::vector<PlannedTree>& trees) {
  const TreeShape shape(network, routes, clique, root);
  const std::size_t k = clique.members.size();
  // Contributions by member, then what the sites fold, the root's results first.
  const std::size_t first = trees.size();
  trees.resize(first + k + shape.folds().size());
  for (std::size_t i = first; i < trees.size(); ++i) {
    trees[i].id = static_cast<std::uint16_t>(i);
    trees[i].entry = entry;
    trees[i].source = i < first + k ? clique.members[i - first] : kNoRank;
    trees[i].use = i < first + k ? TreeUse::kContributions : TreeUse::kPartials;
  }
  const auto id_of = [&](const Stream& stream) {
    if (stream.source == kNoRank) {
      const auto fold = std::find_if(shape.folds().begin(), shape.folds().end(),
                                     [&](const Fold& from) { return from.site == stream.path.front(); });
      return static_cast<std::uint16_t>(first + k + static_cast<std::size_t>(fold - shape.folds().begin()));
    }
    const auto member = std::lower_bound(clique.members.begin(), clique.members.end(), stream.source);
    return static_cast<std::uint16_t>(first + static_cast<std::size_t>(member - clique.members.begin()));
  };
  clique.send_trees.resize(k);
  for (std::size_t i = 0; i < k; ++i) clique.send_trees[i] = {static_cast<std::uint16_t>(first + i)};
  clique.receive_trees.assign(k, std::vector<std::uint16_t>(k, kNoTreeId));
  for (const Fold& fold : shape.folds()) {
    PlannedFold planned{fold.site, static_cast<std::uint16_t>(first + k + clique.folds.size()), {}};
    for (const Stream& stream : fold.inputs) {
      planned.inputs.push_back(id_of(stream));
      trees[planned.inputs.back()].hops = path_hops(stream.path);
    }
    clique.folds.push_back(std::move(planned));
  }
  PlannedTree& results = trees[first + k];
  results.use = TreeUse::kResults;
  results.hops = result_hops(network, routes, clique, root);
}

}  // namespace tombolo::schedule
