#pragma once

#include <cstdint>
#include <string>

#include "schedule/epoch_plan.h"

namespace tombolo::schedule {

/// What is wrong with the numbers in a clique's `folds` (sites and trees that there are, of this entry and
/// of the use that is meant), as far as it can be told before the trees are looked at; empty if nothing is.
std::string fault_in_fold_numbers(const EpochPlan& plan, std::uint32_t entry, const PlannedClique& clique);

/// What is wrong with how a clique folds; empty if nothing is. Its numbers and the hops of its trees are
/// sound. Every stream must be folded once, where its path ends, in the order of the lowest ranks; partials
/// must go to a site nearer to the root; results must reach each member once.
std::string fault_in_folds(const EpochPlan& plan, const PlannedClique& clique);

}  // namespace tombolo::schedule
