#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "schedule/baselines/scene.h"

namespace tombolo::schedule::baselines {

/// order[position] is the rank at that position of a pattern.
using Order = std::vector<Rank>;

/// What a search minimises, in seconds.
using OrderCost = std::function<double(const Order&)>;

/// The order of least cost among all, for a pattern that turning does not change (a ring, a circulant graph):
/// position 0 is fixed. Exact up to nine islands ((n-1)! orders); beyond, `local_order` from `start`.
Order best_cyclic_order(const Order& start, const OrderCost& cost, std::uint64_t seed,
                        std::size_t evaluations);

/// Local search: exchanges of two positions and reversals of a stretch, kept when they cost less, until
/// `evaluations` are spent. The same seed gives the same order.
Order local_order(const Order& start, const OrderCost& cost, std::uint64_t seed, std::size_t evaluations);

/// A short tour in latency: nearest neighbour from rank 0, then 2-opt until nothing improves (at most a fixed
/// number of passes). Where searches start.
Order short_tour(const Scene& scene);

/// Complete-linkage clustering by latency: element k - 1 has k regions, k = 1 ... n, each sorted, regions by
/// first member. Merging the two regions whose union has the least diameter; ties to the lower ranks.
std::vector<std::vector<std::vector<Rank>>> regional_partitions(const Scene& scene);

/// The member with the least largest latency to the others, the lowest rank on ties.
Rank center_of(const Scene& scene, const std::vector<Rank>& region);

}  // namespace tombolo::schedule::baselines
