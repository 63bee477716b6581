#pragma once

#include "schedule/optimize/problem.h"

namespace tombolo::schedule {

/// A lower bound, in seconds, on D of every cycle of rounds with barriers: 3 / (2 n) times the least spanning
/// tree of the islands, where two of them are as far apart as the time in which an update can get from one to
/// the other: for the family direct their pair's round, else latency and the slowest access on the way.
/// `problem` must have passed its check.
double disagreement_bound_s(const Problem& problem);

}  // namespace tombolo::schedule
