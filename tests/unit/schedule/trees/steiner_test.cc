#include "schedule/trees/steiner.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <vector>

#include "schedule/trees/shortest_tree.h"
#include "tests/unit/schedule/trees/brute_force.h"

namespace tombolo::schedule {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

struct PricedTree {
  double price = 0;
  std::uint64_t height_ns = 0;
};

std::vector<PricedTree> priced(const Network& network, SiteId root, const std::vector<SiteId>& sites,
                               const std::vector<double>& price, const std::vector<bool>& forbidden) {
  std::vector<PricedTree> result;
  for (const SourceTree& tree : all_trees(network, root, sites)) {
    LinkTree links;
    double sum = 0;
    bool allowed = true;
    for (const SiteLink& ends : tree) {
      const std::uint32_t link = *find_link(network, ends);
      links.push_back(link);
      sum += price[link];
      allowed = allowed && !forbidden[link];
    }
    if (allowed) result.push_back({sum, height_ns(network, links, root, sites)});
  }
  return result;
}

TEST(SteinerTable, KnowsTheCheapestTreeForEachHeight) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Network network = small_network(random);
    std::vector<double> price;
    std::vector<bool> forbidden;
    for (std::size_t i = 0; i < network.links.size(); ++i) {
      price.push_back(static_cast<double>(random.below(4)));  // Many are free, many tie.
      forbidden.push_back(random.chance(0.1));
    }
    std::vector<SiteId> terminals;
    for (std::size_t i = 1; i < network.site_names.size(); ++i) terminals.push_back(static_cast<SiteId>(i));
    SteinerTable table(network);
    const std::uint64_t limit_ns = random.chance(0.3) ? 900'000'000 : kNoLimit;
    table.solve(terminals, price, forbidden, limit_ns, true);
    for (std::uint64_t mask = 1; mask < std::uint64_t{1} << terminals.size(); ++mask) {
      std::vector<SiteId> sites;
      for (std::size_t t = 0; t < terminals.size(); ++t)
        if ((mask >> t & 1) != 0) sites.push_back(terminals[t]);
      const auto all = priced(network, 0, sites, price, forbidden);
      std::map<std::uint64_t, double> expected;  // By height, those that no tree beats.
      for (const PricedTree& tree : all) {
        const bool beaten = std::any_of(all.begin(), all.end(), [&](const PricedTree& other) {
          return other.price <= tree.price && other.height_ns <= tree.height_ns &&
                 (other.price < tree.price || other.height_ns < tree.height_ns);
        });
        if (!beaten && tree.height_ns <= limit_ns) expected[tree.height_ns] = tree.price;
      }
      std::map<std::uint64_t, double> found;
      for (const std::uint32_t index : table.trees(0, mask)) {
        const SteinerTable::Label& label = table.label(index);
        found[label.height_ns] = label.price;
        std::vector<std::uint32_t> links;
        table.collect(index, links);
        const auto tree = shortest_tree(network, links, 0, sites, {});
        ASSERT_TRUE(tree.has_value());
        EXPECT_LE(height_ns(network, *tree, 0, sites), label.height_ns);
        double sum = 0;
        for (const std::uint32_t link : *tree) {
          sum += price[link];
          EXPECT_FALSE(forbidden[link]);
        }
        EXPECT_LE(sum, label.price);
      }
      EXPECT_EQ(found, expected);
    }
  }
}

TEST(SteinerTable, PathsAloneNeedNoSubsets) {
  Random random(7);
  const Network network = small_network(random);
  const std::vector<double> price(network.links.size(), 1);
  std::vector<SiteId> terminals;
  for (std::size_t i = 0; i < network.site_names.size(); ++i) terminals.push_back(static_cast<SiteId>(i));
  SteinerTable whole(network);
  SteinerTable paths(network);
  whole.solve(terminals, price, {}, kNoLimit, true);
  paths.solve(terminals, price, {}, kNoLimit, false);
  for (std::size_t t = 0; t < terminals.size(); ++t)
    for (std::size_t root = 0; root < network.site_names.size(); ++root) {
      const auto a = whole.trees(static_cast<SiteId>(root), std::uint64_t{1} << t);
      const auto b = paths.trees(static_cast<SiteId>(root), std::uint64_t{1} << t);
      ASSERT_EQ(a.size(), b.size());
      for (std::size_t i = 0; i < a.size(); ++i) {
        EXPECT_EQ(whole.label(a[i]).price, paths.label(b[i]).price);
        EXPECT_EQ(whole.label(a[i]).height_ns, paths.label(b[i]).height_ns);
      }
    }
}

}  // namespace
}  // namespace tombolo::schedule
