#include "schedule/optimize/partition.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace tombolo::schedule {

Clique to_clique(IslandSet set) {
  Clique clique;
  for (; set != 0; set &= set - 1) clique.push_back(static_cast<Rank>(std::countr_zero(set)));
  return clique;
}

Round to_round(const Partition& partition) {
  Round round;
  for (const IslandSet set : partition)
    if (std::popcount(set) >= 2) round.cliques.push_back(to_clique(set));
  std::sort(round.cliques.begin(), round.cliques.end());
  return round;
}

Partition to_partition(const Round& round, std::size_t islands) {
  CHECK(islands <= kMaxSetIslands);
  Partition partition;
  IslandSet placed = 0;
  for (const Clique& clique : round.cliques) {
    IslandSet set = 0;
    for (const Rank rank : clique) set |= IslandSet{1} << rank;
    partition.push_back(set);
    placed |= set;
  }
  for (std::size_t rank = 0; rank < islands; ++rank)
    if ((placed >> rank & 1) == 0) partition.push_back(IslandSet{1} << rank);
  std::sort(partition.begin(), partition.end(),
            [](IslandSet a, IslandSet b) { return std::countr_zero(a) < std::countr_zero(b); });
  return partition;
}

}  // namespace tombolo::schedule
