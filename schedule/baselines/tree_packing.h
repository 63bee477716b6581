#pragma once

#include <vector>

#include "schedule/baselines/score.h"

namespace tombolo::schedule::baselines {

/// One spanning tree of a synthesised all-reduce: a share of the update is summed up it and comes back down.
struct PackedTree {
  std::vector<Edge> edges;
  double share = 0;      ///< Of the update.
  double latency_s = 0;  ///< To the best root and back.
};

struct TreePacking {
  std::vector<PackedTree> trees;
  double seconds = 0;       ///< Of the all-reduce.
  double busy_bound_s = 0;  ///< No all-reduce over trees takes less, latency aside.
};

/// The all-reduce of least time over spanning trees of islands: a linear programme for the shares, a minimum
/// spanning tree under its prices for the next tree (an edge of a tree loads both directions, whatever the
/// root). A tree's latency is added in full: shares are found again among the trees within each latency
/// limit.
TreePacking pack_trees(const Scene& scene);

/// One exact all-reduce, synthesised for this network. Shah et al.: TACCL: Guiding Collective Algorithm
/// Synthesis using Communication Sketches, arXiv 2111.04867. The paper routes and orders chunks on links by a
/// mixed-integer programme within a person's sketch; ours has no links to sketch and, as rounds are long
/// against chunks, no order to find: what remains is how much goes over which tree, which `pack_trees`
/// solves.
Baseline taccl_like(const Scene& scene);

}  // namespace tombolo::schedule::baselines
