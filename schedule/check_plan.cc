#include "schedule/check_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "schedule/check_folds.h"
#include "schedule/compile.h"
#include "schedule/schedule.h"
#include "schedule/tree_plan.h"

namespace tombolo::schedule {
namespace {

template <typename T>
bool strictly_ascending(const std::vector<T>& values) {
  return std::adjacent_find(values.begin(), values.end(), [](T a, T b) { return a >= b; }) == values.end();
}

/// The checks rely on the ones before them: ranges first, then shapes, then agreement.
/// A failed expectation is remembered once, the first.
class PlanChecker {
 public:
  explicit PlanChecker(const EpochPlan& plan) : plan_(plan) {}

  Status run() {
    check_numbers();
    check_islands();
    check_links();
    check_losses();
    check_entries();
    for (std::size_t i = 0; ok() && i < plan_.trees.size(); ++i) check_tree(i);
    check_deliveries();
    check_loads();
    if (!ok()) return invalid_input("epoch plan: " + wrong_);
    return ok_status();
  }

 private:
  using Edge = std::pair<SiteId, SiteId>;

  bool ok() const { return wrong_.empty(); }
  /// Returns whether everything held so far and `holds` does too.
  template <typename... Args>
  bool expect(bool holds, fmt::format_string<Args...> format, Args&&... args) {
    if (ok() && !holds) wrong_ = fmt::format(format, std::forward<Args>(args)...);
    return ok();
  }

  void check_numbers();
  void check_islands();
  void check_links();
  void check_losses();
  void check_entries();
  void check_clique(std::size_t entry, const PlannedClique& clique, std::set<Rank>& used);
  void check_tree_clique(std::size_t entry, const PlannedClique& clique);
  void check_tree(std::size_t index);
  void check_direct_tree(const PlannedTree& tree);
  void check_hops(const PlannedTree& tree);
  void check_deliver(const PlannedTree& tree, const TreeHop& hop);
  void check_deliveries();
  void check_clique_deliveries(const PlannedClique& clique);
  void check_loads();

  const PlannedClique* clique_of(std::uint32_t entry, Rank rank) const {
    for (const PlannedClique& clique : plan_.entries[entry].cliques)
      if (std::binary_search(clique.members.begin(), clique.members.end(), rank)) return &clique;
    return nullptr;
  }

  const EpochPlan& plan_;
  std::string wrong_;
  std::map<Edge, std::size_t> link_by_ends_;
  std::vector<const PlannedClique*> owners_;  ///< By tree: the clique in the mode tree that it is for.
  std::vector<std::set<Rank>> receivers_;     ///< By tree: everybody it delivers to.
};

void PlanChecker::check_numbers() {
  expect(plan_.epoch != 0, "the epoch is 0");
  expect(unit_of(plan_.format).bytes != 0 && unit_of(plan_.result_format).bytes != 0,
         "a number format is not known");
  expect(static_cast<std::size_t>(plan_.non_finite) < kNonFinitePolicies,
         "the policy for values that are not finite is not known");
  expect(plan_.chunk_elements != 0 && plan_.chunk_elements % kChunkElementStep == 0 &&
             plan_.chunk_elements <= kLargestPayloadBytes &&
             plan_.max_payload_bytes() <= kLargestPayloadBytes,
         "chunk_elements {} is not a multiple of {} that fits a packet", plan_.chunk_elements,
         kChunkElementStep);
  expect(plan_.lane_count != 0, "there are no lanes");
  expect(plan_.deadline_ns != 0, "the deadline is 0");
  expect(plan_.partial_format <= PartialFormat::kUpdate, "there is no such format of partials");
  expect(!plan_.entries.empty(), "there are no entries");
  expect(plan_.trees.size() <= kMaxTrees, "{} trees, more than {}", plan_.trees.size(), kMaxTrees);
}

void PlanChecker::check_islands() {
  expect(!plan_.site_names.empty() && plan_.site_names.size() <= kMaxSites, "{} sites",
         plan_.site_names.size());
  expect(!plan_.islands.empty() && plan_.islands.size() <= kMaxIslands, "{} islands", plan_.islands.size());
  for (std::size_t i = 0; ok() && i < plan_.islands.size(); ++i) {
    expect(plan_.islands[i].rank == i, "island {} has rank {}", i, plan_.islands[i].rank);
    expect(plan_.islands[i].site < plan_.site_names.size(), "island {} is at no site", i);
  }
}

/// 224.0.0.0/24 belongs to the protocols of a single network, and no router forwards it.
bool can_be_link_group(std::uint32_t group) { return group >> 28 == 0xe && group >> 8 != 0xe00000; }

void PlanChecker::check_links() {
  std::set<std::uint32_t> groups;
  for (std::size_t i = 0; ok() && i < plan_.links.size(); ++i) {
    const PlannedLink& link = plan_.links[i];
    expect(link.from < plan_.site_names.size() && link.to < plan_.site_names.size() && link.from != link.to,
           "link {} does not join two sites", i);
    expect(link.rtt_ns != 0, "link {} has no round-trip time", i);
    expect(link_by_ends_.emplace(Edge{link.from, link.to}, i).second, "link {} appears twice", i);
    if (link.group == 0) continue;
    expect(can_be_link_group(link.group), "link {}: its group is not in 224.0.1.0 to 239.255.255.255", i);
    expect(groups.insert(link.group).second, "link {} has the group of another", i);
  }
  for (std::size_t i = 0; ok() && i < plan_.links.size(); ++i)
    expect(link_by_ends_.contains(Edge{plan_.links[i].to, plan_.links[i].from}), "link {} has no way back",
           i);
}

void PlanChecker::check_losses() {
  expect(strictly_ascending(plan_.lost_links), "lost links are not in ascending order");
  expect(strictly_ascending(plan_.lost_ranks), "lost ranks are not in ascending order");
  for (std::size_t i = 0; ok() && i < plan_.lost_links.size(); ++i) {
    const LostLink& link = plan_.lost_links[i];
    expect(link.a < link.b && link.b < plan_.site_names.size(), "lost link {} does not join two sites", i);
    expect(!link_by_ends_.contains(Edge{link.a, link.b}), "lost link {} is in service", i);
  }
  if (ok() && !plan_.lost_ranks.empty())
    expect(plan_.lost_ranks.back() < plan_.islands.size(), "there is no lost rank {}",
           plan_.lost_ranks.back());
}

void PlanChecker::check_entries() {
  owners_.assign(plan_.trees.size(), nullptr);
  for (std::size_t entry = 0; ok() && entry < plan_.entries.size(); ++entry) {
    std::set<Rank> used;
    for (const PlannedClique& clique : plan_.entries[entry].cliques) {
      if (!ok()) return;
      check_clique(entry, clique, used);
    }
  }
}

void PlanChecker::check_clique(std::size_t entry, const PlannedClique& clique, std::set<Rank>& used) {
  const std::size_t k = clique.members.size();
  if (!expect(k >= 2 && k <= kMaxCliqueMembers, "entry {}: a clique of {}", entry, k)) return;
  expect(strictly_ascending(clique.members), "entry {}: members are not in ascending rank", entry);
  for (const Rank rank : clique.members) {
    expect(rank < plan_.islands.size(), "entry {}: there is no rank {}", entry, rank);
    expect(used.insert(rank).second, "entry {}: rank {} is in two cliques", entry, rank);
    expect(!std::binary_search(plan_.lost_ranks.begin(), plan_.lost_ranks.end(), rank),
           "entry {}: rank {} is lost", entry, rank);
  }
  expect(clique.stream_rate_bps != 0, "entry {}: a rate is 0", entry);
  expect(clique.window_chunks != 0 && clique.window_chunks % plan_.lane_count == 0,
         "entry {}: a window of {} chunks for {} lanes", entry, clique.window_chunks, plan_.lane_count);
  expect(clique.send_trees.size() == k && clique.receive_trees.size() == k,
         "entry {}: tree tables do not fit a clique of {}", entry, k);
  expect(clique.weights.empty() || clique.weights.size() == k, "entry {}: {} weights for a clique of {}",
         entry, clique.weights.size(), k);
  expect(std::all_of(clique.weights.begin(), clique.weights.end(), is_weight),
         "entry {}: a weight is no normal number above 0", entry);
  for (std::size_t i = 0; ok() && i < k; ++i) {
    expect(clique.send_trees[i].size() == (plan_.multicast ? 1 : k - 1),
           "entry {}: rank {} sends on {} trees", entry, clique.members[i], clique.send_trees[i].size());
    expect(strictly_ascending(clique.send_trees[i]), "entry {}: trees of rank {} are not ascending", entry,
           clique.members[i]);
    expect(clique.receive_trees[i].size() == k, "entry {}: rank {} does not list all sources", entry,
           clique.members[i]);
    const TreeUse use = clique.on_tree() ? TreeUse::kContributions : TreeUse::kDirect;
    for (const std::uint16_t tree : clique.send_trees[i])
      expect(tree < plan_.trees.size() && plan_.trees[tree].source == clique.members[i] &&
                 plan_.trees[tree].entry == entry && plan_.trees[tree].use == use,
             "entry {}: tree {} is not one of rank {}", entry, tree, clique.members[i]);
  }
  if (ok() && clique.on_tree()) check_tree_clique(entry, clique);
}

void PlanChecker::check_tree_clique(std::size_t entry, const PlannedClique& clique) {
  expect(plan_.multicast && plan_.edge_aggregation,
         "entry {}: the mode tree without multicast or aggregation", entry);
  for (const auto& receives : clique.receive_trees)
    expect(std::all_of(receives.begin(), receives.end(), [](auto tree) { return tree == kNoTreeId; }),
           "entry {}: in the mode tree nobody receives from members", entry);
  const std::string fault = fault_in_fold_numbers(plan_, static_cast<std::uint32_t>(entry), clique);
  if (!expect(fault.empty(), "entry {}: {}", entry, fault)) return;
  for_each_tree(clique, [&](std::uint16_t tree) { owners_[tree] = &clique; });
}

void PlanChecker::check_tree(std::size_t index) {
  const PlannedTree& tree = plan_.trees[index];
  expect(tree.id == index, "tree {} has id {}", index, tree.id);
  expect(tree.entry < plan_.entries.size(), "tree {}: there is no entry {}", index, tree.entry);
  expect(tree.use <= TreeUse::kResults, "tree {}: nothing is known to use it so", index);
  if (!ok()) return;
  if (tree.use == TreeUse::kDirect)
    check_direct_tree(tree);
  else
    expect(owners_[index] != nullptr, "tree {}: nobody sends on it", index);
  const bool folded = tree.use == TreeUse::kPartials || tree.use == TreeUse::kResults;
  expect(folded ? tree.source == kNoRank : tree.source < plan_.islands.size(),
         "tree {}: rank {} is not its source", index, tree.source);
  if (!ok()) return;
  receivers_.emplace_back();
  check_hops(tree);
}

void PlanChecker::check_direct_tree(const PlannedTree& tree) {
  if (!expect(tree.source < plan_.islands.size(), "tree {}: there is no rank {}", tree.id, tree.source))
    return;
  const PlannedClique* const clique = clique_of(tree.entry, tree.source);
  if (!expect(clique != nullptr, "tree {}: rank {} rests in entry {}", tree.id, tree.source, tree.entry))
    return;
  const auto member = std::lower_bound(clique->members.begin(), clique->members.end(), tree.source);
  const auto& sends = clique->send_trees[static_cast<std::size_t>(member - clique->members.begin())];
  expect(std::binary_search(sends.begin(), sends.end(), tree.id), "tree {}: nobody sends on it", tree.id);
}

void PlanChecker::check_hops(const PlannedTree& tree) {
  if (!expect(!tree.hops.empty(), "tree {} has no hops", tree.id)) return;
  const TreeHop& root = tree.hops.front();
  // Where one starts that a site folds for is compared with that site later.
  const SiteId start = tree.source == kNoRank ? root.site : plan_.islands[tree.source].site;
  expect(root.site == start && root.parent == root.site, "tree {} does not start at its source", tree.id);
  std::map<SiteId, std::vector<SiteId>> children;
  for (const TreeHop& hop : tree.hops) {
    if (!ok()) return;
    expect(hop.site < plan_.site_names.size(), "tree {}: there is no site {}", tree.id, hop.site);
    if (&hop != &root) {
      const auto parent = children.find(hop.parent);
      if (!expect(parent != children.end(), "tree {}: site {} comes before its parent", tree.id, hop.site))
        return;
      parent->second.push_back(hop.site);
      expect(link_by_ends_.contains(Edge{hop.parent, hop.site}), "tree {}: no link from site {} to site {}",
             tree.id, hop.parent, hop.site);
    }
    expect(children.emplace(hop.site, std::vector<SiteId>{}).second, "tree {}: site {} appears twice",
           tree.id, hop.site);
    check_deliver(tree, hop);
  }
  for (const TreeHop& hop : tree.hops) {
    auto& expected = children[hop.site];
    std::sort(expected.begin(), expected.end());
    expect(hop.children == expected, "tree {}: children of site {} are not its next hops", tree.id, hop.site);
    const bool is_folded = tree.use == TreeUse::kContributions || tree.use == TreeUse::kPartials;
    expect(is_folded || !expected.empty() || !hop.deliver.empty(),
           "tree {}: the branch to site {} serves nobody", tree.id, hop.site);
  }
}

void PlanChecker::check_deliver(const PlannedTree& tree, const TreeHop& hop) {
  expect(strictly_ascending(hop.deliver), "tree {}: deliveries at site {} are not ascending", tree.id,
         hop.site);
  const PlannedClique& clique =
      tree.use == TreeUse::kDirect ? *clique_of(tree.entry, tree.source) : *owners_[tree.id];
  for (const Rank rank : hop.deliver) {
    expect(std::binary_search(clique.members.begin(), clique.members.end(), rank),
           "tree {}: delivers to rank {}, which is not in the clique", tree.id, rank);
    if (ok())
      expect(plan_.islands[rank].site == hop.site, "tree {}: rank {} is not at site {}", tree.id, rank,
             hop.site);
    receivers_.back().insert(rank);
  }
}

void PlanChecker::check_deliveries() {
  for (const PlannedEntry& entry : plan_.entries)
    for (const PlannedClique& clique : entry.cliques)
      if (ok() && clique.on_tree()) {
        const std::string fault = fault_in_folds(plan_, clique);
        expect(fault.empty(), "{}", fault);
      } else if (ok()) {
        check_clique_deliveries(clique);
      }
}

void PlanChecker::check_clique_deliveries(const PlannedClique& clique) {
  const std::size_t k = clique.members.size();
  for (std::size_t source = 0; source < k; ++source)
    for (std::size_t receiver = 0; receiver < k; ++receiver) {
      const Rank rank = clique.members[receiver];
      std::vector<std::uint16_t> bringing;
      for (const std::uint16_t tree : clique.send_trees[source])
        if (receivers_[tree].contains(rank)) bringing.push_back(tree);
      const std::uint16_t listed = clique.receive_trees[receiver][source];
      if (source == receiver && !plan_.edge_aggregation) {
        expect(bringing.empty() && listed == kNoTreeId, "rank {} receives its own chunks", rank);
        continue;
      }
      if (!expect(bringing.size() == 1, "rank {} receives the chunks of rank {} {} times", rank,
                  clique.members[source], bringing.size()))
        return;
      expect(listed == bringing.front(), "rank {} lists tree {} for rank {}, which uses tree {}", rank,
             listed, clique.members[source], bringing.front());
    }
}

void PlanChecker::check_loads() {
  if (!ok()) return;
  std::vector<std::uint64_t> most_bps(plan_.links.size(), 0);
  std::vector<std::uint64_t> sum_bps(plan_.links.size(), 0);  // Entries may be on the way together.
  for (const PlannedEntry& entry : plan_.entries) {
    std::vector<std::uint64_t> load_bps(plan_.links.size(), 0);
    for (const PlannedClique& clique : entry.cliques)
      for_each_tree(clique, [&](std::uint16_t tree) {
        for (const TreeHop& hop : plan_.trees[tree].hops)
          if (hop.site != hop.parent)
            load_bps[link_by_ends_[Edge{hop.parent, hop.site}]] += clique.stream_rate_bps;
      });
    for (std::size_t i = 0; i < most_bps.size(); ++i) {
      most_bps[i] = std::max(most_bps[i], load_bps[i]);
      sum_bps[i] += load_bps[i];
    }
  }
  for (std::size_t i = 0; i < most_bps.size(); ++i)
    expect(plan_.links[i].load_bps >= most_bps[i] && plan_.links[i].load_bps <= sum_bps[i],
           "link {} lists a load of {} bit/s; its trees make {}", i, plan_.links[i].load_bps, most_bps[i]);
}

}  // namespace

Status check_plan(const EpochPlan& plan) { return PlanChecker(plan).run(); }

}  // namespace tombolo::schedule
