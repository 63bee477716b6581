#include "tools/testbed/sizing.h"

#include <algorithm>

namespace tombolo::testbed {
namespace {

constexpr double kQueueS = 0.05;
constexpr double kLeastQueueBytes = 512 * 1024;

}  // namespace

std::vector<control::EdgePlace> edge_places(const schedule::Network& network) {
  std::vector<control::EdgePlace> places(network.site_names.size());
  for (schedule::SiteId site = 0; site < places.size(); ++site) places[site].site = site;
  for (std::size_t i = 0; i < network.links.size(); i += 2) {
    const schedule::DirectedLink& link = network.links[i];
    places[link.from].links.push_back({false, link.to});
    places[link.to].links.push_back({false, link.from});
  }
  for (schedule::Rank rank = 0; rank < network.islands.size(); ++rank)
    places[network.islands[rank].site].links.push_back({true, rank});
  return places;
}

NetworkNeeds network_needs(std::span<const control::EdgePlace> places, std::size_t islands,
                           std::span<const schedule::EpochPlan> plans) {
  NetworkNeeds needs;
  needs.edges.resize(places.size());
  needs.islands.resize(islands);
  for (const schedule::EpochPlan& plan : plans) {
    for (std::size_t site = 0; site < places.size(); ++site)
      widen(needs.edges[site], control::edge_needs(plan, places[site]));
    for (std::size_t rank = 0; rank < islands; ++rank)
      widen(needs.islands[rank], control::island_needs(plan, static_cast<schedule::Rank>(rank)));
  }
  return needs;
}

std::uint64_t wire_queue_bytes(std::uint64_t rate_bps) {
  return static_cast<std::uint64_t>(std::max(static_cast<double>(rate_bps) / 8 * kQueueS, kLeastQueueBytes));
}

}  // namespace tombolo::testbed
