#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "control/native_groups.h"
#include "control/survivors.h"
#include "schedule/compile.h"
#include "schedule/epoch_plan.h"
#include "schedule/schedule.h"
#include "schedule/topology.h"

namespace tombolo::control {

/// What the operator wants to run, were everything alive.
struct Nominal {
  schedule::Schedule schedule;
  schedule::CompileOptions options;  ///< Its epoch and losses are of no account.
  std::string order{};  ///< The operator's order that it came from, as it is stored; empty: configuration.
  GroupRange native_multicast{};  ///< For links whose both ends can.
};

/// The plan of `nominal` for what survives: without the lost links in the network and the lost islands in the
/// schedule. Errors: those of control::without and schedule::compile.
Result<schedule::EpochPlan> plan_without(const schedule::Network& network, const Nominal& nominal,
                                         const Survivors& survivors, std::uint32_t epoch);

/// The plan of `nominal`, and those after the loss of each single link, site and island, as far as a schedule
/// is left: what nodes reserve memory for, so that no edge has to refuse the epoch that follows a loss.
/// Errors: those of plan_without for the nominal plan.
Result<std::vector<schedule::EpochPlan>> contingency_plans(const schedule::Network& network,
                                                           const Nominal& nominal);

}  // namespace tombolo::control
