#include "schedule/source_tree.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "schedule/round_model.h"
#include "schedule/routes.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

const std::vector<std::string> kNames{"A", "B", "C", "D", "E"};

/// What check_source_tree says of a tree from A.
std::string said(const SourceTree& tree, const std::vector<SiteId>& sites) {
  const Status status = check_source_tree(tree, 0, sites, kNames);
  return status ? "" : status.error().message;
}

TEST(SourceTree, IsATreeThatServesItsSites) {
  EXPECT_EQ(said({{0, 1}, {1, 2}, {1, 3}}, {2, 3}), "");
  EXPECT_EQ(said({{1, 3}, {1, 2}, {0, 1}}, {3, 2, 1}), "");
  EXPECT_EQ(said({}, {}), "");
  EXPECT_EQ(said({{0, 1}}, {1, 2}), "does not reach C");
  EXPECT_EQ(said({{0, 1}, {0, 2}}, {1}), "the branch to C serves nobody");
  EXPECT_EQ(said({{0, 1}, {0, 1}}, {1}), "two links lead to B");
  EXPECT_EQ(said({{0, 1}, {1, 0}}, {1}), "the link B-A leads back to the source");
  EXPECT_EQ(said({{0, 1}, {2, 3}, {3, 2}}, {1}), "the link C-D is not joined to the source at A");
}

TEST(SourceTree, HopsAreThePartThatIsNeeded) {
  const SourceTree tree{{2, 4}, {0, 1}, {1, 3}, {1, 2}};
  const auto hops = source_tree_hops(tree, 0, std::vector<SiteId>{3, 4});
  ASSERT_EQ(hops.size(), 5u);
  EXPECT_EQ(hops[0].site, 0);
  EXPECT_EQ(hops[0].parent, 0);
  EXPECT_EQ(hops[0].children, (std::vector<SiteId>{1}));
  EXPECT_EQ(hops[1].site, 1);
  EXPECT_EQ(hops[1].children, (std::vector<SiteId>{2, 3}));
  EXPECT_EQ(hops[4].site, 4);
  EXPECT_EQ(hops[4].parent, 2);
  const auto path = source_tree_hops(tree, 0, std::vector<SiteId>{3});
  ASSERT_EQ(path.size(), 3u);
  EXPECT_EQ(path[2].site, 3);
  EXPECT_EQ(path[1].children, (std::vector<SiteId>{3}));
}

TEST(SourceTree, LoadByHand) {
  const Network network = ring_of_four();
  const Routes routes(network);
  const RoundModel model(network, routes, {});
  // 125 MB take 1 s at 1 Gbit/s. Along shortest routes P-Q and Q-P carry an update of each clique.
  const auto shortest = model.time({.cliques = crossed_round().cliques}, 125e6);
  ASSERT_TRUE(shortest.ok());
  EXPECT_NEAR(shortest->seconds, 2.002, 1e-12);
  const auto crossed = model.time(crossed_round(), 125e6);
  ASSERT_TRUE(crossed.ok()) << crossed.error().message;
  EXPECT_NEAR(crossed->seconds, 1.003, 1e-12);
  EXPECT_EQ(crossed->latency_ns, (std::vector<std::uint64_t>{3'000'000, 3'000'000}));
  EXPECT_EQ(crossed->modes, (std::vector<CliqueMode>(2)));
  EXPECT_EQ(crossed->bottleneck_updates, 1);
  // A clique of three: from P all the way round. With multicast each link of it once, without one for each
  // receiver behind; Q and R send the shortest way, one copy and two.
  const CliqueTrees trees{{{0, 3}, {3, 2}, {2, 1}}, {}, {}};
  const auto load_of = [&](const RoundModel& of, SiteLink link) {
    for (const ResourceLoad& asked : of.load({0, 1, 2}, trees).loads)
      if (asked.resource == 8 + *find_link(network, link)) return asked.updates;
    return 0.0;
  };
  EXPECT_EQ(load_of(model, {0, 3}), 1);
  EXPECT_EQ(load_of(model, {2, 1}), 2);  // P's and R's.
  EXPECT_EQ(load_of(model, {0, 1}), 0);
  const RoundModel copies(network, routes, {.multicast = false});
  EXPECT_EQ(load_of(copies, {0, 3}), 2);
  EXPECT_EQ(load_of(copies, {3, 2}), 2);
  EXPECT_EQ(load_of(copies, {2, 1}), 3);  // One of P's, two of R's.
  EXPECT_NEAR(copies.load({0, 1, 2}, trees).latency_s, 0.004, 1e-12);
}

/// The shipped example: no link carries two updates, so that every round is 0.8 s for 1 GB at 10 Gbit/s and
/// half the round trip of its longest way; without its trees the last round has two on a link.
TEST(SourceTree, ShippedPackedRounds) {
  const Network network = shipped_network("nine-city.yaml", "testnet10");
  auto schedule =
      load_schedule(config_path("schedules/nine-city-packed.yaml"), network.islands, network.site_names);
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  const Routes routes(network);
  const RoundModel model(network, routes, {});
  const std::vector<double> longest_ms{113.320, 113.320 + 68.420, 153.368 + 67.225};
  ASSERT_EQ(schedule->rounds.size(), longest_ms.size());
  for (std::size_t r = 0; r < longest_ms.size(); ++r) {
    const auto time = model.time(schedule->rounds[r], 1e9);
    ASSERT_TRUE(time.ok()) << time.error().message;
    EXPECT_NEAR(time->seconds, 0.8 + longest_ms[r] / 2000, 1e-9);
    EXPECT_EQ(time->bottleneck_updates, 1);
  }
  schedule->rounds[2].trees.clear();
  EXPECT_GT(model.time(schedule->rounds[2], 1e9)->seconds, 1.6);
}

TEST(SourceTree, ShortestRoutesGivenAsTreesChangeNothing) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Network network = random_network(random);
    for (DirectedLink& link : network.links) link.multicast = random.chance(0.7);
    const Routes routes(network);
    const RoundModel model(network, routes, {.multicast = random.chance(0.7)});
    Round round = random_round(random, network.islands.size());
    round.modes.assign(round.cliques.size(), CliqueMode{});
    const auto expected = model.time(round, 1e9);
    for (const Clique& clique : round.cliques) {
      std::vector<SiteId> sites;
      for (const Rank rank : clique) sites.push_back(network.islands[rank].site);
      round.trees.emplace_back();
      for (const SiteId source : sites) {
        round.trees.back().emplace_back();
        for (const TreeHop& hop : routes.tree(source, sites))
          if (hop.site != source) round.trees.back().back().push_back({hop.parent, hop.site});
      }
    }
    const auto given = model.time(round, 1e9);
    ASSERT_TRUE(expected.ok() && given.ok());
    EXPECT_EQ(given->seconds, expected->seconds);
    EXPECT_EQ(given->latency_ns, expected->latency_ns);
    EXPECT_EQ(given->bottleneck, expected->bottleneck);
  }
}

}  // namespace
}  // namespace tombolo::schedule
