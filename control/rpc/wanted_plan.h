#pragma once

#include "base/result.h"
#include "control/contingency.h"
#include "control/survivors.h"
#include "schedule/epoch_plan.h"
#include "schedule/topology.h"

namespace tombolo::control {

/// plan_without() with a group for each of the `native` links, as long as it can be sent. Errors: those of
/// plan_without and assign_groups; kInvalidInput for a plan larger than kMaxPlanBytes.
Result<schedule::EpochPlan> make_wanted_plan(const schedule::Network& network, const Nominal& nominal,
                                             const Survivors& survivors, std::uint32_t epoch,
                                             const NativeLinks& native = {});

/// Whether they differ in nothing but the number of the epoch.
bool same_but_epoch(const schedule::EpochPlan& one, const schedule::EpochPlan& other);

}  // namespace tombolo::control
