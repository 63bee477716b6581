#include "schedule/baselines/baselines.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "schedule/baselines/async.h"
#include "schedule/baselines/cliques.h"
#include "schedule/baselines/graphs.h"
#include "schedule/baselines/matchings.h"
#include "schedule/baselines/ring.h"
#include "schedule/baselines/servers.h"
#include "schedule/baselines/tree_packing.h"

namespace tombolo::schedule::baselines {
namespace {

/// A baseline whose rounds the model cannot time under these capabilities is a row without a value.
Baseline row_of(const std::string& name, Result<Baseline> result) {
  if (!result) return undefined_baseline(name, "", result.error().message);
  return std::move(*result);
}

}  // namespace

Result<std::vector<Baseline>> all_baselines(const Setting& setting,
                                            const std::vector<unsigned>& local_steps) {
  const auto made = Scene::make(setting);
  if (!made) return made.error();
  const Scene& scene = *made;
  std::vector<Baseline> rows;
  rows.push_back(row_of("full clique, direct", full_clique(scene, Family::kDirect)));
  rows.push_back(row_of("full clique, sharded", full_clique(scene, Family::kSharded)));
  rows.push_back(ring_all_reduce(scene));
  rows.push_back(parameter_server(scene));
  rows.push_back(row_of("hierarchical", hierarchical(scene)));
  rows.push_back(row_of("geographic grid", geographic_grid(scene)));
  rows.push_back(row_of("random matchings", random_matchings(scene)));
  rows.push_back(matcha(scene));
  rows.push_back(row_of("one-peer exponential", one_peer_exponential(scene)));
  rows.push_back(row_of("Base-(k+1)", base_graph(scene)));
  rows.push_back(row_of("D-Cliques", d_cliques(scene)));
  rows.push_back(bandwidth_aware(scene));
  rows.push_back(physical_gossip(scene));
  rows.push_back(row_of("D-PSGD on a ring", ring_gossip(scene)));
  rows.push_back(taccl_like(scene));
  rows.push_back(row_of("factored gossip", factored_gossip(scene)));
  rows.push_back(halos_like(scene));
  rows.push_back(async_diloco_like(scene));
  rows.push_back(row_of("static partition and full", static_partition_and_full(scene)));
  for (const unsigned steps : local_steps)
    rows.push_back(row_of(fmt::format("DiLoCo, every {} steps", steps), diloco(scene, steps)));
  return rows;
}

}  // namespace tombolo::schedule::baselines
