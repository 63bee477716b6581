#include "schedule/baselines/tree_packing.h"

#include <fmt/format.h>

#include <ClpSimplex.hpp>
#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "base/check.h"

namespace tombolo::schedule::baselines {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kMaxTrees = 400;
/// A tree that would lower the busy time by less than this share is not worth adding.
constexpr double kGap = 1e-6;

/// Both directions of an edge, each with its egress, ingress and path.
template <typename Visit>
void each_use(const Scene& scene, const Edge& edge, Visit visit) {
  for (const auto& [from, to] : {edge, Edge{edge.second, edge.first}}) {
    visit(from);
    visit(static_cast<std::uint32_t>(scene.islands() + to));
    for (const std::uint32_t link : scene.path(from, to)) visit(link);
  }
}

/// The spanning tree of least price, by Prim's algorithm.
std::vector<Edge> cheapest_tree(const Scene& scene, const std::vector<double>& price) {
  const std::size_t n = scene.islands();
  std::vector<double> near(n, kInfinity);
  std::vector<std::size_t> parent(n, 0);
  std::vector<bool> inside(n, false);
  std::vector<Edge> edges;
  for (std::size_t added = 1, last = 0; added < n; ++added) {
    inside[last] = true;
    for (std::size_t other = 0; other < n; ++other) {
      if (inside[other]) continue;
      double cost = 0;
      each_use(scene, {static_cast<Rank>(last), static_cast<Rank>(other)},
               [&](std::uint32_t resource) { cost += price[resource]; });
      if (cost >= near[other]) continue;
      near[other] = cost;
      parent[other] = last;
    }
    std::size_t next = n;
    for (std::size_t other = 0; other < n; ++other)
      if (!inside[other] && (next == n || near[other] < near[next])) next = other;
    edges.emplace_back(static_cast<Rank>(std::min(next, parent[next])),
                       static_cast<Rank>(std::max(next, parent[next])));
    last = next;
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

/// The largest latency from the best root to an island, and back.
double there_and_back_s(const Scene& scene, const std::vector<Edge>& edges) {
  const std::size_t n = scene.islands();
  std::vector<std::vector<Rank>> neighbours(n);
  for (const auto& [a, b] : edges) {
    neighbours[a].push_back(b);
    neighbours[b].push_back(a);
  }
  double best_s = kInfinity;
  for (std::size_t root = 0; root < n; ++root) {
    std::vector<std::pair<double, double>> delay_s(n, {-1, -1});  // Down from the root, up to it.
    std::vector<Rank> open{static_cast<Rank>(root)};
    delay_s[root] = {0, 0};
    double down_s = 0;
    double up_s = 0;
    while (!open.empty()) {
      const Rank at = open.back();
      open.pop_back();
      down_s = std::max(down_s, delay_s[at].first);
      up_s = std::max(up_s, delay_s[at].second);
      for (const Rank next : neighbours[at]) {
        if (delay_s[next].first >= 0) continue;
        delay_s[next] = {delay_s[at].first + scene.latency_s(at, next),
                         delay_s[at].second + scene.latency_s(next, at)};
        open.push_back(next);
      }
    }
    best_s = std::min(best_s, down_s + up_s);
  }
  return best_s;
}

/// The linear programme: shares of trees that sum to 1, the busiest resource as little busy as possible.
class Master {
 public:
  explicit Master(const Scene& scene) : scene_(scene) {
    const int resources = static_cast<int>(scene.resources());
    model_.setLogLevel(0);
    // Row r: load_r x update_s_r - t <= 0. The last row: shares sum to 1. Column 0 is t.
    model_.resize(resources + 1, 0);
    for (int r = 0; r < resources; ++r) model_.setRowBounds(r, -COIN_DBL_MAX, 0);
    model_.setRowBounds(resources, 1, 1);
    std::vector<int> rows(scene.resources());
    std::iota(rows.begin(), rows.end(), 0);
    const std::vector<double> minus(scene.resources(), -1.0);
    model_.addColumn(resources, rows.data(), minus.data(), 0, COIN_DBL_MAX, 1);
  }

  void add(const std::vector<Edge>& edges) {
    std::vector<double> busy_s(scene_.resources(), 0.0);
    for (const Edge& edge : edges)
      each_use(scene_, edge,
               [&](std::uint32_t resource) { busy_s[resource] += scene_.update_s()[resource]; });
    std::vector<int> rows;
    std::vector<double> values;
    for (std::size_t r = 0; r < busy_s.size(); ++r) {
      if (busy_s[r] <= 0) continue;
      rows.push_back(static_cast<int>(r));
      values.push_back(busy_s[r]);
    }
    rows.push_back(static_cast<int>(scene_.resources()));
    values.push_back(1);
    model_.addColumn(static_cast<int>(rows.size()), rows.data(), values.data(), 0, COIN_DBL_MAX, 0);
  }

  /// Whether there is an answer.
  bool solve() {
    model_.primal();
    return model_.status() == 0;
  }
  double busy_s() const { return model_.objectiveValue(); }
  double share(std::size_t tree) const { return model_.primalColumnSolution()[tree + 1]; }
  /// What a unit of load on a resource costs, in seconds of busy time; they say how good a new tree could be.
  std::vector<double> prices() const {
    std::vector<double> price(scene_.resources());
    for (std::size_t r = 0; r < price.size(); ++r)
      price[r] = std::max(0.0, -model_.dualRowSolution()[r]) * scene_.update_s()[r];
    return price;
  }
  /// Allows only trees within a latency.
  void limit(const std::vector<PackedTree>& trees, double latency_s) {
    for (std::size_t tree = 0; tree < trees.size(); ++tree)
      model_.setColumnUpper(static_cast<int>(tree) + 1,
                            trees[tree].latency_s <= latency_s ? COIN_DBL_MAX : 0);
  }

 private:
  const Scene& scene_;
  ClpSimplex model_;
};

/// Where synthesis starts: every star, the tree of least latency.
std::set<std::vector<Edge>> first_trees(const Scene& scene) {
  std::set<std::vector<Edge>> trees;
  for (std::size_t root = 0; root < scene.islands(); ++root) {
    std::vector<Edge> star;
    for (std::size_t other = 0; other < scene.islands(); ++other)
      if (other != root)
        star.emplace_back(static_cast<Rank>(std::min(root, other)), static_cast<Rank>(std::max(root, other)));
    std::sort(star.begin(), star.end());
    trees.insert(std::move(star));
  }
  return trees;
}

}  // namespace

TreePacking pack_trees(const Scene& scene) {
  Master master(scene);
  TreePacking result;
  std::set<std::vector<Edge>> known = first_trees(scene);
  for (const auto& edges : known) {
    master.add(edges);
    result.trees.push_back({edges, 0, there_and_back_s(scene, edges)});
  }
  for (int added = 0; added < kMaxTrees; ++added) {
    CHECK(master.solve());
    const std::vector<double> price = master.prices();
    std::vector<Edge> edges = cheapest_tree(scene, price);
    double cost_s = 0;
    for (const Edge& edge : edges)
      each_use(scene, edge, [&](std::uint32_t resource) { cost_s += price[resource]; });
    // Prices of the busy rows sum to 1, so no packing is busy for less than the cheapest tree costs.
    result.busy_bound_s = std::max(result.busy_bound_s, cost_s);
    if (master.busy_s() - result.busy_bound_s <= kGap * master.busy_s() || !known.insert(edges).second) break;
    master.add(edges);
    result.trees.push_back({edges, 0, there_and_back_s(scene, edges)});
  }

  std::set<double> limits_s;
  for (const PackedTree& tree : result.trees) limits_s.insert(tree.latency_s);
  result.seconds = kInfinity;
  for (const double limit_s : limits_s) {
    if (limit_s + result.busy_bound_s >= result.seconds) break;
    master.limit(result.trees, limit_s);
    if (!master.solve() || master.busy_s() + limit_s >= result.seconds) continue;
    result.seconds = master.busy_s() + limit_s;
    for (std::size_t tree = 0; tree < result.trees.size(); ++tree)
      result.trees[tree].share = master.share(tree);
  }
  std::erase_if(result.trees, [](const PackedTree& tree) { return tree.share < 1e-9; });
  return result;
}

Baseline taccl_like(const Scene& scene) {
  const TreePacking packing = pack_trees(scene);
  return baseline_of_exact_round("TACCL-like all-reduce",
                                 "Shah et al.: TACCL: Guiding Collective Algorithm Synthesis using "
                                 "Communication Sketches, arXiv 2111.04867",
                                 fmt::format("{} trees", packing.trees.size()), packing.seconds,
                                 scene.islands());
}

}  // namespace tombolo::schedule::baselines
