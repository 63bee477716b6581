#pragma once

#include <algorithm>
#include <vector>

#include "schedule/source_tree.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {

/// A small random network of 3 to 5 sites with an island each and at most seven cables, so that all its trees
/// can be looked at; latencies of some milliseconds tie often, links are slower than access lines.
inline Network small_network(Random& random) {
  const std::size_t sites = 3 + random.below(3);
  std::string text = "sites:\n";
  for (std::size_t i = 0; i < sites; ++i) text += fmt::format("  - {{id: S{}}}\n", i);
  text += "links:\n";
  std::size_t cables = 0;
  for (std::size_t b = 1; b < sites; ++b) {
    const std::size_t near = random.below(b);
    for (std::size_t a = 0; a < b; ++a) {
      if (a != near && (cables >= 7 || !random.chance(0.7))) continue;
      ++cables;
      text += fmt::format(
          "  - {{a: S{}, b: S{}, one_way_ms: {{ab: {}, ba: {}}}, gbps: {{ab: {}, ba: {}}}}}\n", a, b,
          100 * (1 + random.below(5)), 100 * (1 + random.below(5)), 1 + random.below(4), 1 + random.below(4));
    }
  }
  text += fmt::format("profiles: {{p: {{egress_gbps: {}, ingress_gbps: {}}}}}\n", 2 + random.below(7),
                      2 + random.below(7));
  const auto topology = parse_topology(text, "small");
  EXPECT_TRUE(topology.ok()) << topology.error().message << text;
  return *resolve(*topology, "p");
}

/// Every tree from `source` that serves `sites` and nobody else, by going through all sets of links.
inline std::vector<SourceTree> all_trees(const Network& network, SiteId source,
                                         const std::vector<SiteId>& sites) {
  std::vector<SourceTree> trees;
  for (std::uint32_t set = 0; set < std::uint32_t{1} << network.links.size(); ++set) {
    SourceTree tree;
    for (std::size_t i = 0; i < network.links.size(); ++i)
      if ((set >> i & 1) != 0) tree.push_back({network.links[i].from, network.links[i].to});
    if (tree.size() < network.site_names.size() &&
        check_source_tree(tree, source, sites, network.site_names).ok())
      trees.push_back(std::move(tree));
  }
  return trees;
}

}  // namespace tombolo::schedule
