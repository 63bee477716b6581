#include "schedule/optimize/problem.h"

#include <cmath>

namespace tombolo::schedule {

Status Problem::check() const {
  if (islands() < 2)
    return invalid_input("a schedule needs at least two islands; the topology has " +
                         std::to_string(islands()));
  if (!(update_bytes_ > 0) || !std::isfinite(update_bytes_))
    return invalid_input("the update must be larger than 0 bytes");
  const Island& first = network_.islands.front();
  for (const Island& island : network_.islands)
    if (!routes_.reaches(first.site, island.site) || !routes_.reaches(island.site, first.site))
      return invalid_input("there is no way between island " + first.id + " and island " + island.id);
  return ok_status();
}

}  // namespace tombolo::schedule
