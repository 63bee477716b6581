#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "schedule/optimize/problem.h"
#include "schedule/schedule.h"

namespace tombolo::schedule {

/// By how much capacities and latencies may be off.
struct UncertaintyOptions {
  double share = 0.2;  ///< From 0, below 1: each is multiplied by a factor from 1 - share to 1 + share.
  std::uint64_t seed = 1;
  std::size_t draws = 200;  ///< At least 10.

  /// Errors: kInvalidInput for what is out of range.
  Status check() const;
};

/// A round as it was planned for the network as it is thought to be: which modes, routes and trees. They
/// stay, whatever the network turns out to be.
struct PlannedRound {
  /// The links of a packet's way, by index in Network::links.
  using Way = std::vector<std::uint32_t>;
  struct PlannedClique {
    CliqueLoad load;  ///< Its latency is that of the network as planned.
    double passes = 1;
    std::vector<Way> there;  ///< The latency is `passes` times the longest of these,
    std::vector<Way> back;   ///< and of these together.
  };
  std::vector<PlannedClique> cliques;
  double rest_s = 0;  ///< Of a round without cliques.
};

/// Modes that the round leaves open are those that are quickest on the network as planned. Errors: those of
/// RoundModel::time.
Result<PlannedRound> plan_round(const Problem& problem, const Round& round);

/// Networks that are not quite what they were taken for: in each draw every access line, every direction of a
/// core link, and every link's latency has a factor of its own, uniform and independent. Draws depend on the
/// seed and the network only, so that schedules may be compared draw by draw.
class Scenarios {
 public:
  /// `options` must pass their check.
  Scenarios(const Problem& problem, const UncertaintyOptions& options);

  std::size_t draws() const { return scenarios_.size(); }

  /// These draws alone.
  Scenarios only(std::span<const std::size_t> draws) const;

  /// By draw: what a round of this problem takes.
  std::vector<double> seconds(PlannedRound round) const;

 private:
  Scenarios() = default;

  struct Scenario {
    std::vector<double> update_s;  ///< By resource: the time that one update takes on it.
    std::vector<double> link_s;    ///< By directed link: its latency.
  };
  std::vector<Scenario> scenarios_;
};

}  // namespace tombolo::schedule
