#pragma once

#include <cstdint>
#include <vector>

#include "schedule/schedule.h"

namespace tombolo::schedule {

/// A set of islands: bit r stands for rank r.
using IslandSet = std::uint64_t;
inline constexpr std::size_t kMaxSetIslands = 64;

/// A round as the optimizer turns it over: disjoint sets that together hold every island, one that rests
/// alone in its set.
using Partition = std::vector<IslandSet>;

Clique to_clique(IslandSet set);
/// The cliques are the sets of two and more, in the order of their lowest ranks.
Round to_round(const Partition& partition);
/// The sets in the order of their lowest ranks. At most 64 islands.
Partition to_partition(const Round& round, std::size_t islands);

/// Calls `visit(const Partition&)` for every partition of `islands` (1 to 64) islands, sets in the order of
/// their lowest ranks: each island joins one of the sets before it or opens a new one.
template <typename Visit>
void for_each_partition(std::size_t islands, const Visit& visit) {
  Partition sets;
  const auto place = [&](const auto& self, std::size_t rank) -> void {
    if (rank == islands) return visit(sets);
    const IslandSet island = IslandSet{1} << rank;
    for (std::size_t i = 0; i < sets.size(); ++i) {
      sets[i] |= island;
      self(self, rank + 1);
      sets[i] &= ~island;
    }
    sets.push_back(island);
    self(self, rank + 1);
    sets.pop_back();
  };
  place(place, 0);
}

}  // namespace tombolo::schedule
