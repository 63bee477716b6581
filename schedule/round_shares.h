#pragma once

#include <vector>

namespace tombolo::schedule {

/// When one island more can know what an island held, at the soonest.
struct SpreadStep {
  double widest_s = 0;   ///< A round at least as long must have passed: 0 or one of the lengths.
  double reached_s = 0;  ///< Rounds of so much time must have passed since the island's next start.
};

/// What one island's drift leads to.
struct IslandSpread {
  double shortest_s = 0;          ///< No round of its own is shorter: one of the lengths.
  std::vector<SpreadStep> steps;  ///< For the second, third, ... island that knows.
};

/// Rounds with barriers follow one another, so that long ones and short ones share the time. Whatever share
/// they have, the sum over islands of the mean over time of the integral of (1 / those who know - 1 / n) is
/// at least this, in seconds. `lengths_s` ascend. BOUNDS.md, section 5, proves it.
double least_spread_s(const std::vector<IslandSpread>& islands, const std::vector<double>& lengths_s);

}  // namespace tombolo::schedule
