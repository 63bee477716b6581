#include "schedule/source_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/check.h"

namespace tombolo::schedule {
namespace {

using Children = std::map<SiteId, std::vector<SiteId>>;

Children children_of(const SourceTree& tree) {
  Children children;
  for (const SiteLink& link : tree) children[link.from].push_back(link.to);
  for (auto& [site, next] : children) std::sort(next.begin(), next.end());
  return children;
}

/// The sites that the links lead to from `source`, parents before children. Every site must be entered at
/// most once, and the source never.
std::vector<SiteId> reached_from(SiteId source, const Children& children) {
  std::vector<SiteId> order{source};
  for (std::size_t i = 0; i < order.size(); ++i)
    if (const auto next = children.find(order[i]); next != children.end())
      order.insert(order.end(), next->second.begin(), next->second.end());
  return order;
}

}  // namespace

Status check_source_tree(const SourceTree& tree, SiteId source, std::span<const SiteId> sites,
                         std::span<const std::string> names) {
  std::set<SiteId> entered{source};
  for (const SiteLink& link : tree)
    if (!entered.insert(link.to).second)
      return invalid_input(link.to == source ? fmt::format("the link {}-{} leads back to the source",
                                                           names[link.from], names[link.to])
                                             : fmt::format("two links lead to {}", names[link.to]));
  const Children children = children_of(tree);
  const std::vector<SiteId> order = reached_from(source, children);
  const std::set<SiteId> reached(order.begin(), order.end());
  for (const SiteLink& link : tree)
    if (!reached.contains(link.from))
      return invalid_input(fmt::format("the link {}-{} is not joined to the source at {}", names[link.from],
                                       names[link.to], names[source]));
  for (const SiteId site : sites)
    if (!reached.contains(site)) return invalid_input(fmt::format("does not reach {}", names[site]));
  for (const SiteId site : order)
    if (site != source && !children.contains(site) &&
        std::find(sites.begin(), sites.end(), site) == sites.end())
      return invalid_input(fmt::format("the branch to {} serves nobody", names[site]));
  return ok_status();
}

std::vector<TreeHop> source_tree_hops(const SourceTree& tree, SiteId source, std::span<const SiteId> sites) {
  std::map<SiteId, SiteId> parent;
  for (const SiteLink& link : tree) parent.emplace(link.to, link.from);
  SourceTree used;
  std::set<SiteId> entered{source};
  for (SiteId site : sites)
    while (entered.insert(site).second) {
      CHECK(parent.contains(site));
      used.push_back({parent[site], site});
      site = parent[site];
    }
  const Children children = children_of(used);
  std::vector<TreeHop> hops;
  for (const SiteId site : reached_from(source, children)) {
    const auto next = children.find(site);
    hops.push_back({.site = site,
                    .parent = site == source ? site : parent[site],
                    .children = next == children.end() ? std::vector<SiteId>{} : next->second,
                    .deliver = {}});
  }
  return hops;
}

std::optional<std::uint32_t> find_link(const Network& network, SiteLink ends) {
  for (std::size_t i = 0; i < network.links.size(); ++i)
    if (network.links[i].from == ends.from && network.links[i].to == ends.to)
      return static_cast<std::uint32_t>(i);
  return std::nullopt;
}

}  // namespace tombolo::schedule
