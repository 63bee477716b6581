#include "control/installed_edge.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "control/losses.h"
#include "schedule/check_plan.h"

namespace tombolo::control {

Status InstalledEdge::stage(const schedule::EpochPlan& plan) {
  if (auto checked = schedule::check_plan(plan); !checked) return checked;
  if (plan.job != job_.config().job)
    return invalid_input(
        fmt::format("the plan is for job {}, and comes to job {}", plan.job, job_.config().job));
  if (plan.lane_count != job_.lane_count())
    return invalid_input(
        fmt::format("the plan has {} lanes, the edge {}", plan.lane_count, job_.lane_count()));
  const JobQuota quota = this->quota();
  const EdgeNeeds needs = edge_needs(plan, place_);
  for (std::size_t i = 0; i < needs.link_windows.size(); ++i)
    if (needs.link_windows[i] > quota.link_windows[i])
      return Error{ErrorCode::kUnavailable,
                   fmt::format("link to {}: the plan needs a window of {} packets, the edge reserved {}",
                               to_string(job_.config().links[i].address), needs.link_windows[i],
                               quota.link_windows[i])};
  const auto windows = windows_within(plan, place_, quota);
  if (!windows) return Error(windows.error());
  dataplane::Losses losses;
  if (running_plan_) losses = make_losses(*running_plan_, plan, place_);
  auto table = windows->is_cut()
                   ? make_epoch_table(with_windows(plan, windows->chunks), place_, std::move(losses))
                   : make_epoch_table(plan, place_, std::move(losses));
  if (!table) return std::move(table).error();
  // What commit will build must not be able to fail then, so it is built once now.
  if (auto trial = dataplane::LaneEpoch::create(*table, 0, 0); !trial) return std::move(trial).error();
  staged_ = std::move(table).value();
  staged_windows_ = *windows;
  staged_plan_ = plan;
  groups_.stage(plan);
  tell_ports();
  return ok_status();
}

JobQuota InstalledEdge::quota() const {
  const dataplane::EdgeJobConfig& config = job_.config();
  JobQuota quota{config.pool_buffers, config.arena_bytes, {}};
  for (const dataplane::EdgeLink& link : config.links) quota.link_windows.push_back(link.window_packets);
  return quota;
}

std::uint32_t InstalledEdge::highest_opened_round() const { return job_.highest_opened_round().value_or(0); }

void InstalledEdge::commit(std::uint32_t epoch, std::uint32_t activating_round) {
  CHECK(staged_ != nullptr && staged_->epoch == epoch);
  CHECK(job_.install(std::move(staged_), activating_round).ok());
  staged_.reset();
  running_plan_ = std::move(staged_plan_);
  windows_ = staged_windows_;
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
