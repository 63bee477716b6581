#include "tools/schedule/optimize_studies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "schedule/mixing.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::tools {
namespace {

using schedule::Aggregation;
using schedule::Round;

schedule::Optimized solve(const schedule::Problem& problem, std::size_t max_rounds) {
  schedule::OptimizeOptions options;
  options.max_rounds = max_rounds;
  options.max_cycles = 2000;
  return *schedule::optimize(problem, options, VirtualClock());
}

/// The least D of all cycles of at most `most` rounds of three islands, by trying them all.
double least_of_three(const schedule::Problem& problem, std::size_t most) {
  const std::vector<Round> rounds{{{{0, 1}}}, {{{0, 2}}}, {{{1, 2}}}, {{{0, 1, 2}}}};
  std::vector<double> seconds;
  for (const Round& round : rounds)
    seconds.push_back(problem.model().time(round, problem.update_bytes())->seconds);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t length = 1, count = 4; length <= most; ++length, count *= 4)
    for (std::size_t code = 0; code < count; ++code) {
      schedule::Schedule cycle;
      std::vector<double> times;
      for (std::size_t r = 0, rest = code; r < length; ++r, rest /= 4) {
        cycle.rounds.push_back(rounds[rest % 4]);
        times.push_back(seconds[rest % 4]);
      }
      least = std::min(least, schedule::measure_mixing(cycle, times, 3)->disagreement_s);
    }
  return least;
}

TEST(Studies, ByRoundsIsWhatTryingAllGives) {
  const schedule::Network network = schedule::shipped_network("three-site.yaml", "slow-core");
  const schedule::Problem problem(network, {false, Aggregation::kNone}, 1e9);
  StudyOptions options;
  options.max_rounds = 4;
  options.max_cycles = 2000;
  options.variant_cycles = 500;
  const auto studies = make_studies(problem, solve(problem, 4), options);
  ASSERT_TRUE(studies.ok()) << studies.error().message;
  ASSERT_EQ(studies->by_rounds.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(studies->by_rounds[i].max_rounds, i + 1);
    EXPECT_NEAR(studies->by_rounds[i].disagreement_s, least_of_three(problem, i + 1), 1e-9) << i + 1;
  }
  EXPECT_TRUE(studies->by_rounds[0].certified);
  EXPECT_TRUE(studies->by_rounds[1].certified);
  EXPECT_FALSE(studies->baselines.empty());
}

TEST(Studies, VariantsAreOfTheCapabilitiesAndSizesThatTheyName) {
  const schedule::Network network = schedule::shipped_network("three-site.yaml", "even");
  const schedule::Problem problem(network, {true, Aggregation::kEdge}, 1e9);
  StudyOptions options;
  options.max_rounds = 3;
  options.max_cycles = 2000;
  options.variant_cycles = 500;
  const auto studies = make_studies(problem, solve(problem, 3), options);
  ASSERT_TRUE(studies.ok()) << studies.error().message;
  ASSERT_EQ(studies->grids.size(), 2u);
  const VariantGrid& grid = studies->grids.front();
  ASSERT_EQ(grid.rows.size(), grid.cells.size());
  EXPECT_EQ(grid.rows[3], "multicast and edge aggregation");
  EXPECT_EQ(grid.columns[2], "1 GB");
  EXPECT_NEAR(grid.cells[3][2].disagreement_s, least_of_three(problem, 3), 1e-9);
  const schedule::Problem small(network, {false, Aggregation::kNone}, 1e7);
  EXPECT_NEAR(grid.cells[0][0].disagreement_s, least_of_three(small, 3), 1e-9);
  // Egress at a quarter: 2.5 Gbit/s at every island.
  schedule::Network scarce = network;
  scarce.egress_bps.assign(3, 2'500'000'000);
  const schedule::Problem quarter(scarce, {true, Aggregation::kNone}, 1e9);
  EXPECT_NEAR(studies->grids.back().cells[1][2].disagreement_s, least_of_three(quarter, 3), 1e-9);
}

TEST(Studies, LargeNetworksSayWhatTheyDoNotGet) {
  schedule::Network network;
  const std::size_t islands = 26;
  for (std::size_t i = 0; i < islands; ++i) {
    const std::string id = fmt::format("S{}", i);
    network.site_names.push_back(id);
    network.islands.push_back({id, static_cast<schedule::SiteId>(i)});
    network.egress_bps.push_back(10'000'000'000);
    network.ingress_bps.push_back(10'000'000'000);
    if (i == 0) continue;
    const auto a = static_cast<schedule::SiteId>(i - 1);
    const auto b = static_cast<schedule::SiteId>(i);
    network.links.push_back({a, b, 1'000'000, 2'000'000, 10'000'000'000});
    network.links.push_back({b, a, 1'000'000, 2'000'000, 10'000'000'000});
  }
  const schedule::Problem problem(network, {true, Aggregation::kEdge}, 1e9);
  const auto studies = make_studies(problem, {}, {});
  ASSERT_TRUE(studies.ok()) << studies.error().message;
  EXPECT_TRUE(studies->by_rounds.empty());
  EXPECT_TRUE(studies->baselines.empty());
  EXPECT_TRUE(studies->grids.empty());
  ASSERT_EQ(studies->left_out.size(), 2u);
  EXPECT_EQ(studies->left_out[0].substr(0, 10), "26 islands");
}

}  // namespace
}  // namespace tombolo::tools
