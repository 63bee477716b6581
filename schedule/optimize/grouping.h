#pragma once

#include <cstdint>
#include <vector>

#include "schedule/schedule.h"

namespace tombolo::schedule {

/// A round as a partition of any number of islands: one that rests is a group of its own.
struct Grouping {
  std::vector<std::uint16_t> group_of;  ///< By rank.
  std::vector<Clique> groups;           ///< Members ascending; none is empty.

  std::size_t islands() const { return group_of.size(); }
  std::size_t size() const { return groups.size(); }
};

Grouping to_grouping(const Round& round, std::size_t islands);
/// From groups that together hold every island once, members in any order.
Grouping to_grouping(std::vector<Clique> groups, std::size_t islands);
/// Only the groups of two and more; none if all rest.
Round to_round(const Grouping& grouping);

}  // namespace tombolo::schedule
