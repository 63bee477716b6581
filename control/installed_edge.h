#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "control/agent.h"
#include "control/epoch_tables.h"
#include "dataplane/edge/edge.h"

namespace tombolo::control {

/// The agent's hand in a real edge: turns plans into tables and hands them to the workers.
class InstalledEdge final : public EdgeDataplane {
 public:
  /// The edge outlives it. `place` describes the edge's links in the order of its configuration.
  InstalledEdge(dataplane::Edge& edge, EdgePlace place) : edge_(edge), place_(std::move(place)) {}

  bool can_stage() const override { return edge_.can_install(); }
  Status stage(const schedule::EpochPlan& plan) override;
  std::uint32_t highest_opened_round() const override;
  void commit(std::uint32_t epoch, std::uint32_t activating_round) override;
  void abort(std::uint32_t epoch) override;

 private:
  dataplane::Edge& edge_;
  EdgePlace place_;
  std::shared_ptr<const dataplane::EpochTable> staged_;
  std::optional<schedule::EpochPlan> staged_plan_;
  std::optional<schedule::EpochPlan> running_plan_;  ///< The newest in force.
};

}  // namespace tombolo::control
