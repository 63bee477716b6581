#pragma once

#include "schedule/baselines/placement.h"
#include "schedule/baselines/score.h"

namespace tombolo::schedule::baselines {

/// The time of one all-reduce round the ring `order`, unidirectional: reduce-scatter, then all-gather, of n
/// shards. The most loaded resource carries (hops through it) x 2 (n-1)/n updates; the last shard takes 2
/// (n-1) consecutive hops, from the start where their latencies sum to most.
double ring_time_s(const Scene& scene, const Order& order);

/// Ring all-reduce over the best order. Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters
/// of workstations, J. Parallel Distrib. Comput. 69(2), 2009. Islands do the work; the network's capabilities
/// do not help. Exact up to nine islands, local search beyond.
Baseline ring_all_reduce(const Scene& scene);

/// D-PSGD on a ring: every island averages with its two neighbours, weights 1/3. Lian, Zhang, Zhang, Hsieh,
/// Zhang, Liu: Can Decentralized Algorithms Outperform Centralized Algorithms?, arXiv 1705.09056. The order
/// of the least round time. Errors: those of RoundModel::time.
Result<Baseline> ring_gossip(const Scene& scene);

}  // namespace tombolo::schedule::baselines
