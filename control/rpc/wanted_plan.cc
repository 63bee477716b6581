#include "control/rpc/wanted_plan.h"

#include <fmt/format.h>
#include <plan.pb.h>

#include <utility>

#include "control/store/plan_message.h"

namespace tombolo::control {

Result<schedule::EpochPlan> make_wanted_plan(const schedule::Network& network, const Nominal& nominal,
                                             const Survivors& survivors, std::uint32_t epoch,
                                             const NativeLinks& native) {
  auto plan = plan_without(network, nominal, survivors, epoch);
  if (!plan) return plan;
  if (Status assigned = assign_groups(*plan, network, nominal.native_multicast, native); !assigned)
    return std::move(assigned).error();
  if (const std::size_t bytes = plan_bytes(*plan); bytes > kMaxPlanBytes)
    return invalid_input(fmt::format("schedule {}: its plan has {} bytes; at most {} can be sent",
                                     nominal.schedule.name, bytes, kMaxPlanBytes));
  return plan;
}

bool same_but_epoch(const schedule::EpochPlan& one, const schedule::EpochPlan& other) {
  v1::Plan first;
  v1::Plan second;
  write_plan(one, first);
  write_plan(other, second);
  first.clear_epoch();
  second.clear_epoch();
  return first.SerializeAsString() == second.SerializeAsString();
}

}  // namespace tombolo::control
