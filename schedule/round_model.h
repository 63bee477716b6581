#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "schedule/routes.h"
#include "schedule/schedule.h"
#include "schedule/topology.h"

namespace tombolo::schedule {

enum class Aggregation { kNone, kEdge, kTree };
enum class Family { kDirect, kSharded, kBest };

/// What the network can do for a round.
struct Capabilities {
  bool multicast = true;
  Aggregation aggregation = Aggregation::kEdge;
  Family family = Family::kDirect;
};

/// What a round takes, and why.
struct RoundTime {
  double seconds = 0;
  std::string bottleneck;                 ///< "egress LON", "ingress TYO" or "core LON-SIN".
  double bottleneck_updates = 0;          ///< How many updates pass it in the round: its load.
  std::vector<std::uint64_t> latency_ns;  ///< By clique: the largest one-way latency of a pair.
};

/// The time of a round, in which every island contributes an update of M bytes: the least T, above every
/// clique's latency L_C, at which on every access link and every direction of a core link the sum over
/// cliques of a(e, C) 8 M / (T - L_C) is at most its capacity. a(e, C) counts the updates that clique C sends
/// over e: with multicast a source sends 1, else one per other member; with edge aggregation a member
/// receives 1, else one per other member; a core link carries 1 per source whose tree uses it, or 1 per path.
class RoundModel {
 public:
  /// Both must outlive the model.
  RoundModel(const Network& network, const Routes& routes, Capabilities capabilities)
      : network_(network), routes_(routes), capabilities_(capabilities) {}

  /// `update_bytes` above 0, fractions allowed; the round must have a clique, as a Schedule guarantees.
  /// Errors: kNotSupported for aggregation tree and for the families sharded and best; kInvalidInput for
  /// a size that is not above 0, or a clique that the network does not join.
  Result<RoundTime> time(const Round& round, double update_bytes) const;

 private:
  struct Use {
    double updates = 0;
    std::uint64_t latency_ns = 0;  ///< Of the clique that uses the resource.
  };
  /// By resource: egress of each rank, ingress of each rank, each directed link.
  using Uses = std::vector<std::vector<Use>>;

  Status check_joined(const Clique& clique) const;
  static double least_time(const std::vector<Use>& uses, double update_s);
  std::uint64_t clique_latency_ns(const Clique& clique) const;
  void add_access_uses(const Clique& clique, std::uint64_t latency_ns, Uses& uses) const;
  void add_core_uses(const Clique& clique, std::uint64_t latency_ns, Uses& uses) const;
  double capacity_bps(std::size_t resource) const;
  std::string resource_name(std::size_t resource) const;

  const Network& network_;
  const Routes& routes_;
  Capabilities capabilities_;
};

}  // namespace tombolo::schedule
