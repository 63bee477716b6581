#pragma once

#include "base/result.h"
#include "schedule/epoch_plan.h"

namespace tombolo::schedule {

/// Verifies everything that a plan promises: sizes, ranges and orders; cliques disjoint; trees rooted at
/// their source, along existing links, complete and without a useless branch; every member reached by every
/// source exactly once and by nothing else; tables that agree with the trees; loads that are the sums of the
/// rates. An edge calls it before it accepts a plan, so no later code needs to look again. Errors:
/// kInvalidInput, the first thing that does not hold, and where.
Status check_plan(const EpochPlan& plan);

}  // namespace tombolo::schedule
