#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "schedule/epoch_plan.h"
#include "schedule/topology.h"

namespace tombolo::schedule {

/// One direction between two neighbouring sites, by its ends.
struct SiteLink {
  SiteId from = 0;
  SiteId to = 0;

  friend auto operator<=>(const SiteLink&, const SiteLink&) = default;
};

/// How one island's packets fan out where that was chosen and not left to Routes: the links of a tree that
/// starts at the island's site, in any order. Without multicast its paths are what the copies take.
using SourceTree = std::vector<SiteLink>;

/// By member of a clique; empty, or an empty tree: along the shortest routes.
using CliqueTrees = std::vector<SourceTree>;

/// Whether the links form a tree from `source` that reaches all of `sites` and ends nowhere else. `names` by
/// SiteId, for the message; all ids are below its size. Errors: kInvalidInput, saying what is wrong.
Status check_source_tree(const SourceTree& tree, SiteId source, std::span<const SiteId> sites,
                         std::span<const std::string> names);

/// The part of a tree that leads to `sites`: root first, parents before children, `deliver` empty. The tree
/// must pass check_source_tree for these sites and perhaps more.
std::vector<TreeHop> source_tree_hops(const SourceTree& tree, SiteId source, std::span<const SiteId> sites);

/// Index in Network::links of the link with these ends; none if there is no such link.
std::optional<std::uint32_t> find_link(const Network& network, SiteLink ends);

}  // namespace tombolo::schedule
