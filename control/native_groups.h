#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/result.h"
#include "schedule/epoch_plan.h"
#include "schedule/topology.h"

namespace tombolo::control {

/// The IPv4 groups that a controller may give to links, for it alone: [first, first + count). Host byte
/// order; a count of 0: none, all links are unicast.
struct GroupRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// Directed links, from and to, of which both ends can do native multicast.
using NativeLinks = std::set<std::pair<schedule::SiteId, schedule::SiteId>>;

/// `said`: by site, what its edge said last (EdgeHello::multicast_sites). An edge that has said nothing since
/// this controller started is taken at what `running` has its links do (nullptr: nothing runs), so that a
/// restart of the controller changes no epoch.
NativeLinks native_links(const schedule::Network& network,
                         const std::map<schedule::SiteId, std::vector<schedule::SiteId>>& said,
                         const schedule::EpochPlan* running);

/// Gives each link of the plan that is in `native` the group at its place in Network::links, which is the
/// whole network: a link keeps its group over all epochs, whatever is lost and comes back meanwhile.
/// Errors: kInvalidInput when the range is smaller than the network.
Status assign_groups(schedule::EpochPlan& plan, const schedule::Network& network, const GroupRange& range,
                     const NativeLinks& native);

}  // namespace tombolo::control
