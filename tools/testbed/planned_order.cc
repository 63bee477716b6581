#include "tools/testbed/planned_order.h"

#include <map>
#include <utility>

namespace tombolo::testbed {

FoldOrder fold_order(const schedule::EpochPlan& plan, const schedule::PlannedClique& clique) {
  if (!clique.on_tree()) return direct_order(clique.members);
  std::map<std::uint16_t, FoldOrder> streams;  // By tree: what it brings.
  for (const auto& trees : clique.send_trees) streams[trees[0]] = {plan.trees[trees[0]].source, {}};
  for (auto fold = clique.folds.rbegin(); fold != clique.folds.rend(); ++fold) {
    FoldOrder order;
    for (const std::uint16_t tree : fold->inputs) order.inputs.push_back(std::move(streams[tree]));
    streams[fold->tree] = std::move(order);
  }
  return streams[clique.folds.front().tree];
}

FoldOrder fold_order(const schedule::EpochPlan& plan, std::uint32_t first_round, std::uint32_t round,
                     const std::vector<std::uint16_t>& members) {
  for (const auto& clique : plan.entries[(round - first_round) % plan.entries.size()].cliques)
    if (clique.members == members) return fold_order(plan, clique);
  return direct_order(members);
}

}  // namespace tombolo::testbed
