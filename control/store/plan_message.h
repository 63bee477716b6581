#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "control/agent.h"
#include "control/controller.h"
#include "schedule/epoch_plan.h"

namespace tombolo::control::v1 {
class Plan;
}

namespace tombolo::control {

/// The largest plan that is written, sent or read, in bytes.
inline constexpr std::size_t kMaxPlanBytes = 64U << 20;

/// Fills `message`, which is empty. Any plan that passes schedule::check_plan comes back the same.
void write_plan(const schedule::EpochPlan& plan, v1::Plan& message);

/// Bytes of a plan as a message.
std::size_t plan_bytes(const schedule::EpochPlan& plan);

/// Validates the message whole: the range of every field, every size, then schedule::check_plan.
/// Errors: kInvalidInput, "plan: field: what is wrong".
Result<std::shared_ptr<const schedule::EpochPlan>> read_plan(const v1::Plan& message);

/// What an edge and a controller keep on disk, as bytes; the same state always gives the same bytes.
std::string write_state(const AgentSnapshot& snapshot);
std::string write_state(const ControllerState& state);

/// Any bytes may be given. Errors: kInvalidInput, naming the field.
Result<AgentSnapshot> read_agent_snapshot(std::string_view bytes);
Result<ControllerState> read_controller_state(std::string_view bytes);

}  // namespace tombolo::control
