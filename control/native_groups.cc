#include "control/native_groups.h"

#include <fmt/format.h>

#include <algorithm>

namespace tombolo::control {
namespace {

using schedule::SiteId;

/// What the edge of `site` can do, as far as is known.
std::set<SiteId> multicast_sites(SiteId site, const std::map<SiteId, std::vector<SiteId>>& said,
                                 const schedule::EpochPlan* running) {
  if (const auto found = said.find(site); found != said.end())
    return {found->second.begin(), found->second.end()};
  std::set<SiteId> sites;
  if (running == nullptr) return sites;
  // One direction is enough: each end of it does both.
  for (const schedule::PlannedLink& link : running->links)
    if (link.group != 0 && (link.from == site || link.to == site))
      sites.insert(link.from == site ? link.to : link.from);
  return sites;
}

}  // namespace

NativeLinks native_links(const schedule::Network& network, const std::map<SiteId, std::vector<SiteId>>& said,
                         const schedule::EpochPlan* running) {
  std::vector<std::set<SiteId>> able;
  for (SiteId site = 0; site < network.site_names.size(); ++site)
    able.push_back(multicast_sites(site, said, running));
  NativeLinks native;
  for (const schedule::DirectedLink& link : network.links)
    if (able[link.from].contains(link.to) && able[link.to].contains(link.from))
      native.emplace(link.from, link.to);
  return native;
}

Status assign_groups(schedule::EpochPlan& plan, const schedule::Network& network, const GroupRange& range,
                     const NativeLinks& native) {
  if (range.count == 0) return ok_status();
  if (range.count < network.links.size())
    return invalid_input(
        fmt::format("native multicast: {} groups for {} directed links", range.count, network.links.size()));
  for (schedule::PlannedLink& link : plan.links) {
    if (!native.contains({link.from, link.to})) continue;
    const auto place = std::find_if(
        network.links.begin(), network.links.end(),
        [&](const schedule::DirectedLink& other) { return other.from == link.from && other.to == link.to; });
    if (place != network.links.end())
      link.group = range.first + static_cast<std::uint32_t>(place - network.links.begin());
  }
  return ok_status();
}

}  // namespace tombolo::control
