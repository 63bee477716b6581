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
#include "schedule/bounds.h"

namespace tombolo::schedule::baselines {
namespace {

/// Collects rows.
class Rows {
 public:
  Rows(const Scene& scene, const std::function<void(std::string_view)>& tell) : scene_(scene), tell_(tell) {}

  /// `make` takes the scene. A baseline whose rounds the model cannot time under these capabilities is a row
  /// without a value.
  template <typename Make>
  void add(const std::string& name, const Make& make) {
    if (tell_) tell_("comparing: " + name);
    Result<Baseline> row = make(scene_);
    rows_.push_back(row ? std::move(*row) : undefined_baseline(name, "", row.error().message));
    // Other modes may be what these rounds are timed with; edges run the mode direct.
    if (allows_any_mode(scene_.capabilities()) && name != kFullDirect) rows_.back().direct_cliques = false;
  }

  std::vector<Baseline> take() { return std::move(rows_); }

  static constexpr const char* kFullDirect = "full clique, direct";

 private:
  const Scene& scene_;
  const std::function<void(std::string_view)>& tell_;
  std::vector<Baseline> rows_;
};

}  // namespace

Result<std::vector<Baseline>> all_baselines(const Setting& setting, const std::vector<unsigned>& local_steps,
                                            const std::function<void(std::string_view)>& tell) {
  const auto scene = Scene::make(setting);
  if (!scene) return scene.error();
  Rows rows(*scene, tell);
  rows.add(Rows::kFullDirect, [](const Scene& s) { return full_clique(s, Family::kDirect); });
  rows.add("full clique, sharded", [](const Scene& s) { return full_clique(s, Family::kSharded); });
  rows.add("ring all-reduce", ring_all_reduce);
  rows.add("parameter server", parameter_server);
  rows.add("hierarchical", hierarchical);
  rows.add("geographic grid", geographic_grid);
  rows.add("random matchings", random_matchings);
  rows.add("MATCHA", matcha);
  rows.add("one-peer exponential", one_peer_exponential);
  rows.add("Base-(k+1)", base_graph);
  rows.add("D-Cliques", d_cliques);
  rows.add("bandwidth-aware topology", bandwidth_aware);
  rows.add("D-PSGD on the physical graph", physical_gossip);
  rows.add("D-PSGD on a ring", ring_gossip);
  rows.add("TACCL-like all-reduce", taccl_like);
  rows.add("factored gossip", factored_gossip);
  rows.add("HALoS-like", halos_like);
  rows.add("asynchronous DiLoCo-like", async_diloco_like);
  rows.add("static partition and full", static_partition_and_full);
  for (const unsigned steps : local_steps)
    rows.add(fmt::format("DiLoCo, every {} steps", steps), [&](const Scene& s) { return diloco(s, steps); });
  return rows.take();
}

}  // namespace tombolo::schedule::baselines
