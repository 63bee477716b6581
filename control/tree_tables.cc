#include "control/tree_tables.h"

#include <algorithm>
#include <utility>

namespace tombolo::control {
namespace {

using schedule::EpochPlan;
using schedule::PlannedClique;
using schedule::PlannedFold;
using schedule::Rank;
using schedule::SiteId;

/// The root's rounds live as long as the epoch says. Below it they end earlier, so that a site which knows
/// who is missing says so before the next one loses patience with all that is below it. The lowest loses this
/// part.
constexpr std::uint64_t kDeadlineParts = 8;

std::uint64_t deadline_ns(const EpochPlan& plan, std::uint32_t depth, std::uint32_t deepest) {
  if (depth == 0) return plan.deadline_ns;
  return plan.deadline_ns - plan.deadline_ns / kDeadlineParts / deepest * depth;
}

}  // namespace

std::vector<std::vector<std::uint64_t>> members_below(const PlannedClique& clique) {
  std::vector<std::vector<std::uint64_t>> below(clique.folds.size());
  for (std::size_t i = clique.folds.size(); i-- > 0;)
    for (const std::uint16_t tree : clique.folds[i].inputs) {
      std::uint64_t bits = 0;
      for (std::size_t member = 0; member < clique.members.size(); ++member)
        if (clique.send_trees[member][0] == tree) bits = std::uint64_t{1} << member;
      for (std::size_t from = i + 1; from < clique.folds.size(); ++from)
        if (clique.folds[from].tree == tree)
          for (const std::uint64_t input : below[from]) bits |= input;
      below[i].push_back(bits);
    }
  return below;
}

std::vector<std::uint32_t> fold_depths(const PlannedClique& clique) {
  std::vector<std::uint32_t> depths(clique.folds.size(), 0);
  for (std::size_t i = 1; i < clique.folds.size(); ++i)
    for (std::size_t to = 0; to < i; ++to) {
      const auto& inputs = clique.folds[to].inputs;
      if (std::find(inputs.begin(), inputs.end(), clique.folds[i].tree) != inputs.end())
        depths[i] = depths[to] + 1;
    }
  return depths;
}

TreeTables::TreeTables(const EpochPlan& plan, SiteId site, std::size_t islands)
    : plan_(plan), islands_(islands), makes_(plan.trees.size()), takes_(plan.trees.size()) {
  for (std::size_t entry = 0; entry < plan.entries.size(); ++entry)
    for (const PlannedClique& clique : plan.entries[entry].cliques)
      for (std::size_t fold = 0; fold < clique.folds.size(); ++fold)
        if (clique.folds[fold].site == site) add_fold(entry, clique, fold);
}

void TreeTables::add_fold(std::size_t entry, const PlannedClique& clique, std::size_t fold) {
  const PlannedFold& planned = clique.folds[fold];
  const std::size_t index = point_of(clique.members.front());
  const auto point = static_cast<std::uint8_t>(islands_ + index);
  aggregation::MemberEntry& inputs = points_[index].inputs[entry];
  inputs.members = static_cast<std::uint8_t>(planned.inputs.size());
  inputs.window_chunks = clique.window_chunks;
  inputs.has_weights = !clique.weights.empty();
  const std::vector<std::uint32_t> depths = fold_depths(clique);
  inputs.deadline_ns = deadline_ns(plan_, depths[fold], *std::max_element(depths.begin(), depths.end()));
  dataplane::SiteEntry& at = points_[index].entries[entry];
  at.tree = planned.tree;
  at.is_root = fold == 0;
  at.below = members_below(clique)[fold];
  at.members = clique.members;
  for (std::size_t i = 0; i < planned.inputs.size(); ++i) {
    const std::uint16_t tree = planned.inputs[i];
    inputs.ranks[i] = static_cast<std::uint16_t>(i);
    inputs.receive_trees[i] = tree;
    if (!clique.weights.empty() && plan_.trees[tree].use == schedule::TreeUse::kContributions) {
      const auto source =
          std::lower_bound(clique.members.begin(), clique.members.end(), plan_.trees[tree].source);
      inputs.weights[i] = clique.weights[static_cast<std::size_t>(source - clique.members.begin())];
    }
    if (plan_.trees[tree].use == schedule::TreeUse::kPartials) at.partials |= std::uint64_t{1} << i;
    takes_[tree] = {point, static_cast<std::uint8_t>(i)};
  }
  makes_[planned.tree] = {point, 0};
}

std::size_t TreeTables::point_of(Rank lowest_member) {
  const auto found = std::find_if(points_.begin(), points_.end(), [=](const dataplane::SitePoint& point) {
    return point.lowest_member == lowest_member;
  });
  if (found != points_.end()) return static_cast<std::size_t>(found - points_.begin());
  points_.push_back({lowest_member, {}, {}});
  points_.back().inputs.resize(plan_.entries.size());
  points_.back().entries.resize(plan_.entries.size());
  return points_.size() - 1;
}

void TreeTables::complete(const schedule::PlannedTree& tree, const schedule::TreeHop& hop,
                          multicast::Branch& branch) const {
  branch.traffic = static_cast<multicast::Traffic>(tree.use);
  if (tree.source == schedule::kNoRank && hop.parent == hop.site) branch.parent_point = makes_[tree.id].point;
  if (tree.use == schedule::TreeUse::kResults || !hop.children.empty()) return;
  branch.deliver = std::uint64_t{1} << takes_[tree.id].point;
  branch.input = takes_[tree.id].input;
}

}  // namespace tombolo::control
