#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "schedule/core_loads.h"
#include "schedule/round_model.h"

namespace tombolo::schedule {
namespace {

constexpr double kSecondsPerNs = 1e-9;

}  // namespace

/// How a site is reached in a chosen tree, as Routes::Step says it for a route.
struct RoundModel::TreeStep {
  SiteId parent = 0;
  std::uint32_t link = 0;
  std::uint64_t latency_ns = 0;
  bool shared = true;  ///< Whether one copy serves all behind this link.
};

/// By site, for those that the tree reaches.
std::vector<RoundModel::TreeStep> RoundModel::tree_steps(SiteId source, const Clique& clique,
                                                         const SourceTree& tree) const {
  std::vector<SiteId> sites;
  for (const Rank rank : clique) sites.push_back(site(rank));
  std::vector<TreeStep> steps(network_.site_names.size());
  steps[source].parent = source;
  steps[source].shared = replicates(source);
  for (const TreeHop& hop : source_tree_hops(tree, source, sites)) {
    if (hop.site == source) continue;
    const auto link = find_link(network_, {hop.parent, hop.site});
    CHECK(link.has_value());
    const TreeStep& before = steps[hop.parent];
    steps[hop.site] = {hop.parent, *link, before.latency_ns + network_.links[*link].one_way_ns,
                       before.shared && link_multicast_[*link]};
  }
  return steps;
}

std::uint64_t RoundModel::latency_ns(const Clique& clique, const CliqueTrees& trees) const {
  std::uint64_t most_ns = 0;
  for (std::size_t i = 0; i < clique.size(); ++i) {
    const SiteId source = site(clique[i]);
    std::vector<TreeStep> steps;
    if (!trees[i].empty()) steps = tree_steps(source, clique, trees[i]);
    for (const Rank receiver : clique)
      most_ns = std::max(most_ns, steps.empty() ? routes_.latency_ns(source, site(receiver))
                                                : steps[site(receiver)].latency_ns);
  }
  return most_ns;
}

CliqueLoad RoundModel::load(const Clique& clique, const CliqueTrees& trees) const {
  CHECK(trees.size() == clique.size());
  // Trees change nothing on access links.
  const std::size_t access = 2 * network_.islands.size();
  CliqueLoad load = this->load(clique, {Mode::kDirect});
  std::erase_if(load.loads, [&](const ResourceLoad& asked) { return asked.resource >= access; });
  load.latency_s = static_cast<double>(latency_ns(clique, trees)) * kSecondsPerNs;
  CoreLoads core(network_.links.size(), network_.site_names.size());
  for (std::size_t i = 0; i < clique.size(); ++i) {
    const SiteId source = site(clique[i]);
    if (trees[i].empty()) {
      add_copies(source, clique, 1, core);
      continue;
    }
    const std::vector<TreeStep> steps = tree_steps(source, clique, trees[i]);
    core.start_tree();
    for (const Rank receiver : clique)
      for (SiteId at = site(receiver); at != source; at = steps[at].parent) {
        if (steps[at].shared && !core.enter(at)) break;
        core.add(steps[at].link, 1);
      }
  }
  core.append_to(load.loads, access);
  return load;
}

/// What time() refuses of chosen trees.
Status RoundModel::check_trees(const Round& round) const {
  CHECK(round.trees.empty() || round.trees.size() == round.cliques.size());
  for (std::size_t c = 0; c < round.trees.size(); ++c) {
    const Clique& clique = round.cliques[c];
    const CliqueTrees& trees = round.trees[c];
    if (trees.empty()) continue;
    const std::string name = "the clique of island " + network_.islands[clique.front()].id;
    if (!network_.explicit_trees)
      return invalid_input(name + ": has trees of its own; the network does not let us choose them");
    CHECK(trees.size() == clique.size());
    if (!round.modes.empty() && round.modes[c] && round.modes[c]->mode != Mode::kDirect)
      return invalid_input(name + ": only the mode direct has trees of members");
    for (std::size_t i = 0; i < clique.size(); ++i)
      if (auto sound = check_tree(clique, clique[i], trees[i]); !sound) return sound;
  }
  return ok_status();
}

Status RoundModel::check_tree(const Clique& clique, Rank source, const SourceTree& tree) const {
  if (tree.empty()) return ok_status();
  const std::string name = "the tree of island " + network_.islands[source].id;
  std::vector<SiteId> sites;
  for (const Rank rank : clique)
    if (site(rank) != site(source)) sites.push_back(site(rank));
  for (const SiteLink& link : tree) {
    CHECK(link.from < network_.site_names.size() && link.to < network_.site_names.size());
    if (!find_link(network_, link))
      return invalid_input(fmt::format("{}: there is no link {}-{}", name, network_.site_names[link.from],
                                       network_.site_names[link.to]));
  }
  auto sound = check_source_tree(tree, site(source), sites, network_.site_names);
  if (!sound) return std::move(sound).error().within(name);
  return ok_status();
}

}  // namespace tombolo::schedule
