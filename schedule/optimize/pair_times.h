#pragma once

#include <Eigen/Dense>
#include <vector>

#include "schedule/optimize/round_timer.h"

namespace tombolo::schedule {

/// What two islands are to each other, for every pair.
struct PairTimes {
  Eigen::MatrixXd latency_s;               ///< The larger of the two ways; 0 with itself.
  Eigen::MatrixXd alone_s;                 ///< Of the clique of the two; 0 with itself.
  std::vector<std::vector<Rank>> nearest;  ///< By rank: the others, by latency, then by rank.
};

PairTimes pair_times(RoundTimer& timer, std::size_t islands);

}  // namespace tombolo::schedule
