#include "schedule/routes.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "base/check.h"

namespace tombolo::schedule {

Routes::Routes(const Network& network) : sites_(network.site_names.size()), steps_(sites_ * sites_) {
  std::vector<std::vector<std::uint32_t>> out(sites_);
  for (std::size_t i = 0; i < network.links.size(); ++i)
    out[network.links[i].from].push_back(static_cast<std::uint32_t>(i));
  for (std::size_t source = 0; source < sites_; ++source)
    find_from(static_cast<SiteId>(source), network, out);
}

/// Dijkstra's algorithm. Latencies are at least 1 ns, so when a site is taken from the queue every neighbour
/// that could tie for its parent has already been taken and offered itself.
void Routes::find_from(SiteId source, const Network& network,
                       const std::vector<std::vector<std::uint32_t>>& out) {
  Step* const steps = &steps_[source * sites_];
  for (std::size_t i = 0; i < sites_; ++i) steps[i].latency_ns = kUnreached;
  steps[source] = {0, 0, source};
  using Open = std::pair<std::uint64_t, SiteId>;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
  open.emplace(0, source);
  while (!open.empty()) {
    const auto [latency_ns, site] = open.top();
    open.pop();
    if (latency_ns != steps[site].latency_ns) continue;
    for (const std::uint32_t index : out[site]) {
      const DirectedLink& link = network.links[index];
      Step& next = steps[link.to];
      const std::uint64_t through_ns = latency_ns + link.one_way_ns;
      if (through_ns < next.latency_ns) open.emplace(through_ns, link.to);
      if (through_ns < next.latency_ns || (through_ns == next.latency_ns && site < next.parent))
        next = {through_ns, index, site};
    }
  }
}

std::vector<TreeHop> Routes::tree(SiteId source, std::span<const SiteId> sites) const {
  std::vector<bool> used(sites_, false);
  std::vector<SiteId> order{source};
  used[source] = true;
  for (SiteId site : sites) {
    CHECK(reaches(source, site));
    for (; !used[site]; site = parent(source, site)) {
      used[site] = true;
      order.push_back(site);
    }
  }
  // A parent is nearer to the source than its children, so this order puts it first.
  std::sort(order.begin(), order.end(), [&](SiteId a, SiteId b) {
    return std::pair(latency_ns(source, a), a) < std::pair(latency_ns(source, b), b);
  });
  std::vector<TreeHop> hops;
  std::vector<std::size_t> hop_of(sites_, 0);
  for (const SiteId site : order) {
    hop_of[site] = hops.size();
    hops.push_back({.site = site, .parent = parent(source, site), .children = {}, .deliver = {}});
  }
  for (const TreeHop& hop : hops)
    if (hop.site != source) hops[hop_of[hop.parent]].children.push_back(hop.site);
  for (TreeHop& hop : hops) std::sort(hop.children.begin(), hop.children.end());
  return hops;
}

}  // namespace tombolo::schedule
