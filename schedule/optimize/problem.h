#pragma once

#include <cstddef>

#include "base/result.h"
#include "schedule/round_model.h"
#include "schedule/routes.h"
#include "schedule/topology.h"

namespace tombolo::schedule {

/// What is optimised: a network, what it can do for a round, and the size of an update. It stays where it was
/// made, for the round model refers to its routes.
class Problem {
 public:
  /// `network` must outlive the problem.
  Problem(const Network& network, Capabilities capabilities, double update_bytes)
      : network_(network),
        routes_(network),
        model_(network, routes_, capabilities),
        capabilities_(capabilities),
        update_bytes_(update_bytes) {}
  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  /// Errors: kInvalidInput unless there are two islands, joined by the network, and an update above 0 bytes.
  Status check() const;

  const Network& network() const { return network_; }
  const Routes& routes() const { return routes_; }
  const RoundModel& model() const { return model_; }
  const Capabilities& capabilities() const { return capabilities_; }
  double update_bytes() const { return update_bytes_; }
  std::size_t islands() const { return network_.islands.size(); }

 private:
  const Network& network_;
  Routes routes_;
  RoundModel model_;
  Capabilities capabilities_;
  double update_bytes_;
};

}  // namespace tombolo::schedule
