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
  Moves(std::size_t islands, RoundBook& book, Random& random)
      : islands_(islands), book_(book), random_(random) {}

  /// A cycle of the same length, one change away from `cycle`. Empty if the change drawn is impossible there;
  /// draw again.
  Cycle change(const Cycle& cycle);

  /// A round one change or a few away from `round`; null as above.
  RoundHandle change_round(const TimedPartition& round);

  /// Puts a round into the pool, from which whole rounds are drawn.
  void remember(const RoundHandle& round);
  const std::vector<RoundHandle>& pool() const { return pool_; }

 private:
  bool move_island(Partition& sets);
  bool swap_islands(Partition& sets);
  bool join_sets(Partition& sets);
  bool split_set(Partition& sets);

  std::size_t islands_;
  RoundBook& book_;
  Random& random_;
  std::vector<RoundHandle> pool_;
  std::unordered_set<const TimedPartition*> in_pool_;
};

}  // namespace tombolo::schedule
