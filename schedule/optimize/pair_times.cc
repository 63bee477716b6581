#include "schedule/optimize/pair_times.h"

#include <algorithm>

namespace tombolo::schedule {

PairTimes pair_times(RoundTimer& timer, std::size_t islands) {
  PairTimes pairs{Eigen::MatrixXd::Zero(islands, islands), Eigen::MatrixXd::Zero(islands, islands), {}};
  for (std::size_t i = 0; i < islands; ++i)
    for (std::size_t j = i + 1; j < islands; ++j) {
      const TimedClique& pair = timer.clique({static_cast<Rank>(i), static_cast<Rank>(j)});
      pairs.latency_s(i, j) = pairs.latency_s(j, i) = pair.latency_s;
      pairs.alone_s(i, j) = pairs.alone_s(j, i) = pair.alone_s;
    }
  pairs.nearest.resize(islands);
  for (std::size_t i = 0; i < islands; ++i) {
    for (std::size_t j = 0; j < islands; ++j)
      if (j != i) pairs.nearest[i].push_back(static_cast<Rank>(j));
    std::stable_sort(pairs.nearest[i].begin(), pairs.nearest[i].end(),
                     [&](Rank a, Rank b) { return pairs.latency_s(i, a) < pairs.latency_s(i, b); });
  }
  return pairs;
}

}  // namespace tombolo::schedule
