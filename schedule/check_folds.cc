#include "schedule/check_folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "schedule/schedule.h"

namespace tombolo::schedule {
namespace {

std::string fault_in_inputs(const EpochPlan& plan, std::uint32_t entry, const PlannedClique& clique,
                            const PlannedFold& fold, bool is_root) {
  if (fold.inputs.empty() || fold.inputs.size() > kMaxCliqueMembers)
    return fmt::format("site {} folds {} inputs", fold.site, fold.inputs.size());
  if (!is_root && fold.inputs.size() < 2) return fmt::format("site {} has nothing to fold", fold.site);
  for (const std::uint16_t id : fold.inputs) {
    if (id >= plan.trees.size() || plan.trees[id].entry != entry)
      return fmt::format("site {} folds tree {}, which is not of this entry", fold.site, id);
    const PlannedTree& input = plan.trees[id];
    const bool sends = std::any_of(clique.send_trees.begin(), clique.send_trees.end(),
                                   [id](const auto& trees) { return trees.size() == 1 && trees[0] == id; });
    const bool folded = std::any_of(clique.folds.begin() + 1, clique.folds.end(),
                                    [id](const PlannedFold& from) { return from.tree == id; });
    if (input.use == TreeUse::kContributions ? !sends : input.use != TreeUse::kPartials || !folded)
      return fmt::format("site {} folds tree {}, which is not of its clique", fold.site, id);
  }
  return {};
}

}  // namespace

std::string fault_in_fold_numbers(const EpochPlan& plan, std::uint32_t entry, const PlannedClique& clique) {
  if (clique.folds.size() > 2 * kMaxCliqueMembers)
    return fmt::format("{} sites fold for one clique", clique.folds.size());
  for (std::size_t i = 0; i < clique.folds.size(); ++i) {
    const PlannedFold& fold = clique.folds[i];
    if (fold.site >= plan.site_names.size()) return fmt::format("there is no site {} to fold", fold.site);
    const TreeUse use = i == 0 ? TreeUse::kResults : TreeUse::kPartials;
    if (fold.tree >= plan.trees.size() || plan.trees[fold.tree].entry != entry ||
        plan.trees[fold.tree].use != use)
      return fmt::format("what site {} folds has no tree", fold.site);
    for (std::size_t j = 0; j < i; ++j)
      if (clique.folds[j].site == fold.site || clique.folds[j].tree == fold.tree)
        return fmt::format("site {} or its tree folds twice", fold.site);
    if (std::string fault = fault_in_inputs(plan, entry, clique, fold, i == 0); !fault.empty()) return fault;
  }
  return {};
}

std::string fault_in_folds(const EpochPlan& plan, const PlannedClique& clique) {
  // By tree that brings something and is not folded yet: the lowest rank in it. From the far end to the root.
  std::map<std::uint16_t, Rank> lowest;
  for (const auto& trees : clique.send_trees) lowest[trees[0]] = plan.trees[trees[0]].source;
  for (auto fold = clique.folds.rbegin(); fold != clique.folds.rend(); ++fold) {
    std::vector<Rank> order;
    for (const std::uint16_t id : fold->inputs) {
      const auto input = lowest.find(id);
      if (input == lowest.end())
        return fmt::format("site {} folds tree {} twice, or before it is there", fold->site, id);
      order.push_back(input->second);
      lowest.erase(input);
      const std::vector<TreeHop>& hops = plan.trees[id].hops;
      if (hops.back().site != fold->site)
        return fmt::format("tree {} does not end at site {}", id, fold->site);
      for (const TreeHop& hop : hops)
        if (hop.children.size() > 1 || !hop.deliver.empty())
          return fmt::format("tree {} is not a path to the site that folds it", id);
    }
    if (!std::is_sorted(order.begin(), order.end()))
      return fmt::format("inputs of site {} are out of order", fold->site);
    lowest[fold->tree] = order.front();
    if (plan.trees[fold->tree].hops.front().site != fold->site)
      return fmt::format("tree {} does not start at site {}", fold->tree, fold->site);
  }
  if (lowest.size() != 1) return fmt::format("{} streams of a clique are not folded", lowest.size() - 1);
  std::vector<Rank> receivers;
  for (const TreeHop& hop : plan.trees[clique.folds[0].tree].hops)
    receivers.insert(receivers.end(), hop.deliver.begin(), hop.deliver.end());
  std::sort(receivers.begin(), receivers.end());
  if (receivers != clique.members) return "results do not reach every member once";
  return {};
}

}  // namespace tombolo::schedule
