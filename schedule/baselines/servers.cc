#include "schedule/baselines/servers.h"

#include <fmt/format.h>

#include <numeric>
#include <vector>

namespace tombolo::schedule::baselines {
namespace {

/// Sums on the way: exactly what the round model calls a tree of all islands with this root.
double tree_time_s(const Scene& scene, Rank site) {
  const Network& network = scene.setting().network;
  Clique all(scene.islands());
  std::iota(all.begin(), all.end(), Rank{0});
  const RoundModel model(network, scene.setting().routes, scene.capabilities());
  const CliqueLoad load = model.load(all, {Mode::kTree, network.islands[site].site});
  std::vector<double> loads(scene.resources(), 0.0);
  for (const ResourceLoad& use : load.loads) loads[use.resource] = use.updates;
  return load.latency_s + scene.busy_s(loads);
}

}  // namespace

double server_time_s(const Scene& scene, Rank site) {
  const std::size_t n = scene.islands();
  if (scene.capabilities().aggregation == Aggregation::kTree) return tree_time_s(scene, site);
  std::vector<Message> up;
  std::vector<Message> down;
  for (std::size_t i = 0; i < n; ++i) {
    if (i == site) continue;
    up.push_back({static_cast<Rank>(i), site});
    down.push_back({site, static_cast<Rank>(i)});
  }
  std::vector<double> loads(scene.resources(), 0.0);
  const double up_s = scene.add_loads(up, loads);
  if (scene.aggregates(site)) loads[n + site] = 1;
  const double down_s = scene.add_loads(down, loads);
  return up_s + down_s + scene.busy_s(loads);
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
