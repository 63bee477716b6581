#pragma once

#include <vector>

#include "schedule/baselines/score.h"

namespace tombolo::schedule::baselines {

/// Baselines that are graphs, static or changing by rounds. Errors are those of RoundModel::time.

/// Round j of ceil(log2 n): island i takes half of its own and half of island i + 2^j (mod n). Exact after a
/// cycle when n is a power of two.
std::vector<Matrix> one_peer_exponential_rounds(std::size_t islands);
/// Ying, Yuan, Chen, Hu, Pan, Yin: Exponential Graph is Provably Efficient for Decentralized Deep Training,
/// arXiv 2110.13363. Ours: the islands' places, for the least cycle time.
Result<Baseline> one_peer_exponential(const Scene& scene);

/// Algorithms 1 to 3 of the paper: symmetric rounds of at most k peers each whose product is J, for any n.
/// `fill` also joins islands that would rest while others exchange (the paper's optional inner edges).
std::vector<Matrix> base_graph_rounds(std::size_t islands, std::size_t peers, bool fill);
/// Takezawa, Sato, Bao, Niwa, Yamada: Beyond Exponential Graph: Communication-Efficient Topologies for
/// Decentralized Learning via Finite-time Convergence, arXiv 2305.11420. Ours: k = 1 ... min(n - 1, 8), the
/// islands' places for the least cycle time; the best D. Rounds that are cliques are timed as cliques, so
/// that the network may sum.
Result<Baseline> base_graph(const Scene& scene);

/// Cliques of `size` islands along `order` (the last may be smaller), each pair of cliques joined by one edge
/// between the islands that have the fewest such edges; or only neighbours on a ring of cliques.
std::vector<Edge> d_cliques_edges(const std::vector<Rank>& order, std::size_t size, bool ring);
/// Bellet, Kermarrec, Lavoie: D-Cliques: Compensating for Data Heterogeneity with Topology in Decentralized
/// Federated Learning, arXiv 2104.07365, with its Metropolis-Hastings weights. Ours: the data being unknown,
/// cliques are cut from a short tour; sizes 2 ... n/2 (at most 16) and both ways to join cliques are tried;
/// the best D.
Result<Baseline> d_cliques(const Scene& scene);

/// A static graph chosen with its round time in view. Shen, Zhu, Huang, Yan, Zhuo, Xu: Bandwidth-Aware
/// Network Topology Optimization for Decentralized Learning, arXiv 2512.07536: consensus speed under a number
/// of edges, with bandwidth allotted to edges. The paper solves a mixed-integer semidefinite programme by
/// ADMM; ours grows the graph from the minimum spanning tree of pair times, edge by edge, by D among the
/// edges that the second eigenvector favours most, at the best constant weight, and keeps the best D on the
/// way.
Baseline bandwidth_aware(const Scene& scene);

/// Metropolis weights on the core's graph. Lian et al.: arXiv 1705.09056.
Baseline physical_gossip(const Scene& scene);

}  // namespace tombolo::schedule::baselines
