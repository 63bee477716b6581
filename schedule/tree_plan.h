#pragma once

#include <cstdint>
#include <vector>

#include "schedule/epoch_plan.h"
#include "schedule/routes.h"
#include "schedule/topology.h"

namespace tombolo::schedule {

/// Plans a clique in the mode tree: fills its `folds`, `send_trees` and `receive_trees`, and adds the trees,
/// numbered on from those that are there. `clique.members` is set; routes join all of them with the root.
///
/// Contributions go the shortest ways to the root. Where two or more ways meet at a site that aggregates, it
/// folds them and sends one stream on; what comes on one way only, a site passes on as it is. So a site with
/// nothing but its own island sends contributions, not partials, and a tree in which only the root folds
/// gives the bits of a direct clique. Inputs are folded by the lowest rank that is in them.
void add_tree_folds(const Network& network, const Routes& routes, SiteId root, std::uint32_t entry,
                    PlannedClique& clique, std::vector<PlannedTree>& trees);

/// Calls use(tree id) for every tree of a clique, whatever its mode.
template <typename Use>
void for_each_tree(const PlannedClique& clique, Use&& use) {
  for (const auto& sends : clique.send_trees)
    for (const std::uint16_t tree : sends) use(tree);
  for (const PlannedFold& fold : clique.folds) use(fold.tree);
}

}  // namespace tombolo::schedule
