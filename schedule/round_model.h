#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "schedule/message_round.h"
#include "schedule/routes.h"
#include "schedule/schedule.h"
#include "schedule/topology.h"

namespace tombolo::schedule {

enum class Aggregation { kNone, kEdge, kTree };
/// Which modes a clique may use: direct; sharded; or any. Where every site aggregates (kTree) the families
/// direct and best also allow the mode tree.
enum class Family { kDirect, kSharded, kBest };

/// What the network can do for a round. The three lists narrow or widen the first two fields site by site and
/// link by link; empty: all alike. A topology that denies a site or link something (Network) prevails.
struct Capabilities {
  bool multicast = true;
  Aggregation aggregation = Aggregation::kEdge;
  Family family = Family::kDirect;
  std::vector<bool> site_replicates{};  ///< By SiteId: its islands send one packet for many receivers.
  std::vector<bool> site_aggregates{};  ///< By SiteId: it folds for its islands, and partials in a tree.
  std::vector<bool> link_multicast{};   ///< By index in Network::links: one copy serves all behind it.
  double partial_ratio = 1;             ///< Size of a partial over that of an update.
};

/// A resource is an access link or a direction of a core link: the egress of rank r is r, its ingress n + r,
/// and Network::links[l] is 2 n + l, of n islands.
struct ResourceLoad {
  std::uint32_t resource = 0;
  double updates = 0;  ///< How many updates pass it; above 0.
};

/// What one clique asks of the network in one round.
struct CliqueLoad {
  double latency_s = 0;             ///< Before anything arrives, however fast the links.
  std::vector<ResourceLoad> loads;  ///< Ascending by resource.
};

/// What a round takes, and why.
struct RoundTime {
  double seconds = 0;
  std::string bottleneck;                 ///< "egress LON", "ingress TYO" or "core LON-SIN"; empty at rest.
  double bottleneck_updates = 0;          ///< How many updates pass it in the round: its load.
  std::vector<std::uint64_t> latency_ns;  ///< By clique: its latency under its mode.
  std::vector<CliqueMode> modes;          ///< By clique: as the round says, else as chosen.
  /// Whether no other choice of modes is quicker. Not so only where so many cliques have a choice that the
  /// search was cut short.
  bool modes_proven = true;
};

/// The time of a round, in which every island contributes an update of M bytes: the least T, above every
/// clique's latency L_C, at which on every access link and every direction of a core link e the sum over
/// cliques of a(e, C) 8 M / (T - L_C) is at most its capacity. schedule/README.md has the table of L_C and
/// a(e, C) by mode.
class RoundModel {
 public:
  /// Both must outlive the model. The capabilities' lists must be empty or as long as what they index.
  RoundModel(const Network& network, const Routes& routes, Capabilities capabilities);

  /// `update_bytes` above 0, fractions allowed. Modes that the round leaves open are chosen jointly, for the
  /// least time; a round without cliques takes its `rest_s`. Errors: kInvalidInput for a size that is not
  /// above 0, a clique that the network does not join, a mode that the network cannot do, trees that do not
  /// fit the network, or a rest without a duration.
  Result<RoundTime> time(const Round& round, double update_bytes) const;

  /// The modes that family and sites allow a clique, at least one; a tree is named with its central root.
  std::vector<CliqueMode> allowed_modes(const Clique& clique) const;

  /// What a clique of at least two members, which the network must join, asks for in a mode that it can do.
  CliqueLoad load(const Clique& clique, CliqueMode mode) const;

  /// The same in mode direct, its members' packets going by chosen trees, which must fit (see time).
  CliqueLoad load(const Clique& clique, const CliqueTrees& trees) const;

  /// What a pattern of messages asks for: each message the egress of its source, the ingress of its receiver
  /// and its route; copies of the same data share egress and links as a clique's do. The latency is the
  /// longest of all. Errors: kInvalidInput for no message, an unknown or repeated rank in a message, no way
  /// between its ends, or a share that is not above 0.
  Result<CliqueLoad> load(const MessageRound& round) const;
  /// Errors: those of load, and a size that is not above 0.
  Result<double> time(const MessageRound& round, double update_bytes) const;

  /// Errors: kInvalidInput, naming two islands between which there is no way.
  Status check_joined(const Clique& clique) const;
  /// The root of least radius for a clique's tree, the lowest id on a tie; none if no site can be one.
  std::optional<SiteId> central_root(const Clique& clique) const;

  const Network& network() const { return network_; }
  const Routes& routes() const { return routes_; }
  const Capabilities& capabilities() const { return capabilities_; }
  /// Whether no site or link differs from the others in what it can do.
  bool all_alike() const;

  /// By resource.
  std::span<const double> capacities_bps() const { return capacities_bps_; }
  /// By resource: the time that one update takes on it, 8 M / capacity.
  std::vector<double> update_seconds(double update_bytes) const;
  std::string resource_name(std::size_t resource) const;

  /// The least time of a round of these cliques; `update_s` by resource. It is the least double at which no
  /// resource is over its capacity, as far as rounding tells. Allocates nothing once a thread has called it
  /// with as many resources. 0 for no cliques.
  static double least_time(std::span<const CliqueLoad* const> cliques, std::span<const double> update_s);

 private:
  class CoreLoads;
  struct TreeStep;

  bool replicates(SiteId site) const { return site_replicates_[site]; }
  bool aggregates(SiteId site) const { return site_aggregates_[site]; }
  SiteId site(Rank rank) const { return network_.islands[rank].site; }
  std::uint64_t latency_ns(const Clique& clique, CliqueMode mode) const;
  std::uint64_t tree_latency_ns(const Clique& clique, SiteId root) const;
  void find_multicast_routes(const std::vector<bool>& link_multicast);
  void add_copies(SiteId source, const Clique& receivers, double updates, CoreLoads& core) const;
  void add_tree(const Clique& clique, SiteId root, CoreLoads& core) const;
  std::vector<TreeStep> tree_steps(SiteId source, const Clique& clique, const SourceTree& tree) const;
  std::uint64_t latency_ns(const Clique& clique, const CliqueTrees& trees) const;
  Status check_trees(const Round& round) const;
  Status check_tree(const Clique& clique, Rank source, const SourceTree& tree) const;
  Status check_message(const Message& message) const;
  Status check_round(const Round& round, double update_bytes) const;
  void name_bottleneck(std::span<const CliqueLoad* const> cliques, std::span<const double> update_s,
                       RoundTime& time) const;

  const Network& network_;
  const Routes& routes_;
  Capabilities capabilities_;
  std::vector<double> capacities_bps_;
  std::vector<bool> site_replicates_;
  std::vector<bool> site_aggregates_;
  std::vector<bool> link_multicast_;  ///< By index in Network::links.
  /// [source][site]: whether every link of the route carries multicast; empty if all links do.
  std::vector<bool> multicast_route_;
};

}  // namespace tombolo::schedule
