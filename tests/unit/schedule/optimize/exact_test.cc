#include "schedule/optimize/exact.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/random.h"
#include "schedule/optimize/partition.h"
#include "tests/unit/schedule/optimize/reference_rows.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

TEST(Partition, VisitsEveryPartitionOnce) {
  // The Bell numbers.
  const std::vector<std::size_t> bell{1, 2, 5, 15, 52, 203, 877, 4140, 21147};
  for (std::size_t islands = 1; islands <= bell.size(); ++islands) {
    std::vector<Partition> seen;
    for_each_partition(islands, [&](const Partition& partition) { seen.push_back(partition); });
    for (const Partition& partition : seen) {
      IslandSet all = 0;
      for (const IslandSet set : partition) {
        EXPECT_NE(set, 0u);
        EXPECT_EQ(all & set, 0u);
        all |= set;
      }
      EXPECT_EQ(all, (IslandSet{1} << islands) - 1);
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
    EXPECT_EQ(seen.size(), bell[islands - 1]);
  }
}

TEST(Partition, BecomesARoundAndBack) {
  const Partition partition{0b00101, 0b00010, 0b11000};
  const Round round = to_round(partition);
  EXPECT_EQ(round.cliques, (std::vector<Clique>{{0, 2}, {3, 4}}));
  EXPECT_EQ(to_partition(round, 5), partition);
}

/// The column "exact-2" of the published table, every row to its printed digits.
TEST(ExactSearch, ReferenceValuesOfTwoRounds) {
  for (const ReferenceRow& row : reference_rows()) {
    SCOPED_TRACE(row.profile + std::string(" ") + std::to_string(row.two_rounds_s));
    const Network network = shipped_network("nine-city.yaml", row.profile);
    const Problem problem(network, row.capabilities, 1e9);
    const auto optimum = best_two_rounds(problem);
    ASSERT_TRUE(optimum.ok()) << optimum.error().message;
    EXPECT_NEAR(optimum->disagreement_s, row.two_rounds_s, row.half_digit);
    EXPECT_NEAR(measured_disagreement_s(problem, optimum->schedule), optimum->disagreement_s, 1e-9);
    EXPECT_EQ(optimum->partitions, 21146u);  // All but the one in which nobody meets.
    for (const Schedule& runner_up : optimum->runners_up)
      EXPECT_GT(measured_disagreement_s(problem, runner_up), optimum->disagreement_s);
  }
}

/// The published optimum of egress-scarce with multicast only: its cliques and round times.
TEST(ExactSearch, RecognisesThePublishedOptimum) {
  const Network network = shipped_network("nine-city.yaml", "egress-scarce");
  const Problem problem(network, {true, Aggregation::kNone, Family::kDirect}, 1e9);
  const auto optimum = best_two_rounds(problem);
  ASSERT_TRUE(optimum.ok());
  std::vector<std::vector<std::string>> cliques;
  for (const Round& round : optimum->schedule.rounds)
    for (const Clique& clique : round.cliques) {
      cliques.emplace_back();
      for (const Rank rank : clique) cliques.back().push_back(network.islands[rank].id);
    }
  EXPECT_EQ(cliques, (std::vector<std::vector<std::string>>{{"AMS", "BAR", "FRA", "LON"},
                                                            {"LAX", "NYC", "SEO", "SIN", "TYO"},
                                                            {"AMS", "LON", "SEO", "SIN", "TYO"},
                                                            {"BAR", "FRA", "LAX", "NYC"}}));
  EXPECT_NEAR(problem.model().time(optimum->schedule.rounds[0], 1e9)->seconds, 3.310, 5e-4);
  EXPECT_NEAR(problem.model().time(optimum->schedule.rounds[1], 1e9)->seconds, 3.321, 5e-4);
}

TEST(ExactSearch, TheFormulaIsThatOfMixing) {
  const std::uint64_t seed = 20261;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < 300; ++i) {
    const std::size_t islands = 2 + random.below(11);
    const Schedule schedule{"pair", {random_round(random, islands), random_round(random, islands)}};
    const std::vector<double> seconds{0.1 + random.unit(), 0.1 + 3 * random.unit()};
    const double d_s = two_round_disagreement(to_partition(schedule.rounds[0], islands), seconds[0],
                                              to_partition(schedule.rounds[1], islands), seconds[1], islands);
    const double measured_s = measure_mixing(schedule, seconds, islands)->disagreement_s;
    if (std::isinf(measured_s))
      EXPECT_EQ(d_s, measured_s);
    else
      EXPECT_NEAR(d_s, measured_s, 1e-9 * measured_s);
  }
}

/// D of every cycle of one or two rounds, measured without any of the search's shortcuts.
double brute_force_s(const Problem& problem) {
  std::vector<Round> rounds;
  std::vector<double> seconds;
  for_each_partition(problem.islands(), [&](const Partition& partition) {
    Round round = to_round(partition);
    if (round.cliques.empty()) return;
    seconds.push_back(problem.model().time(round, problem.update_bytes())->seconds);
    rounds.push_back(std::move(round));
  });
  double best_s = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < rounds.size(); ++a)
    for (std::size_t b = a; b < rounds.size(); ++b) {
      const std::vector<double> pair_s{seconds[a], seconds[b]};
      const auto mixing = measure_mixing({"pair", {rounds[a], rounds[b]}}, pair_s, problem.islands());
      best_s = std::min(best_s, mixing->disagreement_s);
    }
  return best_s;
}

TEST(ExactSearch, AgreesWithBruteForceOnRandomNetworks) {
  const std::uint64_t seed = 20262;
  SCOPED_TRACE(seed);
  Random random(seed);
  const std::size_t most_islands = TOMBOLO_LONG_TESTS != 0 ? 6 : 5;
  for (int wanted = TOMBOLO_LONG_TESTS != 0 ? 200 : 40; wanted > 0;) {
    const Network network = random_network(random);
    const Capabilities capabilities{random.chance(0.5),
                                    random.chance(0.5) ? Aggregation::kEdge : Aggregation::kNone,
                                    random.chance(0.5) ? Family::kBest : Family::kDirect};
    const Problem problem(network, capabilities, 1e6 * static_cast<double>(1 + random.below(1000)));
    if (network.islands.size() > most_islands) continue;
    --wanted;
    SCOPED_TRACE(wanted);
    const auto optimum = best_two_rounds(problem);
    ASSERT_TRUE(optimum.ok()) << optimum.error().message;
    const double expected_s = brute_force_s(problem);
    EXPECT_NEAR(optimum->disagreement_s, expected_s, 1e-9 * expected_s);
  }
}

TEST(ExactSearch, RefusesWhatItCannotDo) {
  const Network network = shipped_network("nine-city.yaml", "testnet10");
  for (const double bytes : {0.0, -1.0, std::nan("")})
    EXPECT_EQ(best_two_rounds(Problem(network, {}, bytes)).error().code, ErrorCode::kInvalidInput);
  Network crowded = network;
  crowded.islands.push_back({"tenth", 0});
  EXPECT_EQ(best_two_rounds(Problem(crowded, {}, 1e9)).error().code, ErrorCode::kNotSupported);
  Network lonely = network;
  lonely.islands.resize(1);
  EXPECT_EQ(best_two_rounds(Problem(lonely, {}, 1e9)).error().code, ErrorCode::kInvalidInput);
  Network cut = network;
  std::erase_if(cut.links,
                [](const DirectedLink& link) { return link.from == 1 || link.to == 1; });  // BAR's.
  const auto parted = best_two_rounds(Problem(cut, {}, 1e9));
  ASSERT_FALSE(parted.ok());
  EXPECT_NE(parted.error().message.find("BAR"), std::string::npos);
}

}  // namespace
}  // namespace tombolo::schedule
