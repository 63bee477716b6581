#pragma once

#include "schedule/baselines/score.h"

namespace tombolo::schedule::baselines {

/// Baselines whose rounds are cliques. All errors are those of RoundModel::time.

/// Every round one clique of all islands, each sending its update to all others, or sharded (reduce-scatter
/// and all-gather; Rabenseifner: Optimization of Collective Reduction Operations, 2004).
Result<Baseline> full_clique(const Scene& scene, Family family);

/// Rows of near islands, then columns across. Ryabinin, Gorbunov, Plokhotnyuk, Pekhimenko: Moshpit SGD, arXiv
/// 2103.03239 (averaging along one axis of a grid after the other); the nine cities by SCHEDULING's grid. Any
/// other n: the shortest tour cut into rows of about the square root of n, the last one shorter.
Result<Baseline> geographic_grid(const Scene& scene);

/// Each round a matching drawn uniformly among those with the most pairs. Boyd, Ghosh, Prabhakar, Shah:
/// Randomized Gossip Algorithms, 2006, with all islands paired at once. By symmetry E[W S W'] needs no
/// sampling; E[T] and E[T^2] are exact up to 10,395 matchings (12 islands), else from 2000 drawn ones.
Result<Baseline> random_matchings(const Scene& scene);

/// Regional partition, leaders, regional. Liu, Zhang, Song, Letaief: Client-Edge-Cloud Hierarchical Federated
/// Learning, arXiv 1905.06641. For each number of regions (complete linkage) two forms: leaders average as a
/// clique between two regional rounds; or an exact all-reduce, leaders weighted by their region's size and
/// the last round a broadcast. The best D of all is the row.
Result<Baseline> hierarchical(const Scene& scene);
/// The exact form's rounds after the regional one: leaders[r], which holds the mean of regions[r], takes the
/// mean of all weighted by size; then every member takes its leader's.
std::vector<Matrix> leader_rounds(const std::vector<std::vector<Rank>>& regions,
                                  const std::vector<Rank>& leaders);

/// One partition, alternated with the full clique: Lin, Stich, Patel, Jaggi: Don't Use Large Mini-Batches,
/// Use Local SGD, arXiv 1808.07217 (hierarchical local SGD, one regional round per global one). The best of
/// all partitions up to nine islands; beyond, from regional partitions by moving one island at a time.
Result<Baseline> static_partition_and_full(const Scene& scene);

/// Hewa Koneputugodage et al.: Factored Gossip DiLoCo, arXiv 2606.22768: the synchronisation is two mixing
/// steps, the first overlapped with training, the second blocking. Ours: step one averages the rows of an a x
/// b grid, step two its columns (exact when a b = n), over all shapes and with searched places; the local
/// phase is as long as step one, so that nothing waits. D does not see what blocks: training's drift is
/// priced all the time.
Result<Baseline> factored_gossip(const Scene& scene);

/// H local steps, then a full clique. Douillard et al.: DiLoCo: Distributed Low-Communication Training of
/// Language Models, arXiv 2311.08105. The outer optimizer (Nesterov) is left out: D is of the averaging
/// alone.
Result<Baseline> diloco(const Scene& scene, unsigned local_steps);

/// D of the cycle (partition, full): the closed form for projections, for searches. `parts` counts
/// singletons.
double partition_and_full_disagreement_s(double partition_s, double full_s, std::size_t parts,
                                         std::size_t islands);

}  // namespace tombolo::schedule::baselines
