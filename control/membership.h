#pragma once

#include <set>

#include "base/result.h"
#include "schedule/epoch_plan.h"
#include "schedule/schedule.h"

namespace tombolo::control {

/// The schedule of the islands that are left: `nominal` without the `lost` ones. Cliques of which one member
/// or none is left rest, the others keep their modes, and rounds that lose their last clique are dropped.
/// When an island returns, the next schedule is made from the nominal one again with the islands that are
/// still lost, so a loss leaves no trace. Errors: kFailed if no clique is left, or if two islands that
/// `nominal` brings together, directly or through others, would never influence each other again: their
/// models would drift apart without end.
Result<schedule::Schedule> without(const schedule::Schedule& nominal, const std::set<schedule::Rank>& lost);

}  // namespace tombolo::control
