#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "schedule/baselines/score.h"

namespace tombolo::schedule::baselines {

/// A linear system with drift: the first `islands` entries of the state drift by independent processes of
/// unit variance per second, the others (servers, models in flight) only change when assigned. Keeps the
/// covariance itself, so a time average over it is exact: no chance is played.
class DriftingState {
 public:
  using Terms = std::vector<std::pair<std::size_t, double>>;

  DriftingState(std::size_t islands, std::size_t entries);

  /// entry <- sum of coefficient x entry, all as they were before.
  void assign(std::size_t entry, const Terms& terms);
  void advance(double seconds);
  /// (1/n) tr Cov of the islands' distance to their mean, now.
  double disagreement_s() const;
  std::size_t islands() const { return static_cast<std::size_t>(islands_); }

 private:
  Eigen::Index islands_;
  Matrix covariance_;
};

/// A loop of exchanges between a client and a server: the client's model is sent at the loop's start, reaches
/// the server after half of it and comes back at its end, when the next begins.
struct Loop {
  std::size_t client = 0;  ///< Index of the client: an island's rank, or n + index of a server.
  std::size_t server = 0;  ///< Index of the server among servers.
  double seconds = 0;      ///< 0: the client is at the server and exchanges whenever that changes.
  double weight = 0;       ///< The share of the client's progress that the server takes.
  double merge = 1;        ///< How far the client moves to what comes back.
};

/// D of asynchronous training through servers: the time average of the exact covariance, from phases spread
/// by the golden ratio, after a start of 40 of the longest loops, over stretches of 40 until two agree within
/// 0.1 %. An exchange: sent <- x; at the server z <- z + weight (sent - base), back <- z; at its end x <- x +
/// merge (back - sent), base <- sent + merge (back - sent). With weights 1/n each island's drift enters z
/// once, as 1/n.
double async_disagreement_s(std::size_t islands, std::size_t servers, const std::vector<Loop>& loops);

/// Rates, in updates per second, of flows that are always on and share the network max-min fairly. A flow
/// carries as much from `client` to `server` (two ranks) as back.
std::vector<double> fair_rates(const Scene& scene, const std::vector<Edge>& flows);

/// Every island exchanges with one server, at the best site, at its own pace. Liu, Chhaparia, Douillard,
/// Kale, Rusu, Shen, Szlam, Ranzato: Asynchronous Local-SGD Training for Language Modeling, arXiv 2401.09135.
/// Ours: no steps between exchanges (the least D), weights 1/n, no outer momentum; an exchange is streamed,
/// so that its way up and its way down overlap, and the server applies it at its middle.
Baseline async_diloco_like(const Scene& scene);

/// Islands exchange with the server of their region, these with a global one, all at their own pace. Kim, Li,
/// Gandham, Baldonado, Gangidi, Balaji, Wang, Akella: HALoS: Hierarchical Asynchronous Local SGD over Slow
/// Networks, arXiv 2506.04531. Ours: as above; regions by complete linkage, of all their numbers the best;
/// merging weights 1/4, 1/2, 3/4, 1, the best; a regional server sends as soon as its last exchange is done;
/// no momentum.
Baseline halos_like(const Scene& scene);

}  // namespace tombolo::schedule::baselines
