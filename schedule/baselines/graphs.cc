#include "schedule/baselines/graphs.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "schedule/baselines/edge_coloring.h"
#include "schedule/baselines/placement.h"

namespace tombolo::schedule::baselines {
namespace {

constexpr std::size_t kPlacementEvaluations = 400;
constexpr std::size_t kMostPeers = 8;
constexpr std::size_t kMostCliqueSize = 16;

constexpr const char* kExponentialSource =
    "Ying, Yuan, Chen, Hu, Pan, Yin: Exponential Graph is Provably Efficient for Decentralized Deep "
    "Training, "
    "arXiv 2110.13363";
constexpr const char* kBaseSource =
    "Takezawa, Sato, Bao, Niwa, Yamada: Beyond Exponential Graph, arXiv 2305.11420";
constexpr const char* kDCliquesSource =
    "Bellet, Kermarrec, Lavoie: D-Cliques: Compensating for Data Heterogeneity with Topology, arXiv "
    "2104.07365";
constexpr const char* kPhysicalSource =
    "Lian, Zhang, Zhang, Hsieh, Zhang, Liu: Can Decentralized Algorithms Outperform Centralized Algorithms?, "
    "arXiv 1705.09056";

/// A round of a pattern whose positions are still to be given to islands.
class PlacedRound {
 public:
  explicit PlacedRound(Matrix w) : w_(std::move(w)), messages_(messages_of(w_)) {
    is_cliques_ = is_clique_round(w_, cliques_);
  }

  Result<double> seconds(const Scene& scene, const Order& order) const {
    if (is_cliques_) {
      if (cliques_.cliques.empty()) return scene.step_s();
      std::vector<std::vector<Rank>> sets = cliques_.cliques;
      for (auto& set : sets)
        for (Rank& rank : set) rank = order[rank];
      return scene.clique_time_s(round_of(std::move(sets)));
    }
    std::vector<Message> messages = messages_;
    for (Message& message : messages) {
      message.from = order[message.from];
      message.to = order[message.to];
    }
    return scene.pattern_time_s(messages);
  }

  Matrix matrix(const Order& order) const {
    Matrix placed(w_.rows(), w_.cols());
    for (Eigen::Index i = 0; i < w_.rows(); ++i)
      for (Eigen::Index j = 0; j < w_.cols(); ++j)
        placed(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(j)]) = w_(i, j);
    return placed;
  }

 private:
  Matrix w_;
  std::vector<Message> messages_;
  Round cliques_;
  bool is_cliques_ = false;
};

/// The pattern's rounds on the islands of the least cycle time that a search finds. `cyclic`: turning the
/// places changes nothing.
Result<std::vector<TimedMatrix>> place(const Scene& scene, const std::vector<Matrix>& pattern, bool cyclic) {
  std::vector<PlacedRound> rounds(pattern.begin(), pattern.end());
  const Order start = short_tour(scene);
  for (const PlacedRound& round : rounds)
    if (const auto seconds = round.seconds(scene, start); !seconds) return seconds.error();
  const auto cost = [&](const Order& order) {
    double sum_s = 0;
    for (const PlacedRound& round : rounds) sum_s += *round.seconds(scene, order);
    return sum_s;
  };
  const Order order = cyclic ? best_cyclic_order(start, cost, scene.seed(), kPlacementEvaluations)
                             : local_order(start, cost, scene.seed(), kPlacementEvaluations);
  std::vector<TimedMatrix> cycle;
  for (const PlacedRound& round : rounds)
    cycle.push_back({round.matrix(order), *round.seconds(scene, order)});
  return cycle;
}

/// The better of two rows; the earlier on ties.
void keep_better(std::optional<Baseline>& best, Baseline row) {
  if (!best || row.disagreement_s < best->disagreement_s) best = std::move(row);
}

Baseline static_graph(const Scene& scene, std::string name, std::string source, std::string choices,
                      const Matrix& w) {
  const std::vector<Message> messages = messages_of(w);
  return baseline_of_cycle(std::move(name), std::move(source), std::move(choices),
                           std::vector{TimedMatrix{w, scene.pattern_time_s(messages)}});
}

}  // namespace

std::vector<Matrix> one_peer_exponential_rounds(std::size_t islands) {
  const auto n = static_cast<Eigen::Index>(islands);
  std::vector<Matrix> rounds;
  for (Eigen::Index hop = 1; hop < n; hop *= 2) {
    Matrix w = Matrix::Identity(n, n) / 2;
    for (Eigen::Index i = 0; i < n; ++i) w(i, (i + hop) % n) += 0.5;
    rounds.push_back(std::move(w));
  }
  return rounds;
}

Result<Baseline> one_peer_exponential(const Scene& scene) {
  const auto cycle = place(scene, one_peer_exponential_rounds(scene.islands()), true);
  if (!cycle) return cycle.error();
  return baseline_of_cycle("one-peer exponential", kExponentialSource, "", *cycle);
}

Result<Baseline> base_graph(const Scene& scene) {
  std::optional<Baseline> best;
  for (std::size_t peers = 1; peers <= std::min(scene.islands() - 1, kMostPeers); ++peers)
    for (const bool fill : {false, true}) {
      const std::vector<Matrix> pattern = base_graph_rounds(scene.islands(), peers, fill);
      if (fill && pattern == base_graph_rounds(scene.islands(), peers, false)) continue;
      const auto cycle = place(scene, pattern, false);
      if (!cycle) return cycle.error();
      keep_better(best, baseline_of_cycle("Base-(k+1)", kBaseSource, fmt::format("k = {}", peers), *cycle));
    }
  return *best;
}

std::vector<Edge> d_cliques_edges(const std::vector<Rank>& order, std::size_t size, bool ring) {
  std::vector<std::vector<Rank>> cliques;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % size == 0) cliques.emplace_back();
    cliques.back().push_back(order[i]);
  }
  std::set<Edge> edges;
  for (const auto& clique : cliques)
    for (const Rank a : clique)
      for (const Rank b : clique)
        if (a < b) edges.emplace(a, b);
  std::vector<std::size_t> used(order.size(), 0);
  const auto least_used = [&](const std::vector<Rank>& clique) {
    return *std::min_element(clique.begin(), clique.end(),
                             [&](Rank a, Rank b) { return std::pair(used[a], a) < std::pair(used[b], b); });
  };
  const std::size_t count = cliques.size();
  for (std::size_t x = 0; x < count; ++x)
    for (std::size_t y = x + 1; y < count; ++y) {
      if (ring && y != x + 1 && !(x == 0 && y + 1 == count)) continue;
      const Rank a = least_used(cliques[x]);
      const Rank b = least_used(cliques[y]);
      ++used[a];
      ++used[b];
      edges.emplace(std::min(a, b), std::max(a, b));
    }
  return {edges.begin(), edges.end()};
}

Result<Baseline> d_cliques(const Scene& scene) {
  if (scene.islands() < 4)
    return undefined_baseline(
        "D-Cliques", kDCliquesSource,
        fmt::format("not defined for n = {}: two cliques of two need four islands", scene.islands()));
  const Order order = short_tour(scene);
  std::optional<Baseline> best;
  for (std::size_t size = 2; size <= std::min(scene.islands() / 2, kMostCliqueSize); ++size)
    for (const bool ring : {false, true})
      keep_better(best, static_graph(scene, "D-Cliques", kDCliquesSource,
                                     fmt::format("cliques of {}, {}", size,
                                                 ring ? "a ring of cliques" : "all pairs of cliques joined"),
                                     metropolis(d_cliques_edges(order, size, ring), scene.islands())));
  return *best;
}

Baseline physical_gossip(const Scene& scene) {
  const std::vector<Edge> edges = physical_edges(scene);
  return static_graph(scene, "D-PSGD on the physical graph", kPhysicalSource,
                      fmt::format("{} edges, Metropolis weights", edges.size()),
                      metropolis(edges, scene.islands()));
}

}  // namespace tombolo::schedule::baselines
