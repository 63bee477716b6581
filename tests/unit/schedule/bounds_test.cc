#include "schedule/bounds.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "schedule/barrier_bound.h"
#include "schedule/mixing.h"
#include "schedule/round_shares.h"
#include "schedule/weighted_mixing.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

/// All partitions of the islands into cliques, the one of singletons left out.
std::vector<Round> all_rounds(std::size_t islands) {
  std::vector<Round> rounds;
  std::vector<std::size_t> block(islands, 0);  // Of each island: at most one above all before it.
  for (;;) {
    std::vector<Clique> cliques(islands);
    for (std::size_t i = 0; i < islands; ++i) cliques[block[i]].push_back(static_cast<Rank>(i));
    std::erase_if(cliques, [](const Clique& clique) { return clique.size() < 2; });
    if (!cliques.empty()) rounds.push_back(Round{cliques});
    std::size_t at = islands;
    while (at-- > 1) {
      const std::size_t most = 1 + *std::max_element(block.begin(), block.begin() + static_cast<long>(at));
      if (block[at] >= most) continue;
      ++block[at];
      std::fill(block.begin() + static_cast<long>(at) + 1, block.end(), std::size_t{0});
      break;
    }
    if (at == 0 || at > islands) return rounds;
  }
}

/// The least D over all cycles of at most `longest` rounds.
double brute_force_s(const RoundModel& model, std::size_t islands, std::size_t longest, double bytes) {
  const std::vector<Round> rounds = all_rounds(islands);
  std::vector<double> seconds;
  for (const Round& round : rounds) seconds.push_back(model.time(round, bytes)->seconds);
  double least_s = std::numeric_limits<double>::infinity();
  const auto take = [&](std::initializer_list<std::size_t> picks) {
    Schedule schedule{"tried", {}};
    std::vector<double> times;
    for (const std::size_t pick : picks) {
      schedule.rounds.push_back(rounds[pick]);
      times.push_back(seconds[pick]);
    }
    least_s = std::min(least_s, measure_mixing(schedule, times, islands)->disagreement_s);
  };
  for (std::size_t a = 0; a < rounds.size(); ++a) {
    take({a});
    if (longest < 2) continue;
    for (std::size_t b = a + 1; b < rounds.size(); ++b) {
      take({a, b});
      if (longest < 3) continue;
      for (std::size_t c = a + 1; c < rounds.size(); ++c) take({a, b, c});
    }
  }
  return least_s;
}

/// A random network of exactly so many islands.
Network network_of(Random& random, std::size_t islands) {
  for (;;) {
    Network network = random_network(random);
    if (network.islands.size() < islands) continue;
    network.islands.resize(islands);
    return network;
  }
}

Capabilities random_capabilities(Random& random) {
  return {random.chance(0.5), static_cast<Aggregation>(random.below(3)),
          random.chance(0.5) ? Family::kDirect : Family::kBest};
}

void expect_bounded(std::uint64_t seed, std::size_t islands, std::size_t longest) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << islands << " islands, cycles of at most "
                                  << longest);
  Random random(seed);
  const Network network = network_of(random, islands);
  const Routes routes(network);
  const Capabilities with = random_capabilities(random);
  const double bytes = 1e5 * static_cast<double>(1 + random.below(100'000));
  const auto bound = disagreement_bound(network, routes, bytes, allows_any_mode(with));
  ASSERT_TRUE(bound.ok());
  const double best_s = brute_force_s(RoundModel(network, routes, with), islands, longest, bytes);
  EXPECT_LE(bound->seconds, best_s * (1 + 1e-12));
  EXPECT_GT(bound->seconds, 0);
  const auto larger_s = barrier_bound_s(RoundModel(network, routes, with), bytes);
  ASSERT_TRUE(larger_s.ok());
  EXPECT_LE(*larger_s, best_s * (1 + 1e-12));
  EXPECT_GE(*larger_s, bound->seconds * (1 - 1e-12));
}

TEST(Bounds, NoCycleOfAFewIslandsIsBelow) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) expect_bounded(seed, 2 + seed % 3, 2);
}
TEST(Bounds, NoCycleOfFiveIslandsIsBelow) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) expect_bounded(seed, 5, 2);
}
TEST(Bounds, NoCycleOfSixIslandsIsBelow) { expect_bounded(1, 6, 2); }
TEST(Bounds, NoCycleOfThreeRoundsIsBelow) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) expect_bounded(seed, 4, 3);
}

/// A site in the middle and an island at each of `leaves` others, all alike.
Network star_of(std::size_t leaves, double rtt_ms, double core_gbps) {
  std::string text = "sites:\n  - {id: HUB}\n";
  for (std::size_t i = 0; i < leaves; ++i) text += fmt::format("  - {{id: S{}}}\n", i);
  text += "links:\n";
  for (std::size_t i = 0; i < leaves; ++i)
    text += fmt::format("  - {{a: HUB, b: S{}, rtt_ms: {}}}\n", i, rtt_ms);
  text += "islands:\n";
  for (std::size_t i = 0; i < leaves; ++i) text += fmt::format("  - {{id: I{0}, site: S{0}}}\n", i);
  text += fmt::format("profiles:\n  p: {{core_gbps: {}, egress_gbps: 8, ingress_gbps: 8}}\n", core_gbps);
  const auto topology = parse_topology(text, "star");
  EXPECT_TRUE(topology.ok()) << topology.error().message;
  return *resolve(*topology, "p");
}

/// Pairs that double what they know, 1 s a round: the drift waits half a second and then another for the
/// first halving, and a second for each one more.
TEST(BarrierBound, IsReachedByPairsThatDouble) {
  const Network network = star_of(8, 1e-6, 1000);
  const Routes routes(network);
  const RoundModel model(network, routes, {false, Aggregation::kNone});
  const double d = 1.5 * (1 - 1.0 / 8) + (1.0 / 2 - 1.0 / 8) + (1.0 / 4 - 1.0 / 8);
  EXPECT_NEAR(*barrier_bound_s(model, 1e9), d, 1e-6);
  Schedule schedule{"doubling", {}};
  std::vector<double> seconds;
  for (const Rank step : {Rank{1}, Rank{2}, Rank{4}}) {
    Round round;
    for (Rank i = 0; i < 8; ++i)
      if ((i & step) == 0) round.cliques.push_back({i, static_cast<Rank>(i + step)});
    seconds.push_back(model.time(round, 1e9)->seconds);
    schedule.rounds.push_back(std::move(round));
  }
  EXPECT_NEAR(measure_mixing(schedule, seconds, 8)->disagreement_s, d, 1e-6);
}

/// With all the help a clique of k still brings k - 1 updates into each site, here in half a second each.
TEST(BarrierBound, SeesWhatEntersASite) {
  const Network network = star_of(8, 1e-6, 16);
  const Routes routes(network);
  // T(2) = T(3) = 1, T(4) = 1.5, T(5) = 2: three know in 1 s, four in 1.5 s, and nine in 2 s as three times
  // three.
  const double after_s[] = {1, 1, 1.5, 2, 2, 2, 2};
  double d = 0;
  for (int m = 1; m < 8; ++m) d += (0.5 + after_s[m - 1]) * (1.0 / m - 1.0 / (m + 1));
  EXPECT_NEAR(*barrier_bound_s(RoundModel(network, routes, {}), 1e9), d, 1e-6);
}

/// Islands whose own rounds take 1 s and one whose rounds take `l`: by hand, the best share F of the long
/// rounds. Of 4 the slow one waits l / (2 F), three wait (1 + (l - 1) F) / 2 or more.
TEST(BarrierBound, LongAndShortRoundsShareTheTime) {
  const double l = 9;
  std::vector<IslandSpread> islands(4);
  for (IslandSpread& island : islands) island.shortest_s = 1;
  islands[3].shortest_s = l;
  for (IslandSpread& island : islands)
    island.steps.assign(3, {0, 0});  // All is known with the first exchange.
  const double share = std::sqrt(l / (3 * (l - 1)));
  const double waits_s = l / (2 * share) + 3 * (1 + (l - 1) * share) / 2;
  const double best_s = least_spread_s(islands, {1, l});
  EXPECT_LE(best_s, waits_s * 3 / 4 * (1 + 1e-12));
  EXPECT_GE(best_s, waits_s * 3 / 4 * 0.999);
}

/// Longer cycles than brute force can go through, with rests and uneven lengths.
TEST(BarrierBound, NoLongCycleIsBelow) {
  double closest = std::numeric_limits<double>::infinity();
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Network network = random_network(random);
    const std::size_t n = network.islands.size();
    const Routes routes(network);
    const RoundModel model(network, routes, random_capabilities(random));
    const double bytes = 1e5 * static_cast<double>(1 + random.below(100'000));
    const auto bound_s = barrier_bound_s(model, bytes);
    ASSERT_TRUE(bound_s.ok());
    Schedule schedule{"random", {}};
    std::vector<double> seconds;
    for (std::size_t rounds = 2 + random.below(9); rounds > 0; --rounds) {
      schedule.rounds.push_back(random_round(random, n));
      seconds.push_back(model.time(schedule.rounds.back(), bytes)->seconds);
      if (!random.chance(0.1)) continue;
      schedule.rounds.push_back(Round{{}, {}, 1});
      seconds.push_back(0.1 * seconds.back());
    }
    const double d = measure_mixing(schedule, seconds, n)->disagreement_s;
    EXPECT_GE(d, *bound_s * (1 - 1e-12));
    closest = std::min(closest, d / *bound_s);
  }
  EXPECT_LT(closest, 1.05);
}

/// What the proof needs: no round, whatever else it holds, joins a pair in less than the pair's least time.
TEST(Bounds, NoRoundJoinsAPairSooner) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Network network = random_network(random);
    const Routes routes(network);
    const Capabilities with = random_capabilities(random);
    const double bytes = 1e5 * static_cast<double>(1 + random.below(100'000));
    const RoundModel model(network, routes, with);
    const Round round = random_round(random, network.islands.size());
    const double time_s = model.time(round, bytes)->seconds * (1 + 1e-12);
    for (const Clique& clique : round.cliques)
      for (const Rank a : clique)
        for (const Rank b : clique)
          if (a != b) {
            EXPECT_LE(pair_seconds(network, routes, a, b, bytes, allows_any_mode(with)), time_s);
            if (with.family != Family::kDirect || with.aggregation == Aggregation::kTree) continue;
            EXPECT_NEAR(pair_seconds(network, routes, a, b, bytes, false) /
                            model.time(Round{{{std::min(a, b), std::max(a, b)}}}, bytes)->seconds,
                        1, 1e-12);
          }
  }
}

/// The published bounds of the nine cities, to their printed digits.
TEST(Bounds, ReferenceValues) {
  struct Row {
    const char* profile;
    bool any_mode;
    double bound_s;
    double half_digit;
  };
  for (const Row& row : {Row{"access-limited", false, 1.1036, 5e-5},
                         Row{"access-limited", true, 1.1036, 5e-5}, Row{"egress-scarce", false, 4.304, 5e-4},
                         Row{"testnet10", false, 1.104, 5e-4}, Row{"testnet10", true, 1.104, 5e-4}}) {
    SCOPED_TRACE(row.profile);
    const Network network = shipped_network("nine-city.yaml", row.profile);
    const Routes routes(network);
    const auto bound = disagreement_bound(network, routes, 1e9, row.any_mode);
    EXPECT_NEAR(bound->seconds, row.bound_s, row.half_digit);
    EXPECT_EQ(bound->tree.size(), 8u);
  }
}

/// Why sharded cliques need the weaker weights: they halve what a link carries. A triangle whose core takes a
/// second for an update: a pair needs 1.001 s, so pair times would say D >= 3/6 (1.001 + 1.001) = 1.001; one
/// clique of three moves 2/3 of an update over each link in 2 ms + 2/3 s, and D is 1.5 T 2/3 = 0.669.
TEST(Bounds, PairTimesDoNotBoundShardedCliques) {
  const auto topology = parse_topology(
      "sites: [{id: A}, {id: B}, {id: C}]\n"
      "links: [{a: A, b: B, rtt_ms: 2}, {a: B, b: C, rtt_ms: 2}, {a: A, b: C, rtt_ms: 2}]\n"
      "profiles: {p: {core_gbps: 1, egress_gbps: 1000, ingress_gbps: 1000}}\n",
      "triangle");
  ASSERT_TRUE(topology.ok()) << topology.error().message;
  const Network network = *resolve(*topology, "p");
  const Routes routes(network);
  const double bytes = 125e6;  // A second at 1 Gbit/s.
  const Round full = full_schedule(network.islands)->rounds[0];
  const RoundModel model(network, routes, {true, Aggregation::kNone, Family::kSharded});
  const double time_s = model.time(full, bytes)->seconds;
  EXPECT_NEAR(time_s, 0.002 + 2.0 / 3, 1e-12);
  const double d = measure_mixing(Schedule{"full", {full}}, std::vector<double>{time_s}, 3)->disagreement_s;
  EXPECT_NEAR(disagreement_bound(network, routes, bytes, false)->seconds, 1.001, 1e-12);
  EXPECT_LT(d, 0.67);
  EXPECT_LE(disagreement_bound(network, routes, bytes, true)->seconds, d);
}

/// Why trees need them: their root may be reached by other links than the pairs' routes. Five sites on a slow
/// line of 1 ms a hop, and a fast hub 1.5 ms from each: neighbours meet over the line in 1.001 s, and only
/// the ends of the line, 4 ms apart, over the hub in 4 ms. Pair times would say D >= 3/10 (3 x 1.001 + 0.004)
/// = 0.902; a tree at the hub needs 3 ms + 1 ms.
TEST(Bounds, PairTimesDoNotBoundTrees) {
  std::string text = "sites: [{id: A}, {id: B}, {id: C}, {id: D}, {id: E}, {id: hub}]\nlinks:\n";
  for (const char* pair : {"a: A, b: B", "a: B, b: C", "a: C, b: D", "a: D, b: E"})
    text += fmt::format("  - {{{}, rtt_ms: 2, gbps: {{ab: 1, ba: 1}}}}\n", pair);
  for (const char* site : {"A", "B", "C", "D", "E"})
    text += fmt::format("  - {{a: {}, b: hub, rtt_ms: 3, gbps: {{ab: 1000, ba: 1000}}}}\n", site);
  text +=
      "islands: [{id: a, site: A}, {id: b, site: B}, {id: c, site: C}, {id: d, site: D}, {id: e, site: E}]\n"
      "profiles: {p: {egress_gbps: 1000, ingress_gbps: 1000}}\n";
  const auto topology = parse_topology(text, "hub");
  ASSERT_TRUE(topology.ok()) << topology.error().message;
  const Network network = *resolve(*topology, "p");
  const Routes routes(network);
  const double bytes = 125e6;
  const Round full = full_schedule(network.islands)->rounds[0];
  const auto time = RoundModel(network, routes, {true, Aggregation::kTree}).time(full, bytes);
  EXPECT_EQ(time->modes[0], (CliqueMode{Mode::kTree, 5}));
  EXPECT_NEAR(time->seconds, 0.004, 1e-12);
  const double d =
      measure_mixing(Schedule{"full", {full}}, std::vector<double>{time->seconds}, 5)->disagreement_s;
  EXPECT_NEAR(disagreement_bound(network, routes, bytes, false)->seconds, 0.9021, 1e-12);
  EXPECT_LT(d, 0.005);
  EXPECT_LE(disagreement_bound(network, routes, bytes, true)->seconds, d);
}

TEST(Bounds, TwoRoundsContractByTheirCorrelation) {
  const std::vector<Round> rounds = all_rounds(6);
  EXPECT_EQ(rounds.size(), 202u);  // The Bell number of 6, less the singletons.
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Round& a = rounds[random.below(rounds.size())];
    const Round& b = rounds[random.below(rounds.size())];
    const double correlation = two_round_correlation(a, b, 6);
    Eigen::MatrixXd product = averaging_matrix(b, 6) * averaging_matrix(a, 6);
    product.array() -= 1.0 / 6;
    EXPECT_NEAR(correlation, std::sqrt((product.transpose() * product).eigenvalues().real().maxCoeff()),
                1e-7);
    EXPECT_EQ(correlation < 1e-9, product.norm() < 1e-9);
  }
  const Network nine = shipped_network("nine-city.yaml", "mixed");
  const Schedule grid = *grid_schedule(nine.islands);
  EXPECT_NEAR(two_round_correlation(grid.rounds[0], grid.rounds[1], 9), 0, 1e-9);
}

TEST(Bounds, SmallAndBadInput) {
  Network network = shipped_network("three-site.yaml", "even");
  const Routes routes(network);
  EXPECT_FALSE(disagreement_bound(network, routes, 0, false).ok());
  EXPECT_FALSE(disagreement_bound(network, routes, std::nan(""), false).ok());
  EXPECT_FALSE(barrier_bound_s(RoundModel(network, routes, {}), 0).ok());
  network.islands.resize(1);
  EXPECT_EQ(disagreement_bound(network, routes, 1e9, false)->seconds, 0);
  EXPECT_EQ(*barrier_bound_s(RoundModel(network, routes, {}), 1e9), 0);
  Network apart = shipped_network("three-site.yaml", "even");
  apart.links.clear();
  const Routes none(apart);
  EXPECT_FALSE(disagreement_bound(apart, none, 1e9, true).ok());
}

/// Modes and trees of a schedule's own need not keep to the shortest routes.
TEST(BarrierBound, CoversWhatAScheduleBringsWithIt) {
  const Capabilities direct{};
  ASSERT_FALSE(allows_any_mode(direct));
  Schedule plain;
  plain.rounds.push_back({.cliques = {{0, 1}}});
  EXPECT_FALSE(allows_any_mode(covering(direct, plain)));
  plain.rounds[0].modes = {CliqueMode{Mode::kDirect, 0}};
  EXPECT_FALSE(allows_any_mode(covering(direct, plain)));
  Schedule sharded = plain;
  sharded.rounds[0].modes = {CliqueMode{Mode::kSharded, 0}};
  EXPECT_TRUE(allows_any_mode(covering(direct, sharded)));
  Schedule treed = plain;
  treed.rounds[0].trees = {{{{0, 1}}, {}}};
  EXPECT_TRUE(allows_any_mode(covering(direct, treed)));
}

}  // namespace
}  // namespace tombolo::schedule
