#include "schedule/trees/shortest_tree.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

#include "base/check.h"

namespace tombolo::schedule {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

}  // namespace

std::optional<LinkTree> shortest_tree(const Network& network, std::span<const std::uint32_t> links,
                                      SiteId root, std::span<const SiteId> sites,
                                      std::span<const double> price) {
  using Open = std::tuple<double, std::uint64_t, SiteId, std::uint32_t>;
  std::vector<std::uint32_t> last(network.site_names.size(), kNone);
  std::vector<bool> done(network.site_names.size(), false);
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open;
  open.emplace(0, 0, root, kNone);
  while (!open.empty()) {
    const auto [paid, latency_ns, at, link] = open.top();
    open.pop();
    if (done[at]) continue;
    done[at] = true;
    last[at] = link;
    for (const std::uint32_t next : links)
      if (network.links[next].from == at && !done[network.links[next].to])
        open.emplace(paid + (price.empty() ? 0 : price[next]), latency_ns + network.links[next].one_way_ns,
                     network.links[next].to, next);
  }
  LinkTree tree;
  std::vector<bool> used(network.site_names.size(), false);
  for (SiteId site : sites) {
    if (!done[site]) return std::nullopt;
    for (; site != root && !used[site]; site = network.links[last[site]].from) {
      used[site] = true;
      tree.push_back(last[site]);
    }
  }
  std::sort(tree.begin(), tree.end());
  return tree;
}

std::uint64_t height_ns(const Network& network, const LinkTree& tree, SiteId root,
                        std::span<const SiteId> sites) {
  std::uint64_t most_ns = 0;
  for (SiteId site : sites) {
    std::uint64_t latency_ns = 0;
    while (site != root) {
      const auto into = std::find_if(tree.begin(), tree.end(),
                                     [&](std::uint32_t link) { return network.links[link].to == site; });
      CHECK(into != tree.end());
      latency_ns += network.links[*into].one_way_ns;
      site = network.links[*into].from;
    }
    most_ns = std::max(most_ns, latency_ns);
  }
  return most_ns;
}

}  // namespace tombolo::schedule
