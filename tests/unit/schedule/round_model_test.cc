#include "schedule/round_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

Capabilities capabilities(bool multicast, bool edge_aggregation) {
  return {multicast, edge_aggregation ? Aggregation::kEdge : Aggregation::kNone, Family::kDirect};
}

RoundTime time_of(const Network& network, const Round& round, Capabilities with, double bytes = 1e9) {
  const Routes routes(network);
  const auto time = RoundModel(network, routes, with).time(round, bytes);
  EXPECT_TRUE(time.ok());
  return *time;
}

/// The published values of the nine cities' full clique, to their printed digits.
TEST(RoundModel, ReferenceValuesOfTheFullClique) {
  struct Row {
    const char* profile;
    bool multicast;
    bool aggregation;
    double full_s;
    double half_digit;
  };
  for (const Row& row :
       {Row{"access-limited", false, false, 6.5670, 5e-5}, Row{"access-limited", true, true, 0.9670, 5e-5},
        Row{"egress-scarce", true, false, 6.567, 5e-4}, Row{"egress-scarce", true, true, 3.367, 5e-4},
        Row{"testnet10", false, false, 8.967, 5e-4}, Row{"testnet10", true, true, 6.567, 5e-4}}) {
    SCOPED_TRACE(row.profile);
    const Network network = shipped_network("nine-city.yaml", row.profile);
    const Round full = full_schedule(network.islands)->rounds[0];
    EXPECT_NEAR(time_of(network, full, capabilities(row.multicast, row.aggregation)).seconds, row.full_s,
                row.half_digit);
  }
}

TEST(RoundModel, NamesTheBottleneckAndItsLoad) {
  const Network network = shipped_network("three-site.yaml", "slow-core");
  const Round full = full_schedule(network.islands)->rounds[0];
  // A-B carries A's two paths (to B and to C) without multicast, one with it; B-A carries B's and C's: two
  // either way, and so does B-C. 20 ms one way from A to C, 1 Gbit/s, 125 MB = 1 Gbit.
  const RoundTime both = time_of(network, full, capabilities(true, true), 125e6);
  EXPECT_EQ(both.bottleneck, "core B-A");
  EXPECT_EQ(both.bottleneck_updates, 2);
  EXPECT_NEAR(both.seconds, 2.020, 1e-12);
  EXPECT_EQ(both.latency_ns, std::vector<std::uint64_t>{20'000'000});
  const RoundTime none = time_of(network, full, capabilities(false, false), 125e6);
  EXPECT_EQ(none.bottleneck, "core A-B");
  EXPECT_EQ(none.bottleneck_updates, 2);

  const Network even = shipped_network("three-site.yaml", "even");
  const RoundTime pair = time_of(even, Round{{{0, 1}}}, capabilities(true, true), 1.25e9);
  EXPECT_EQ(pair.bottleneck, "egress A");
  EXPECT_NEAR(pair.seconds, 1.005, 1e-12);

  // Two islands at one site meet without latency and without the core.
  const Network shared = shipped_network("shared-site.yaml", "standard");
  const RoundTime near = time_of(shared, Round{{{0, 1}}}, capabilities(true, true), 625e6);
  EXPECT_EQ(near.bottleneck, "egress P1");
  EXPECT_EQ(near.seconds, 1.0);
}

/// Two cliques of different latency on one link: (T - L1)(T - L2) = u (2 T - L1 - L2), a quadratic.
TEST(RoundModel, SolvesASharedLinkExactly) {
  const auto topology = parse_topology(
      "sites: [{id: A}, {id: B}, {id: C}, {id: D}]\n"
      "links: [{a: A, b: B, rtt_ms: 20}, {a: B, b: C, rtt_ms: 100}, {a: A, b: D, rtt_ms: 2}]\n"
      "islands: [{id: a, site: A}, {id: b, site: B}, {id: d, site: D}, {id: c, site: C}]\n"
      "profiles: {p: {core_gbps: 1, egress_gbps: 100, ingress_gbps: 100}}\n",
      "quadratic");
  ASSERT_TRUE(topology.ok()) << topology.error().message;
  const Network network = *resolve(*topology, "p");
  const RoundTime time = time_of(network, Round{{{0, 1}, {2, 3}}}, capabilities(true, true), 12.5e6);
  const double u = 0.1;  // 12.5 MB at 1 Gbit/s.
  const double l1 = 0.010;
  const double l2 = 0.061;
  const double b = -(l1 + l2 + 2 * u);
  const double c = l1 * l2 + u * (l1 + l2);
  EXPECT_NEAR(time.seconds, (-b + std::sqrt(b * b - 4 * c)) / 2, 1e-14);
  EXPECT_EQ(time.bottleneck, "core A-B");
  EXPECT_EQ(time.bottleneck_updates, 2);
}

using Ends = std::pair<SiteId, SiteId>;

/// How often one clique uses each core link, counted with sets instead of the model's marks.
std::map<Ends, double> core_updates(const Clique& clique, const Network& network, const Routes& routes,
                                    bool multicast) {
  std::map<Ends, double> updates;
  for (const Rank a : clique) {
    std::set<Ends> tree;
    for (const Rank b : clique) {
      const SiteId source = network.islands[a].site;
      for (SiteId site = network.islands[b].site; site != source; site = routes.parent(source, site)) {
        const Ends ends{routes.parent(source, site), site};
        if (multicast)
          tree.insert(ends);
        else
          updates[ends] += 1;
      }
    }
    for (const Ends& ends : tree) updates[ends] += 1;
  }
  return updates;
}

/// The largest load over capacity at time T, over all resources.
double utilisation(const Network& network, const Round& round, Capabilities with, double bits,
                   double time_s) {
  const Routes routes(network);
  double most = 0;
  std::map<Ends, double> core_bps;
  for (const Clique& clique : round.cliques) {
    std::uint64_t latency_ns = 0;
    for (const Rank a : clique)
      for (const Rank b : clique)
        latency_ns =
            std::max(latency_ns, routes.latency_ns(network.islands[a].site, network.islands[b].site));
    const double rate_bps = bits / (time_s - static_cast<double>(latency_ns) * 1e-9);
    const double others = static_cast<double>(clique.size()) - 1;
    for (const Rank rank : clique) {
      const SiteId site = network.islands[rank].site;
      most = std::max(
          most, rate_bps * (with.multicast ? 1 : others) / static_cast<double>(network.egress_bps[site]));
      most = std::max(most, rate_bps * (with.aggregation == Aggregation::kEdge ? 1 : others) /
                                static_cast<double>(network.ingress_bps[site]));
    }
    for (const auto& [ends, updates] : core_updates(clique, network, routes, with.multicast))
      core_bps[ends] += updates * rate_bps;
  }
  for (const DirectedLink& link : network.links)
    most = std::max(most, core_bps[{link.from, link.to}] / static_cast<double>(link.capacity_bps));
  return most;
}

TEST(RoundModel, FillsExactlyTheBottleneckOnRandomNetworks) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Network network = random_network(random);
    const Round round = random_round(random, network.islands.size());
    const Capabilities with = capabilities(random.chance(0.5), random.chance(0.5));
    const double bytes = 1e5 * static_cast<double>(1 + random.below(100'000));
    const RoundTime time = time_of(network, round, with, bytes);
    EXPECT_NEAR(utilisation(network, round, with, 8 * bytes, time.seconds), 1, 1e-9);
    EXPECT_FALSE(time.bottleneck.empty());
  }
}

TEST(RoundModel, RefusesWhatHasNoTime) {
  const Network network = shipped_network("three-site.yaml", "even");
  const Routes routes(network);
  const Round full = full_schedule(network.islands)->rounds[0];
  const RoundModel model(network, routes, {});
  for (const double bytes : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    const auto time = model.time(full, bytes);
    ASSERT_FALSE(time.ok()) << bytes;
    EXPECT_EQ(time.error().code, ErrorCode::kInvalidInput);
  }
  EXPECT_FALSE(model.time(Round{}, 1e9).ok());
  const auto refused = [&](const RoundModel& with, CliqueMode mode, const char* named) {
    Round round = full;
    round.modes = {mode};
    const auto time = with.time(round, 1e9);
    ASSERT_FALSE(time.ok());
    EXPECT_NE(time.error().message.find(named), std::string::npos) << time.error().message;
  };
  refused(model, {Mode::kTree}, "needs aggregation tree");
  const RoundModel tree(network, routes,
                        {true, Aggregation::kTree, Family::kDirect, {}, {false, true, true}});
  refused(tree, {Mode::kTree, 0}, "root that aggregates");
  refused(tree, {Mode::kTree, 17}, "root that aggregates");
}

TEST(RoundModel, ARestTakesItsDuration) {
  const Network network = shipped_network("three-site.yaml", "even");
  Round rest;
  rest.rest_s = 2.5;
  const RoundTime time = time_of(network, rest, {});
  EXPECT_EQ(time.seconds, 2.5);
  EXPECT_EQ(time.bottleneck, "");
  EXPECT_TRUE(time.modes.empty());
}

}  // namespace
}  // namespace tombolo::schedule
