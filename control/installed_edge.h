#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "control/agent.h"
#include "control/epoch_groups.h"
#include "control/epoch_tables.h"
#include "dataplane/edge/edge.h"
#include "dataplane/port/link_groups.h"

namespace tombolo::control {

/// The agent's hand in a real edge: turns plans into tables and hands them to the workers, and tells the
/// ports of the groups of links.
class InstalledEdge final : public EdgeDataplane {
 public:
  /// Where the packets of a link go and come to from now on.
  using SetGroups = std::function<void(std::size_t link, const dataplane::LinkGroups& groups)>;

  /// The edge outlives it. `place` describes the edge's links in the order of its configuration. Without
  /// `set_groups` the ports are unicast: a plan's groups are of no account.
  InstalledEdge(dataplane::Edge& edge, EdgePlace place, SetGroups set_groups = {})
      : edge_(edge), place_(std::move(place)), set_groups_(std::move(set_groups)), groups_(place_) {}

  bool can_stage() const override { return edge_.can_install(); }
  Status stage(const schedule::EpochPlan& plan) override;
  std::uint32_t highest_opened_round() const override;
  void commit(std::uint32_t epoch, std::uint32_t activating_round) override;
  void abort(std::uint32_t epoch) override;

 private:
  void tell_ports() const;

  dataplane::Edge& edge_;
  EdgePlace place_;
  SetGroups set_groups_;
  EpochGroups groups_;
  std::shared_ptr<const dataplane::EpochTable> staged_;
  std::optional<schedule::EpochPlan> staged_plan_;
  std::optional<schedule::EpochPlan> running_plan_;  ///< The newest in force.
};

}  // namespace tombolo::control
