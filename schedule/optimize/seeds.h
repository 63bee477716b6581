#pragma once

#include <vector>

#include "schedule/optimize/problem.h"
#include "schedule/schedule.h"

namespace tombolo::schedule {

/// Schedules to begin a search with, best known forms first: one clique of all; the grid whose lines are
/// islands near to one another; a tournament of pairs; and a hypercube of pairs where the number fits. Each
/// joins all islands and has at most `max_rounds` rounds. At most 64 islands, at least two.
std::vector<Schedule> plain_seeds(const Problem& problem, std::size_t max_rounds);

}  // namespace tombolo::schedule
