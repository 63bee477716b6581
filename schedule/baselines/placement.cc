#include "schedule/baselines/placement.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/random.h"

namespace tombolo::schedule::baselines {
namespace {

/// 8! = 40,320 orders take well under a second; 9! would take several.
constexpr std::size_t kExactIslands = 9;
constexpr int kTourPasses = 50;

double diameter_s(const Scene& scene, const std::vector<Rank>& a, const std::vector<Rank>& b) {
  double latency_s = 0;
  for (const Rank i : a)
    for (const Rank j : b)
      latency_s = std::max(latency_s, std::max(scene.latency_s(i, j), scene.latency_s(j, i)));
  return latency_s;
}

}  // namespace

Order best_cyclic_order(const Order& start, const OrderCost& cost, std::uint64_t seed,
                        std::size_t evaluations) {
  if (start.size() > kExactIslands) return local_order(start, cost, seed, evaluations);
  Order order = start;
  std::sort(order.begin(), order.end());
  Order best = order;
  double best_s = std::numeric_limits<double>::infinity();
  do {
    const double seconds = cost(order);
    if (seconds < best_s) {
      best_s = seconds;
      best = order;
    }
  } while (std::next_permutation(order.begin() + 1, order.end()));
  return best;
}

Order local_order(const Order& start, const OrderCost& cost, std::uint64_t seed, std::size_t evaluations) {
  Random random(seed);
  Order best = start;
  double best_s = cost(best);
  for (std::size_t i = 1; i < evaluations && best.size() > 2; ++i) {
    Order next = best;
    std::size_t a = random.below(next.size());
    std::size_t b = random.below(next.size() - 1);
    if (b >= a) ++b;
    if (a > b) std::swap(a, b);
    if (random.chance(0.5))
      std::swap(next[a], next[b]);
    else
      std::reverse(next.begin() + static_cast<std::ptrdiff_t>(a),
                   next.begin() + static_cast<std::ptrdiff_t>(b) + 1);
    const double seconds = cost(next);
    // A step that costs the same is taken too: it leaves a plateau.
    if (seconds > best_s) continue;
    best_s = seconds;
    best = std::move(next);
  }
  return best;
}

Order short_tour(const Scene& scene) {
  const std::size_t n = scene.islands();
  Order tour(n);
  std::iota(tour.begin(), tour.end(), Rank{0});
  for (std::size_t next = 1; next < n; ++next) {
    const auto nearest =
        std::min_element(tour.begin() + static_cast<std::ptrdiff_t>(next), tour.end(), [&](Rank a, Rank b) {
          return std::pair(scene.latency_s(tour[next - 1], a), a) <
                 std::pair(scene.latency_s(tour[next - 1], b), b);
        });
    std::swap(tour[next], *nearest);
  }
  for (int pass = 0; pass < kTourPasses; ++pass) {
    bool improved = false;
    for (std::size_t a = 1; a + 1 < n; ++a)
      for (std::size_t b = a + 1; b < n; ++b) {
        const Rank after = tour[(b + 1) % n];
        const double now_s = scene.latency_s(tour[a - 1], tour[a]) + scene.latency_s(tour[b], after);
        const double then_s = scene.latency_s(tour[a - 1], tour[b]) + scene.latency_s(tour[a], after);
        if (then_s >= now_s - 1e-12) continue;
        std::reverse(tour.begin() + static_cast<std::ptrdiff_t>(a),
                     tour.begin() + static_cast<std::ptrdiff_t>(b) + 1);
        improved = true;
      }
    if (!improved) break;
  }
  return tour;
}

std::vector<std::vector<std::vector<Rank>>> regional_partitions(const Scene& scene) {
  const std::size_t n = scene.islands();
  std::vector<std::vector<Rank>> regions(n);
  for (std::size_t i = 0; i < n; ++i) regions[i] = {static_cast<Rank>(i)};
  // Complete linkage: the diameter between two regions, kept up to date as they merge.
  Matrix linkage(static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n));
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b)
      linkage(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b)) =
          diameter_s(scene, regions[a], regions[b]);
  std::vector<std::size_t> alive(n);
  std::iota(alive.begin(), alive.end(), std::size_t{0});

  std::vector<std::vector<std::vector<Rank>>> partitions(n);
  for (std::size_t count = n; count >= 1; --count) {
    for (const std::size_t index : alive) partitions[count - 1].push_back(regions[index]);
    if (count == 1) break;
    std::pair<std::size_t, std::size_t> nearest{0, 1};
    for (std::size_t a = 0; a < alive.size(); ++a)
      for (std::size_t b = a + 1; b < alive.size(); ++b)
        if (linkage(alive[a], alive[b]) < linkage(alive[nearest.first], alive[nearest.second]))
          nearest = {a, b};
    const std::size_t into = alive[nearest.first];
    const std::size_t gone = alive[nearest.second];
    regions[into].insert(regions[into].end(), regions[gone].begin(), regions[gone].end());
    std::sort(regions[into].begin(), regions[into].end());
    alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(nearest.second));
    for (const std::size_t other : alive)
      linkage(into, other) = linkage(other, into) = std::max(linkage(into, other), linkage(gone, other));
  }
  return partitions;
}

Rank center_of(const Scene& scene, const std::vector<Rank>& region) {
  Rank center = region.front();
  double radius_s = std::numeric_limits<double>::infinity();
  for (const Rank candidate : region) {
    const double candidate_s = diameter_s(scene, {candidate}, region);
    if (candidate_s >= radius_s) continue;
    radius_s = candidate_s;
    center = candidate;
  }
  return center;
}

}  // namespace tombolo::schedule::baselines
