#include "control/installed_edge.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "control/losses.h"
#include "schedule/check_plan.h"

namespace tombolo::control {

Status InstalledEdge::stage(const schedule::EpochPlan& plan) {
  if (auto checked = schedule::check_plan(plan); !checked) return checked;
  if (plan.job != edge_.config().job)
    return invalid_input(
        fmt::format("the plan is for job {}, the edge serves {}", plan.job, edge_.config().job));
  if (plan.lane_count != edge_.config().lane_count)
    return invalid_input(
        fmt::format("the plan has {} lanes, the edge {}", plan.lane_count, edge_.config().lane_count));
  const EdgeNeeds needs = edge_needs(plan, place_);
  for (std::size_t i = 0; i < needs.link_windows.size(); ++i)
    if (needs.link_windows[i] > edge_.config().links[i].window_packets)
      return Error{ErrorCode::kUnavailable,
                   fmt::format("link to {}: the plan needs a window of {} packets, the edge reserved {}",
                               to_string(edge_.config().links[i].address), needs.link_windows[i],
                               edge_.config().links[i].window_packets)};
  if (needs.buffers() > edge_.config().pool_buffers)
    return Error{ErrorCode::kUnavailable,
                 fmt::format("the plan needs {} packet buffers, the edge reserved {}", needs.buffers(),
                             edge_.config().pool_buffers)};
  if (edge_.config().arena_bytes != 0 && needs.arena_bytes > edge_.config().arena_bytes)
    return Error{ErrorCode::kUnavailable,
                 fmt::format("the plan needs an arena of {} bytes, the edge reserved {}", needs.arena_bytes,
                             edge_.config().arena_bytes)};
  dataplane::Losses losses;
  if (running_plan_) losses = make_losses(*running_plan_, plan, place_);
  auto table = make_epoch_table(plan, place_, std::move(losses));
  if (!table) return std::move(table).error();
  // What commit will build must not be able to fail then, so it is built once now.
  if (auto trial = dataplane::LaneEpoch::create(*table, 0, 0); !trial) return std::move(trial).error();
  staged_ = std::move(table).value();
  staged_plan_ = plan;
  groups_.stage(plan);
  tell_ports();
  return ok_status();
}

std::uint32_t InstalledEdge::highest_opened_round() const { return edge_.highest_opened_round().value_or(0); }

void InstalledEdge::commit(std::uint32_t epoch, std::uint32_t activating_round) {
  CHECK(staged_ != nullptr && staged_->epoch == epoch);
  CHECK(edge_.install(std::move(staged_), activating_round).ok());
  staged_.reset();
  running_plan_ = std::move(staged_plan_);
  staged_plan_.reset();
  groups_.commit();
  tell_ports();
}

void InstalledEdge::abort(std::uint32_t epoch) {
  if (staged_ != nullptr && staged_->epoch == epoch) {
    staged_.reset();
    staged_plan_.reset();
    groups_.abort();
    tell_ports();
  }
}

void InstalledEdge::tell_ports() const {
  if (!set_groups_) return;
  for (std::size_t i = 0; i < place_.links.size(); ++i) set_groups_(i, groups_.of(i));
}

}  // namespace tombolo::control
