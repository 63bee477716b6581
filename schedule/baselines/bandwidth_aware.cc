#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "schedule/baselines/graphs.h"

namespace tombolo::schedule::baselines {
namespace {

/// How many of the edges that the second eigenvector favours are tried in each step.
constexpr std::size_t kTried = 8;
/// The graph stops growing at this many edges per island: D has turned long before.
constexpr std::size_t kMostEdgesPerIsland = 6;

constexpr const char* kSource =
    "Shen, Zhu, Huang, Yan, Zhuo, Xu: Bandwidth-Aware Network Topology Optimization for Decentralized "
    "Learning, "
    "arXiv 2512.07536";

double pair_time_s(const Scene& scene, const Edge& edge) {
  const Message both[] = {{edge.first, edge.second}, {edge.second, edge.first}};
  return scene.pattern_time_s(both);
}

/// Prim's algorithm on pair times.
std::vector<Edge> quickest_tree(const Scene& scene) {
  std::vector<double> near_s(scene.islands(), std::numeric_limits<double>::infinity());
  std::vector<Rank> parent(scene.islands(), 0);
  std::vector<bool> inside(scene.islands(), false);
  std::vector<Edge> edges;
  std::size_t next = 0;
  for (std::size_t added = 1; added < scene.islands(); ++added) {
    inside[next] = true;
    for (std::size_t other = 0; other < scene.islands(); ++other) {
      if (inside[other]) continue;
      const double seconds = pair_time_s(scene, {static_cast<Rank>(next), static_cast<Rank>(other)});
      if (seconds >= near_s[other]) continue;
      near_s[other] = seconds;
      parent[other] = static_cast<Rank>(next);
    }
    std::size_t nearest = scene.islands();
    for (std::size_t other = 0; other < scene.islands(); ++other)
      if (!inside[other] && (nearest == scene.islands() || near_s[other] < near_s[nearest])) nearest = other;
    next = nearest;
    edges.emplace_back(std::min<Rank>(parent[next], static_cast<Rank>(next)),
                       std::max<Rank>(parent[next], static_cast<Rank>(next)));
  }
  return edges;
}

/// A graph with one weight for all edges, W = I - 2/(lambda_2 + lambda_n) L: the best constant weight (Xiao,
/// Boyd: Fast linear iterations for distributed averaging, 2004).
struct Candidate {
  std::vector<Edge> edges;
  Eigen::VectorXd values;  ///< Eigenvalues of L.
  Eigen::VectorXd second;  ///< The eigenvector of lambda_2.
  double seconds = 0;
  double disagreement_s = 0;
};

/// With one symmetric W, S has W's eigenvectors, and 1/(1 - w^2) sums its series on each: D = T ((1/n) sum
/// over eigenvalues w but the mean's of 1/(1 - w^2) + (n-1)/(2n)).
Candidate judge(const Scene& scene, std::vector<Edge> edges) {
  const double n = static_cast<double>(scene.islands());
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(laplacian(edges, scene.islands()));
  Candidate result;
  result.values = solver.eigenvalues();
  result.second = solver.eigenvectors().col(1);
  std::vector<Message> messages;
  for (const auto& [a, b] : edges) {
    messages.push_back({a, b});
    messages.push_back({b, a});
  }
  result.edges = std::move(edges);
  result.seconds = scene.pattern_time_s(messages);
  const double weight = 2 / (result.values(1) + result.values(result.values.size() - 1));
  double sum = (n - 1) / 2;
  for (Eigen::Index e = 1; e < result.values.size(); ++e) {
    const double w = 1 - weight * result.values(e);
    sum += 1 / (1 - w * w);
  }
  result.disagreement_s = result.seconds * sum / n;
  return result;
}

/// The edges that are not there yet, those with the largest (v_i - v_j)^2 first: lambda_2's gradient.
std::vector<Edge> favoured_edges(const Scene& scene, const Candidate& candidate) {
  std::vector<std::pair<double, Edge>> missing;
  for (std::size_t a = 0; a < scene.islands(); ++a)
    for (std::size_t b = a + 1; b < scene.islands(); ++b) {
      const Edge edge{static_cast<Rank>(a), static_cast<Rank>(b)};
      if (std::find(candidate.edges.begin(), candidate.edges.end(), edge) != candidate.edges.end()) continue;
      const double difference = candidate.second(edge.first) - candidate.second(edge.second);
      missing.emplace_back(-difference * difference, edge);
    }
  const std::size_t count = std::min(missing.size(), kTried);
  std::partial_sort(missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(count), missing.end());
  std::vector<Edge> favoured;
  for (std::size_t i = 0; i < count; ++i) favoured.push_back(missing[i].second);
  return favoured;
}

}  // namespace

Baseline bandwidth_aware(const Scene& scene) {
  Candidate now = judge(scene, quickest_tree(scene));
  Candidate best = now;
  while (now.edges.size() < kMostEdgesPerIsland * scene.islands()) {
    Candidate next;
    next.disagreement_s = std::numeric_limits<double>::infinity();
    for (const Edge& edge : favoured_edges(scene, now)) {
      std::vector<Edge> edges = now.edges;
      edges.push_back(edge);
      Candidate grown = judge(scene, std::move(edges));
      if (grown.disagreement_s < next.disagreement_s) next = std::move(grown);
    }
    if (next.edges.empty()) break;
    now = std::move(next);
    if (now.disagreement_s < best.disagreement_s) best = now;
  }
  const double weight = 2 / (best.values(1) + best.values(best.values.size() - 1));
  const Matrix l = laplacian(best.edges, scene.islands());
  return baseline_of_cycle(
      "bandwidth-aware topology", kSource, fmt::format("{} edges, weight {:.3f}", best.edges.size(), weight),
      std::vector{TimedMatrix{Matrix::Identity(l.rows(), l.cols()) - weight * l, best.seconds}});
}

}  // namespace tombolo::schedule::baselines
