#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schedule/event/exchange.h"

namespace tombolo::schedule {

/// Loads closer to a capacity than this share of it do not exceed it.
inline constexpr double kLoadTolerance = 1e-9;

/// The least time after which a second exchange may start, for good, once a first one has, so that the two
/// together exceed no resource; 0 if they may start together. `sending_s`: how long each stream of an
/// exchange lasts; `update_s`: by resource, what it needs for one update.
double least_shift(const Exchange& first, double first_sending_s, const Exchange& second,
                   double second_sending_s, std::span<const double> update_s);

/// One exchange's use of a resource within a cycle.
struct Occupation {
  double begin_s = 0;
  double end_s = 0;
  double share = 0;         ///< Of the capacity.
  std::uint32_t owner = 0;  ///< Whose rate it is.
};

/// The moment of a cycle at which the occupations exceed 1 the most.
struct Peak {
  double share = 0;
  std::vector<std::uint32_t> occupations;  ///< Indexes of those that are on at the moment.
};

/// Occupations repeat with the cycle; none lasts longer than it.
Peak find_peak(std::span<const Occupation> occupations, double cycle_s);

}  // namespace tombolo::schedule
