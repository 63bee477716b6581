#include "control/losses.h"

#include <algorithm>
#include <map>
#include <vector>

#include "control/tree_tables.h"

namespace tombolo::control {
namespace {

using schedule::EpochPlan;
using schedule::PlannedTree;
using schedule::Rank;
using schedule::SiteId;
using schedule::TreeHop;

/// What is out of service, and how it cuts one tree.
class Cut {
 public:
  explicit Cut(const EpochPlan& newer) : newer_(newer) {}

  bool nothing() const { return newer_.lost_links.empty() && newer_.lost_ranks.empty(); }
  bool lost(Rank rank) const {
    return std::binary_search(newer_.lost_ranks.begin(), newer_.lost_ranks.end(), rank);
  }
  bool lost(SiteId a, SiteId b) const {
    const schedule::LostLink link{std::min(a, b), std::max(a, b)};
    return std::binary_search(newer_.lost_links.begin(), newer_.lost_links.end(), link);
  }

  /// Whether the tree's packets still come to the site.
  bool arrives(const PlannedTree& tree, SiteId site) const {
    if (lost(tree.source)) return false;
    // Parents stand before children, so one pass from the back finds the whole way up.
    for (auto hop = tree.hops.rbegin(); hop != tree.hops.rend(); ++hop) {
      if (hop->site != site || hop->parent == hop->site) continue;
      if (lost(hop->parent, hop->site)) return false;
      site = hop->parent;
    }
    return true;
  }

  /// By hop: whether a receiver at or below it can be reached from it. An edge that folds speaks for itself,
  /// also when its island is lost; without aggregation the islands themselves receive.
  std::vector<bool> leads_on(const PlannedTree& tree, bool edge_aggregation) const {
    std::vector<bool> leads(tree.hops.size(), false);
    std::map<SiteId, std::size_t> index;
    for (std::size_t i = 0; i < tree.hops.size(); ++i) index[tree.hops[i].site] = i;
    for (std::size_t i = tree.hops.size(); i-- > 0;) {
      const TreeHop& hop = tree.hops[i];
      const auto receives = [&](Rank rank) { return edge_aggregation || !lost(rank); };
      leads[i] = std::any_of(hop.deliver.begin(), hop.deliver.end(), receives) || folds_at_end(tree, hop);
      for (const SiteId child : hop.children)
        leads[i] = leads[i] || (!lost(hop.site, child) && leads[index.at(child)]);
    }
    return leads;
  }

 private:
  /// Contributions and partials on a tree are for the site at the end of their path.
  static bool folds_at_end(const PlannedTree& tree, const TreeHop& hop) {
    return (tree.use == schedule::TreeUse::kContributions || tree.use == schedule::TreeUse::kPartials) &&
           hop.children.empty();
  }

  const EpochPlan& newer_;
};

/// Whose chunks do not come any more to that member of the clique, whose island is at `site`.
std::uint64_t unheard(const EpochPlan& older, const Cut& cut, const schedule::PlannedClique& clique,
                      std::size_t receiver, SiteId site) {
  std::uint64_t members = 0;
  for (std::size_t member = 0; member < clique.members.size(); ++member) {
    const std::uint16_t tree = clique.receive_trees[receiver][member];
    const bool comes = tree == schedule::kNoTreeId ? !cut.lost(clique.members[member])
                                                   : cut.arrives(older.trees[tree], site);
    if (!comes) members |= std::uint64_t{1} << member;
  }
  return members;
}

/// Members that the island cannot hear any more. If it hears all: those that cannot hear everybody, because
/// they give the round up, and with it what they have not sent yet.
std::uint64_t lost_members(const EpochPlan& older, const Cut& cut, std::size_t entry, Rank rank) {
  for (const schedule::PlannedClique& clique : older.entries[entry].cliques) {
    const auto found = std::find(clique.members.begin(), clique.members.end(), rank);
    if (found == clique.members.end()) continue;
    if (clique.on_tree()) return 0;  // Sites fold for it.
    const auto own = static_cast<std::size_t>(found - clique.members.begin());
    std::uint64_t members = unheard(older, cut, clique, own, older.islands[rank].site);
    if (members != 0) return members;
    for (std::size_t member = 0; member < clique.members.size(); ++member)
      if (member != own &&
          unheard(older, cut, clique, member, older.islands[clique.members[member]].site) != 0)
        members |= std::uint64_t{1} << member;
    return members;
  }
  return 0;
}

/// Members of a clique on a tree that do not come any more to one of the sites that fold it.
std::uint64_t unheard_at(const EpochPlan& older, const Cut& cut, const schedule::PlannedClique& clique,
                         std::size_t fold) {
  const auto below = members_below(clique);
  std::uint64_t members = 0;
  const auto& inputs = clique.folds[fold].inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!cut.arrives(older.trees[inputs[i]], clique.folds[fold].site)) members |= below[fold][i];
    for (std::size_t from = fold + 1; from < clique.folds.size(); ++from)
      if (clique.folds[from].tree == inputs[i]) members |= unheard_at(older, cut, clique, from);
  }
  return members;
}

/// The same for each schedule entry at a fold point of the site.
std::vector<std::uint64_t> unheard_by(const EpochPlan& older, const Cut& cut, SiteId site,
                                      Rank lowest_member) {
  std::vector<std::uint64_t> entries;
  for (const schedule::PlannedEntry& entry : older.entries) {
    entries.push_back(0);
    for (const schedule::PlannedClique& clique : entry.cliques)
      for (std::size_t fold = 0; fold < clique.folds.size(); ++fold)
        if (clique.members.front() == lowest_member && clique.folds[fold].site == site)
          entries.back() = unheard_at(older, cut, clique, fold);
  }
  return entries;
}

std::uint64_t lost_links(const EpochPlan& older, const PlannedTree& tree, const Cut& cut,
                         const EdgePlace& place) {
  const auto here = std::find_if(tree.hops.begin(), tree.hops.end(),
                                 [&](const TreeHop& hop) { return hop.site == place.site; });
  if (here == tree.hops.end()) return 0;
  const std::vector<bool> leads = cut.leads_on(tree, older.edge_aggregation);
  std::uint64_t links = 0;
  for (std::size_t link = 0; link < place.links.size(); ++link) {
    const Neighbour& neighbour = place.links[link];
    bool ends_here = false;
    if (neighbour.is_island) {
      ends_here = !older.edge_aggregation && cut.lost(neighbour.id);
    } else {
      const auto below = std::find_if(tree.hops.begin(), tree.hops.end(), [&](const TreeHop& hop) {
        return hop.site == neighbour.id && hop.parent == place.site;
      });
      ends_here = below != tree.hops.end() && (cut.lost(place.site, neighbour.id) ||
                                               !leads[static_cast<std::size_t>(below - tree.hops.begin())]);
    }
    if (ends_here) links |= std::uint64_t{1} << link;
  }
  return links;
}

}  // namespace

dataplane::Losses make_losses(const EpochPlan& older, const EpochPlan& newer, const EdgePlace& place) {
  const Cut cut(newer);
  if (cut.nothing()) return {};
  dataplane::Losses losses;
  std::uint64_t any = 0;
  for (const schedule::PlannedIsland& island : older.islands) {
    if (island.site != place.site) continue;
    auto& entries = losses.members.emplace_back();
    for (std::size_t entry = 0; entry < older.entries.size(); ++entry)
      any |= entries.emplace_back(lost_members(older, cut, entry, island.rank));
  }
  for (const dataplane::SitePoint& point : TreeTables(older, place.site, 0).take_points()) {
    losses.members.push_back(unheard_by(older, cut, place.site, point.lowest_member));
    for (const std::uint64_t members : losses.members.back()) any |= members;
  }
  for (const PlannedTree& tree : older.trees)
    any |= losses.links.emplace_back(lost_links(older, tree, cut, place));
  if (any == 0) return {};
  losses.epoch = older.epoch;
  return losses;
}

}  // namespace tombolo::control
