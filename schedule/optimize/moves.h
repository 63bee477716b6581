#pragma once

#include <unordered_set>
#include <vector>

#include "base/random.h"
#include "schedule/optimize/cycle.h"

namespace tombolo::schedule {

/// The small changes by which the search walks from cycle to cycle, drawn by chance.
class Moves {
 public:
  /// Book and generator must outlive this.
  Moves(std::size_t islands, std::size_t max_rounds, RoundBook& book, Random& random)
      : islands_(islands), max_rounds_(max_rounds), book_(book), random_(random) {}

  /// A cycle one change away from `cycle`. Empty if the change drawn is impossible there; draw again.
  Cycle change(const Cycle& cycle);

  /// Puts a round into the pool, from which whole rounds are drawn.
  void remember(const RoundHandle& round);
  const std::vector<RoundHandle>& pool() const { return pool_; }

 private:
  Cycle change_order(const Cycle& cycle);
  RoundHandle draw_round(const Cycle& cycle);
  RoundHandle change_round(const TimedPartition& round);
  bool move_island(Partition& sets);
  bool swap_islands(Partition& sets);
  bool join_sets(Partition& sets);
  bool split_set(Partition& sets);

  std::size_t islands_;
  std::size_t max_rounds_;
  RoundBook& book_;
  Random& random_;
  std::vector<RoundHandle> pool_;
  std::unordered_set<const TimedPartition*> in_pool_;
};

}  // namespace tombolo::schedule
