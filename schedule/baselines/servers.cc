#include "schedule/baselines/servers.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tombolo::schedule::baselines {

double server_time_s(const Scene& scene, Rank site) {
  const std::size_t n = scene.islands();
  const bool sums_at_server = scene.capabilities().aggregation != Aggregation::kNone;
  const bool sums_on_the_way = scene.capabilities().aggregation == Aggregation::kTree;
  const bool multicast = scene.capabilities().multicast;
  const double others = static_cast<double>(n - 1);
  std::vector<double> up(scene.resources(), 0.0);
  std::vector<double> down(scene.resources(), 0.0);
  double up_latency_s = 0;
  double down_latency_s = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (i == site) continue;
    const auto island = static_cast<Rank>(i);
    up[island] += 1;
    down[n + island] += 1;
    for (const std::uint32_t link : scene.path(island, site)) up[link] = sums_on_the_way ? 1 : up[link] + 1;
    for (const std::uint32_t link : scene.path(site, island)) down[link] = multicast ? 1 : down[link] + 1;
    up_latency_s = std::max(up_latency_s, scene.latency_s(island, site));
    down_latency_s = std::max(down_latency_s, scene.latency_s(site, island));
  }
  up[n + site] = sums_at_server ? 1 : others;
  down[site] = multicast ? 1 : others;
  double busy_s = 0;
  for (std::size_t resource = 0; resource < up.size(); ++resource)
    busy_s = std::max(busy_s, (up[resource] + down[resource]) * scene.update_s()[resource]);
  return up_latency_s + down_latency_s + busy_s;
}

Baseline parameter_server(const Scene& scene) {
  Rank best = 0;
  for (std::size_t site = 1; site < scene.islands(); ++site)
    if (server_time_s(scene, static_cast<Rank>(site)) < server_time_s(scene, best))
      best = static_cast<Rank>(site);
  return baseline_of_exact_round(
      "parameter server",
      "Li et al.: Scaling Distributed Machine Learning with the Parameter Server, OSDI 2014",
      fmt::format("server at {}", scene.id(best)), server_time_s(scene, best), scene.islands());
}

}  // namespace tombolo::schedule::baselines
