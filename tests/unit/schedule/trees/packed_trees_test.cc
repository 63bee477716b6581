#include "schedule/trees/packed_trees.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "schedule/random_network.h"
#include "tests/unit/schedule/trees/brute_force.h"

namespace tombolo::schedule {
namespace {

constexpr double kEqual = 1e-8;
constexpr std::size_t kMostCombinations = 4000;

PackedRound pack(const Network& network, const Capabilities& capabilities, const Round& round,
                 double update_bytes, const PackOptions& options = {}) {
  const Routes routes(network);
  const auto packed = pack_round(RoundModel(network, routes, capabilities), round, update_bytes, options);
  EXPECT_TRUE(packed.ok()) << packed.error().message;
  return packed ? *packed : PackedRound{};
}

/// What holds whatever the round.
void expect_sound(const Network& network, const Capabilities& capabilities, const PackedRound& packed,
                  double update_bytes) {
  const Routes routes(network);
  const RoundModel model(network, routes, capabilities);
  const PackedTime& time = packed.time;
  EXPECT_LE(time.packed_s, time.shortest_s);
  EXPECT_LE(time.bound_s, time.packed_s);
  EXPECT_EQ(model.time(packed.round, update_bytes)->seconds, time.packed_s);
  Round shortest = packed.round;
  shortest.trees.clear();
  EXPECT_EQ(model.time(shortest, update_bytes)->seconds, time.shortest_s);
}

/// The least time of all choices of one tree for each member; none if there are too many to look at.
std::optional<double> least_of_all(const RoundModel& model, const Round& round, double update_bytes) {
  const Network& network = model.network();
  std::vector<std::vector<SourceTree>> choices;
  std::size_t combinations = 1;
  for (const Clique& clique : round.cliques)
    for (const Rank source : clique) {
      std::vector<SiteId> sites;
      for (const Rank rank : clique)
        if (rank != source) sites.push_back(network.islands[rank].site);
      choices.push_back(all_trees(network, network.islands[source].site, sites));
      combinations *= choices.back().size();
      if (combinations > kMostCombinations) return std::nullopt;
    }
  double least_s = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < combinations; ++i) {
    Round one = round;
    std::size_t rest = i;
    std::size_t next = 0;
    for (const Clique& clique : round.cliques) {
      one.trees.emplace_back();
      for (std::size_t member = 0; member < clique.size(); ++member, ++next) {
        one.trees.back().push_back(choices[next][rest % choices[next].size()]);
        rest /= choices[next].size();
      }
    }
    least_s = std::min(least_s, model.time(one, update_bytes)->seconds);
  }
  return least_s;
}

TEST(PackedTrees, BestOfAllTreesOfSmallNetworks) {
  int looked_at = 0;
  int gained = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Network network = small_network(random);
    const Routes routes(network);
    const Capabilities capabilities{.aggregation =
                                        random.chance(0.5) ? Aggregation::kEdge : Aggregation::kNone};
    const RoundModel model(network, routes, capabilities);
    const Round round = random_round(random, network.islands.size());
    const double update_bytes = 125e6 * static_cast<double>(1 + random.below(4));
    const auto least_s = least_of_all(model, round, update_bytes);
    if (!least_s) continue;
    const PackedRound packed = pack(network, capabilities, round, update_bytes, {.max_programmes = 100'000});
    expect_sound(network, capabilities, packed, update_bytes);
    EXPECT_TRUE(packed.time.proven);
    EXPECT_NEAR(packed.time.packed_s, *least_s, *least_s * kEqual);
    ++looked_at;
    gained += packed.time.packed_s < packed.time.shortest_s * (1 - kEqual) ? 1 : 0;
  }
  EXPECT_GT(looked_at, 60);
  EXPECT_GT(gained, 10);
}

TEST(PackedTrees, WithoutMulticastBetweenTheBoundAndTheShortest) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Network network = small_network(random);
    const Routes routes(network);
    const Capabilities capabilities{.multicast = false};
    const Round round = random_round(random, network.islands.size());
    const PackedRound packed = pack(network, capabilities, round, 250e6);
    expect_sound(network, capabilities, packed, 250e6);
    const auto least_s = least_of_all(RoundModel(network, routes, capabilities), round, 250e6);
    if (!least_s) continue;
    EXPECT_LE(packed.time.bound_s, *least_s * (1 + kEqual));
    EXPECT_GE(packed.time.packed_s, *least_s * (1 - kEqual));
    if (packed.time.proven) {
      EXPECT_NEAR(packed.time.packed_s, *least_s, *least_s * kEqual);
    }
  }
}

TEST(PackedTrees, CrossesTheRing) {
  const Network network = ring_of_four();
  for (const bool multicast : {true, false}) {
    const PackedRound packed =
        pack(network, {.multicast = multicast}, {.cliques = crossed_round().cliques}, 125e6);
    // Eight links, four messages of two hops: no link free and none twice, and one way over R-S.
    EXPECT_NEAR(packed.time.shortest_s, 2.002, 1e-9);
    EXPECT_NEAR(packed.time.packed_s, 1.003, 1e-9);
    EXPECT_TRUE(packed.time.proven);
    EXPECT_GE(packed.time.bound_s, 1.002);
    expect_sound(network, {.multicast = multicast}, packed, 125e6);
  }
}

TEST(PackedTrees, FullCliqueGainsNothingBehindOneCable) {
  // All eight others pass NYC-BAR or TYO-SEO, the only ways to Buenos Aires and Seoul, whatever the trees.
  const Network network = shipped_network("nine-city.yaml", "testnet10");
  const auto full = full_schedule(network.islands);
  const PackedRound packed = pack(network, {}, full->rounds[0], 1e9);
  EXPECT_NEAR(packed.time.shortest_s, 8 * 0.8 + 0.166992, 1e-9);
  EXPECT_EQ(packed.time.packed_s, packed.time.shortest_s);
  EXPECT_NEAR(packed.time.bound_s, packed.time.shortest_s, 1e-7);
  EXPECT_TRUE(packed.time.proven);
  EXPECT_TRUE(packed.round.trees.empty());
}

TEST(PackedTrees, BeginsWithTreesThatAreGiven) {
  const Network network = ring_of_four();
  const PackedRound packed = pack(network, {}, crossed_round(), 125e6, {.max_programmes = 0});
  EXPECT_NEAR(packed.time.packed_s, 1.003, 1e-9);
  EXPECT_NEAR(packed.time.shortest_s, 2.002, 1e-9);
}

TEST(PackedTrees, LeavesOtherModesAsTheyAre) {
  const Network network = shipped_network("nine-city.yaml", "mixed");
  const Capabilities capabilities{.aggregation = Aggregation::kTree, .family = Family::kBest};
  Round round{.cliques = {{0, 1, 2, 4}, {3, 5, 6, 8}}};
  round.modes = {CliqueMode{Mode::kSharded}, CliqueMode{Mode::kDirect}};
  const PackedRound packed = pack(network, capabilities, round, 1e9);
  expect_sound(network, capabilities, packed, 1e9);
  EXPECT_EQ(packed.round.modes, round.modes);
  EXPECT_TRUE(packed.round.trees.empty() || packed.round.trees[0].empty());
}

TEST(PackedTrees, ManySitesAreBoundedToo) {
  // More than prices look at: the bound is looser, and trees are completed.
  const Network network = random_network(5, 16);
  Round round{.cliques = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {13, 14, 15}}};
  for (const bool multicast : {true, false}) {
    const PackedRound packed = pack(network, {.multicast = multicast}, round, 1e9, {.max_programmes = 60});
    expect_sound(network, {.multicast = multicast}, packed, 1e9);
    EXPECT_GT(packed.time.bound_s, 0.3 * packed.time.packed_s);
  }
}

TEST(PackedTrees, IsDeterministic) {
  const Network network = shipped_network("nine-city.yaml", "mixed");
  const auto grid = grid_schedule(network.islands);
  const PackedRound first = pack(network, {}, grid->rounds[1], 1e9);
  const PackedRound second = pack(network, {}, grid->rounds[1], 1e9);
  EXPECT_EQ(first.time.packed_s, second.time.packed_s);
  EXPECT_EQ(first.round.trees, second.round.trees);
  EXPECT_LT(first.time.packed_s, first.time.shortest_s);
}

TEST(PackedTrees, RefusesByName) {
  Network network = ring_of_four("explicit_trees: false\n");
  const Routes routes(network);
  const auto said = [&](const RoundModel& model) {
    const auto packed = pack_round(model, {.cliques = {{0, 1}}}, 1e6);
    return packed ? "" : packed.error().message;
  };
  EXPECT_EQ(said(RoundModel(network, routes, {})), "packed trees: the network does not let us choose trees");
  network.explicit_trees = true;
  Capabilities capabilities;
  capabilities.site_replicates = {true, false, true, true};
  EXPECT_EQ(said(RoundModel(network, routes, capabilities)),
            "packed trees: sites and links must all be alike in what they can do");
  EXPECT_EQ(said(RoundModel(network, routes, {})), "");
}

TEST(PackedTrees, PacksAScheduleWholeOrNotAtAll) {
  const Network network = ring_of_four();
  const Routes routes(network);
  const RoundModel model(network, routes, {});
  Schedule schedule{"two", {{.cliques = crossed_round().cliques}, {.cliques = {}, .rest_s = 2}}};
  const auto times = pack_schedule(model, 125e6, schedule);
  ASSERT_TRUE(times.ok()) << times.error().message;
  ASSERT_EQ(times->size(), 2u);
  EXPECT_NEAR((*times)[0].packed_s, 1.003, 1e-9);
  EXPECT_EQ((*times)[1].packed_s, 2);
  EXPECT_FALSE(schedule.rounds[0].trees.empty());
  schedule.form = Form::kEvent;
  EXPECT_FALSE(pack_schedule(model, 125e6, schedule).ok());
}

}  // namespace
}  // namespace tombolo::schedule
