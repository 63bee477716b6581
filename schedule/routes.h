#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "schedule/epoch_plan.h"
#include "schedule/topology.h"

namespace tombolo::schedule {

/// Shortest-latency routes between all sites. On a tie a site is reached from the neighbour with the lowest
/// id, so all routes of one source form a tree and the same topology always gives the same routes.
class Routes {
 public:
  /// The network need not be connected: links may be out of service.
  explicit Routes(const Network& network);

  /// Whether there is a route; the other questions are only for sites that are reached.
  bool reaches(SiteId source, SiteId site) const { return at(source, site).latency_ns != kUnreached; }
  std::uint64_t latency_ns(SiteId source, SiteId site) const { return at(source, site).latency_ns; }
  /// The site before `site` on the route from `source`; `site` itself at the source.
  SiteId parent(SiteId source, SiteId site) const { return at(source, site).parent; }
  /// Index in Network::links of the last link of the route from `source`; `site` must not be `source`.
  std::uint32_t link_into(SiteId source, SiteId site) const { return at(source, site).link; }

  /// The union of the routes from `source` to `sites`: root first, parents before children, `deliver` empty.
  std::vector<TreeHop> tree(SiteId source, std::span<const SiteId> sites) const;

 private:
  static constexpr std::uint64_t kUnreached = std::numeric_limits<std::uint64_t>::max();
  struct Step {
    std::uint64_t latency_ns = 0;
    std::uint32_t link = 0;
    SiteId parent = 0;
  };
  const Step& at(SiteId source, SiteId site) const { return steps_[source * sites_ + site]; }
  void find_from(SiteId source, const Network& network, const std::vector<std::vector<std::uint32_t>>& out);

  std::size_t sites_;
  std::vector<Step> steps_;  ///< [source][site].
};

}  // namespace tombolo::schedule
