#pragma once

#include <vector>

#include "schedule/optimize/grouping.h"
#include "schedule/optimize/pair_times.h"
#include "schedule/optimize/problem.h"

namespace tombolo::schedule {

/// A cycle as the search for large networks turns it over.
using GroupedCycle = std::vector<Grouping>;

/// Cycles to begin with at any size, each joining all islands: mixed-radix butterflies (an island's place in
/// a tree of near clusters is a number of several digits; a round joins islands that differ in one digit
/// only) with 2 to 64 islands in a clique, as a sweep over the digits and in the order of a ruler (near
/// digits more often); the same with rounds of only the islands that the network serves quickly in between;
/// rounds of only those, and one or two in which each of the slow meets one of them; and regions, their
/// leaders, regions. No cycle has more than `max_rounds` rounds.
std::vector<GroupedCycle> structured_cycles(const Problem& problem, const PairTimes& pairs,
                                            std::size_t max_rounds);

/// The same as schedules.
std::vector<Schedule> structured_seeds(const Problem& problem, std::size_t max_rounds);

}  // namespace tombolo::schedule
