#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "dataplane/edge/epoch_table.h"
#include "multicast/forwarding.h"
#include "schedule/epoch_plan.h"

namespace tombolo::control {

/// One site's part in the cliques of a plan that fold on trees. The plan has passed schedule::check_plan and
/// outlives it.
class TreeTables {
 public:
  /// `islands`: at the site; their fold points come before those of the site.
  TreeTables(const schedule::EpochPlan& plan, schedule::SiteId site, std::size_t islands);

  std::size_t points() const { return points_.size(); }
  /// The site's fold points.
  std::vector<dataplane::SitePoint> take_points() { return std::move(points_); }

  /// What the branch of a tree says beside its links: which fold point makes its packets, or takes them, and
  /// as which input. For a tree of a clique on a tree that passes the site at `hop`.
  void complete(const schedule::PlannedTree& tree, const schedule::TreeHop& hop,
                multicast::Branch& branch) const;

 private:
  /// The fold of a clique at this site that takes a tree, or makes it.
  struct Role {
    std::uint8_t point = multicast::kNoPoint;
    std::uint8_t input = 0;
  };
  void add_fold(std::size_t entry, const schedule::PlannedClique& clique, std::size_t fold);
  std::size_t point_of(schedule::Rank lowest_member);

  const schedule::EpochPlan& plan_;
  std::size_t islands_;
  std::vector<dataplane::SitePoint> points_;
  std::vector<Role> makes_;  ///< By tree.
  std::vector<Role> takes_;  ///< By tree.
};

/// By fold of a clique, in the order of its `folds`, and in it by input: a bit per member that is in it.
std::vector<std::vector<std::uint64_t>> members_below(const schedule::PlannedClique& clique);

/// How many folds a site's partials pass on their way to the root, by fold; 0 for the root.
std::vector<std::uint32_t> fold_depths(const schedule::PlannedClique& clique);

}  // namespace tombolo::control
