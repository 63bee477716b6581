#include "schedule/routes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

constexpr std::uint64_t kFar = std::uint64_t{1} << 60;

/// Floyd and Warshall's all-pairs latencies: another algorithm than the one under test.
std::vector<std::vector<std::uint64_t>> all_latencies(const Network& network) {
  const std::size_t n = network.site_names.size();
  std::vector<std::vector<std::uint64_t>> ns(n, std::vector<std::uint64_t>(n, kFar));
  for (std::size_t i = 0; i < n; ++i) ns[i][i] = 0;
  for (const DirectedLink& link : network.links) ns[link.from][link.to] = link.one_way_ns;
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) ns[i][j] = std::min(ns[i][j], ns[i][k] + ns[k][j]);
  return ns;
}

TEST(Routes, ShortestAndTiesToTheLowerSite) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Network network = random_network(random);
    const Routes routes(network);
    const auto expected = all_latencies(network);
    for (SiteId source = 0; source < network.site_names.size(); ++source) {
      EXPECT_EQ(routes.parent(source, source), source);
      for (SiteId site = 0; site < network.site_names.size(); ++site) {
        ASSERT_EQ(routes.latency_ns(source, site), expected[source][site]);
        if (site == source) continue;
        SiteId lowest = 0xffff;
        for (const DirectedLink& link : network.links)
          if (link.to == site && expected[source][link.from] + link.one_way_ns == expected[source][site])
            lowest = std::min(lowest, link.from);
        ASSERT_EQ(routes.parent(source, site), lowest);
        const DirectedLink& last = network.links[routes.link_into(source, site)];
        EXPECT_EQ(last.from, lowest);
        EXPECT_EQ(last.to, site);
      }
    }
  }
}

TEST(Routes, NineCityLatencies) {
  const Network network = shipped_network("nine-city.yaml", "testnet10");
  const Routes routes(network);
  // BAR to SEO: by New York, Los Angeles and Tokyo; half of 113.320 + 68.420 + 98.759 + 15.410 ms.
  EXPECT_EQ(routes.latency_ns(1, 6), 147'954'500u);
  EXPECT_EQ(routes.parent(1, 6), 8u);
  // The longest: BAR to SIN, by London; half of 113.320 + 67.296 + 153.368 ms.
  EXPECT_EQ(routes.latency_ns(1, 7), 166'992'000u);
}

TEST(Routes, TreeIsTheUnionOfRoutes) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Network network = random_network(random);
    const Routes routes(network);
    const std::size_t n = network.site_names.size();
    const auto source = static_cast<SiteId>(random.below(n));
    std::vector<SiteId> wanted;
    for (SiteId site = 0; site < n; ++site)
      if (random.chance(0.4)) wanted.push_back(site);
    std::set<SiteId> expected{source};
    for (SiteId site : wanted)
      for (; site != source; site = routes.parent(source, site)) expected.insert(site);

    const auto hops = routes.tree(source, wanted);
    ASSERT_EQ(hops.size(), expected.size());
    EXPECT_EQ(hops.front().site, source);
    std::set<SiteId> seen{source};
    std::size_t children = 0;
    for (const TreeHop& hop : hops) {
      EXPECT_TRUE(expected.contains(hop.site));
      EXPECT_EQ(hop.parent, routes.parent(source, hop.site));
      EXPECT_TRUE(seen.contains(hop.parent));
      seen.insert(hop.site);
      EXPECT_TRUE(std::is_sorted(hop.children.begin(), hop.children.end()));
      for (const SiteId child : hop.children) EXPECT_EQ(routes.parent(source, child), hop.site);
      children += hop.children.size();
    }
    EXPECT_EQ(seen.size(), hops.size());
    EXPECT_EQ(children + 1, hops.size());
  }
}

}  // namespace
}  // namespace tombolo::schedule
