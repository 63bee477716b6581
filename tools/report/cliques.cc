#include "tools/report/cliques.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "schedule/routes.h"

namespace tombolo::report {
namespace {

// Beyond these a drawing of the routes would show nothing, and take long to compute.
constexpr std::size_t kMostRoutedMembers = 64;
constexpr std::size_t kMostRoutedCliques = 2000;
constexpr double kNsPerMs = 1e6;
constexpr double kLongestRttMs = 1e9;

/// The summary's sites and links as the schedule's library sees them: links 2 i and 2 i + 1 are directions of
/// link i.
schedule::Network make_network(const RunSummary& summary) {
  schedule::Network network;
  for (const SummarySite& site : summary.sites) network.site_names.push_back(site.id);
  for (const TopologyLink& link : summary.topology_links) {
    const double rtt_ns = std::min(link.rtt_ms.value_or(0), kLongestRttMs) * kNsPerMs;
    // Half the round trip, rounded as topology files are read; at least what routes need.
    const auto one_way_ns = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(rtt_ns / 2)));
    const auto a = static_cast<schedule::SiteId>(link.a);
    const auto b = static_cast<schedule::SiteId>(link.b);
    network.links.push_back({.from = a, .to = b, .one_way_ns = one_way_ns});
    network.links.push_back({.from = b, .to = a, .one_way_ns = one_way_ns});
  }
  return network;
}

std::vector<std::size_t> routed_links(const schedule::Routes& routes, const std::vector<std::size_t>& sites) {
  std::set<std::size_t> used;
  for (const std::size_t source : sites) {
    const auto from = static_cast<schedule::SiteId>(source);
    for (const std::size_t target : sites) {
      auto site = static_cast<schedule::SiteId>(target);
      if (!routes.reaches(from, site)) continue;
      for (; site != from; site = routes.parent(from, site)) used.insert(routes.link_into(from, site) / 2);
    }
  }
  return {used.begin(), used.end()};
}

}  // namespace

DrawnRounds draw_rounds(const RunSummary& summary) {
  std::unordered_map<std::string, std::size_t> site_of_island;
  for (std::size_t i = 0; i < summary.sites.size(); ++i)
    for (const std::string& island : summary.sites[i].islands) site_of_island.emplace(island, i);
  const bool has_latencies = !summary.topology_links.empty() &&
                             std::all_of(summary.topology_links.begin(), summary.topology_links.end(),
                                         [](const TopologyLink& link) { return link.rtt_ms.has_value(); });
  const schedule::Routes routes(make_network(summary));

  DrawnRounds drawn;
  std::map<std::vector<std::string>, std::size_t> known;
  for (const SummaryRound& round : summary.rounds) {
    drawn.rounds.emplace_back();
    for (const std::vector<std::string>& members : round.cliques) {
      const auto [entry, is_new] = known.emplace(members, drawn.cliques.size());
      drawn.rounds.back().push_back(entry->second);
      if (!is_new) continue;
      DrawnClique clique{.members = members, .sites = {}, .links = {}};
      std::set<std::size_t> sites;
      for (const std::string& member : members)
        if (const auto found = site_of_island.find(member); found != site_of_island.end())
          sites.insert(found->second);
      clique.sites.assign(sites.begin(), sites.end());
      if (has_latencies && clique.sites.size() <= kMostRoutedMembers &&
          drawn.cliques.size() < kMostRoutedCliques)
        clique.links = routed_links(routes, clique.sites);
      drawn.cliques.push_back(std::move(clique));
    }
  }
  return drawn;
}

}  // namespace tombolo::report
