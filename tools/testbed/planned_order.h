#pragma once

#include <cstdint>
#include <vector>

#include "schedule/epoch_plan.h"
#include "tools/testbed/fold_order.h"

namespace tombolo::testbed {

/// That of a planned clique; the plan has passed schedule::check_plan.
FoldOrder fold_order(const schedule::EpochPlan& plan, const schedule::PlannedClique& clique);

/// That of the clique with these members in a round of an epoch; of a clique that the plan does not have
/// there the direct one.
FoldOrder fold_order(const schedule::EpochPlan& plan, std::uint32_t first_round, std::uint32_t round,
                     const std::vector<std::uint16_t>& members);

}  // namespace tombolo::testbed
