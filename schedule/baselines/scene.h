#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "schedule/message_round.h"
#include "schedule/round_model.h"
#include "schedule/routes.h"
#include "schedule/schedule.h"
#include "schedule/topology.h"

namespace tombolo::schedule::baselines {

using Matrix = Eigen::MatrixXd;

/// What every baseline is asked about. The references must outlive its users.
struct Setting {
  const Network& network;
  const Routes& routes;
  Capabilities capabilities;
  double update_bytes = 0;  ///< M: one island's update.
  double step_s = 1;        ///< Of a local training step: what a rest round is counted in.
  std::uint64_t seed = 1;   ///< Of the searches and samples.
};

/// The network as baselines see it: how long a round of cliques, of messages, or of a mixing matrix takes.
/// Immutable; resources are numbered as in RoundModel: egress of a rank, ingress of a rank, directed links.
class Scene {
 public:
  /// Errors: kInvalidInput unless there are at least two islands, a route between any two, an update above 0
  /// bytes and a step above 0 s.
  static Result<Scene> make(const Setting& setting);

  const Setting& setting() const { return setting_; }
  std::size_t islands() const { return setting_.network.islands.size(); }
  std::size_t resources() const { return update_s_.size(); }
  double update_bytes() const { return setting_.update_bytes; }
  double step_s() const { return setting_.step_s; }
  std::uint64_t seed() const { return setting_.seed; }
  const Capabilities& capabilities() const { return setting_.capabilities; }
  const std::string& id(Rank rank) const { return setting_.network.islands[rank].id; }

  /// One way along the route, in seconds; 0 between islands of one site.
  double latency_s(Rank from, Rank to) const { return latency_s_(from, to); }
  /// The directed links of the route, as resources.
  std::span<const std::uint32_t> path(Rank from, Rank to) const { return paths_[from * islands() + to]; }
  /// How long one update takes to pass a resource, by resource.
  std::span<const double> update_s() const { return update_s_; }

  /// The round time of disjoint cliques, by RoundModel. Errors: those of RoundModel::time.
  Result<double> clique_time_s(const Round& round) const;
  Result<double> clique_time_s(const Round& round, Family family) const;

  /// Messages sent at once: each loads its source's egress, its target's ingress and its path. The longest
  /// latency plus the time of the most loaded resource. Without messages: 0.
  double pattern_time_s(std::span<const Message> messages) const;
  /// Adds the messages' loads, by resource, as RoundModel counts them, and returns the longest latency.
  double add_loads(std::span<const Message> messages, std::vector<double>& loads) const;
  /// The most loaded resource's time.
  double busy_s(std::span<const double> loads) const;

  /// Whether the island's site folds for it: one update arrives however many are sent.
  bool aggregates(Rank rank) const;

  /// A round that makes x <- W x. A W that averages inside disjoint sets is a round of cliques, so that the
  /// network may sum; any other W is a message from j to i for each W_ij above 0. The identity is a rest of
  /// one local step.
  Result<double> matrix_time_s(const Matrix& w) const;

 private:
  explicit Scene(const Setting& setting);

  Setting setting_;
  std::vector<RoundModel> models_;  ///< By Family.
  Matrix latency_s_;
  std::vector<std::vector<std::uint32_t>> paths_;
  std::vector<double> update_s_;
};

/// The messages that x <- W x needs: one from j to i for each W_ij above 0, i other than j.
std::vector<Message> messages_of(const Matrix& w);

/// Whether W averages inside disjoint sets; if so, `round` gets those of two or more.
bool is_clique_round(const Matrix& w, Round& round);

/// The cliques of two or more members as a round; members need not be sorted.
Round round_of(std::vector<std::vector<Rank>> sets);

}  // namespace tombolo::schedule::baselines
