#include "schedule/baselines/ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace tombolo::schedule::baselines {
namespace {

constexpr std::size_t kSearchEvaluations = 20000;

std::string named_order(const Scene& scene, const Order& order) {
  if (order.size() > 12) return fmt::format("local search over orders, seed {}", scene.seed());
  std::string text = order.size() > 9 ? "local search: " : "best of all orders: ";
  for (const Rank rank : order) text += scene.id(rank) + "-";
  return text + scene.id(order.front());
}

/// Neighbours on the ring; two islands have one edge.
std::vector<Edge> ring_edges(const Order& order) {
  const std::size_t n = order.size();
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < (n == 2 ? 1 : n); ++i) edges.emplace_back(order[i], order[(i + 1) % n]);
  return edges;
}

double edges_time_s(const Scene& scene, const std::vector<Edge>& edges) {
  std::vector<Message> messages;
  for (const auto& [a, b] : edges) {
    messages.push_back({a, b});
    messages.push_back({b, a});
  }
  return scene.pattern_time_s(messages);
}

}  // namespace

double ring_time_s(const Scene& scene, const Order& order) {
  const std::size_t n = order.size();
  const double share = 2 * static_cast<double>(n - 1) / static_cast<double>(n);
  // Each island sends on one hop and receives on one; a link may carry several.
  std::vector<double> loads(scene.resources(), 0.0);
  double lap_s = 0;
  double least_pair_s = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < n; ++i) {
    const Rank from = order[i];
    const Rank to = order[(i + 1) % n];
    loads[from] += share;
    loads[n + to] += share;
    for (const std::uint32_t link : scene.path(from, to)) loads[link] += share;
    lap_s += scene.latency_s(from, to);
    least_pair_s =
        std::min(least_pair_s, scene.latency_s(from, to) + scene.latency_s(to, order[(i + 2) % n]));
  }
  double busy_s = 0;
  for (std::size_t resource = 0; resource < loads.size(); ++resource)
    busy_s = std::max(busy_s, loads[resource] * scene.update_s()[resource]);
  // 2 (n-1) consecutive hops are two laps without two consecutive hops: most when those two are the shortest.
  return busy_s + 2 * lap_s - least_pair_s;
}

Baseline ring_all_reduce(const Scene& scene) {
  const Order order = best_cyclic_order(
      short_tour(scene), [&](const Order& candidate) { return ring_time_s(scene, candidate); }, scene.seed(),
      kSearchEvaluations);
  return baseline_of_exact_round(
      "ring all-reduce",
      "Patarasuk, Yuan: Bandwidth optimal all-reduce algorithms for clusters of workstations, JPDC 2009",
      named_order(scene, order), ring_time_s(scene, order), scene.islands());
}

Result<Baseline> ring_gossip(const Scene& scene) {
  const std::string source =
      "Lian, Zhang, Zhang, Hsieh, Zhang, Liu: Can Decentralized Algorithms Outperform Centralized "
      "Algorithms?, "
      "arXiv 1705.09056";
  const Order order = best_cyclic_order(
      short_tour(scene), [&](const Order& candidate) { return edges_time_s(scene, ring_edges(candidate)); },
      scene.seed(), kSearchEvaluations / 10);
  const Matrix w = metropolis(ring_edges(order), scene.islands());
  const auto seconds = scene.matrix_time_s(w);
  if (!seconds) return seconds.error();
  return baseline_of_cycle("D-PSGD on a ring", source, named_order(scene, order),
                           std::vector{TimedMatrix{w, *seconds}});
}

}  // namespace tombolo::schedule::baselines
