#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "control/agent.h"
#include "control/epoch_groups.h"
#include "control/epoch_tables.h"
#include "control/job_quota.h"
#include "dataplane/edge/edge_job.h"
#include "dataplane/port/link_groups.h"

namespace tombolo::control {

/// The agent's hand in a real edge, for one job: turns plans into tables and hands them to the workers, and
/// tells the ports of the groups of links.
class InstalledEdge final : public EdgeDataplane {
 public:
  /// Where the packets of a link go and come to from now on.
  using SetGroups = std::function<void(std::size_t link, const dataplane::LinkGroups& groups)>;

  /// The job outlives it. `place` describes its links in the order of its configuration. Without
  /// `set_groups` the ports are unicast: a plan's groups are of no account.
  InstalledEdge(dataplane::EdgeJob& job, EdgePlace place, SetGroups set_groups = {})
      : job_(job), place_(std::move(place)), set_groups_(std::move(set_groups)), groups_(place_) {}

  bool can_stage() const override { return job_.can_install(); }
  Status stage(const schedule::EpochPlan& plan) override;
  std::uint32_t highest_opened_round() const override;
  void commit(std::uint32_t epoch, std::uint32_t activating_round) override;
  void abort(std::uint32_t epoch) override;

  /// Of the epoch in force.
  const Windows& windows() const { return windows_; }

 private:
  void tell_ports() const;
  JobQuota quota() const;

  dataplane::EdgeJob& job_;
  EdgePlace place_;
  SetGroups set_groups_;
  EpochGroups groups_;
  std::shared_ptr<const dataplane::EpochTable> staged_;
  std::optional<schedule::EpochPlan> staged_plan_;
  std::optional<schedule::EpochPlan> running_plan_;  ///< The newest in force.
  Windows staged_windows_;
  Windows windows_;
};

}  // namespace tombolo::control
