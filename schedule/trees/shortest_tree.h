#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedule/topology.h"
#include "schedule/trees/steiner.h"

namespace tombolo::schedule {

/// The paths of least price, then latency, from `root` to `sites` over `links` alone, as one tree; `price` by
/// index in Network::links, or empty: of least latency. None if they do not reach all.
std::optional<LinkTree> shortest_tree(const Network& network, std::span<const std::uint32_t> links,
                                      SiteId root, std::span<const SiteId> sites,
                                      std::span<const double> price);

/// The latency from the root of a tree to the farthest of `sites`, all of which it reaches.
std::uint64_t height_ns(const Network& network, const LinkTree& tree, SiteId root,
                        std::span<const SiteId> sites);

}  // namespace tombolo::schedule
