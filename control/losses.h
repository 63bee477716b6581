#pragma once

#include "control/epoch_tables.h"
#include "dataplane/edge/epoch_table.h"
#include "schedule/epoch_plan.h"

namespace tombolo::control {

/// What an edge's part of the `older` epoch can no longer count on when `newer` takes over: members whose
/// chunks would have to cross a lost link or come from a lost island, and links below which every receiver is
/// cut off. Both plans have passed schedule::check_plan. Losses of epoch 0 if nothing of `older` is
/// concerned.
dataplane::Losses make_losses(const schedule::EpochPlan& older, const schedule::EpochPlan& newer,
                              const EdgePlace& place);

}  // namespace tombolo::control
