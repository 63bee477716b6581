#include "schedule/mixing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "schedule/round_model.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

Schedule one_full(std::size_t islands) {
  Clique all;
  for (std::size_t i = 0; i < islands; ++i) all.push_back(static_cast<Rank>(i));
  return {"full", {Round{{all}}}};
}

/// Standard normal by Box and Muller.
double normal(Random& random) {
  return std::sqrt(-2 * std::log(1 - random.unit())) * std::cos(2 * std::numbers::pi * random.unit());
}

/// The definition, played: islands drift, a round replaces what its members held at its start by their mean.
/// Each round is looked at once, at a random moment.
double played_disagreement(const Schedule& schedule, const std::vector<double>& seconds, std::size_t n,
                           int cycles, Random& random) {
  std::vector<double> x(n, 0);
  double integral = 0;
  double total_s = 0;
  for (int cycle = 0; cycle < cycles; ++cycle)
    for (std::size_t r = 0; r < seconds.size(); ++r) {
      const double look = random.unit();
      std::vector<double> late(n);
      std::vector<double> seen(n);
      double mean = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const double early = std::sqrt(look * seconds[r]) * normal(random);
        late[i] = early + std::sqrt((1 - look) * seconds[r]) * normal(random);
        seen[i] = x[i] + early;
        mean += seen[i] / static_cast<double>(n);
      }
      double variance = 0;
      for (const double value : seen) variance += (value - mean) * (value - mean) / static_cast<double>(n);
      integral += variance * seconds[r];
      total_s += seconds[r];
      for (const Clique& clique : schedule.rounds[r].cliques) {
        double sum = 0;
        for (const Rank rank : clique) sum += x[rank];
        for (const Rank rank : clique) x[rank] = sum / static_cast<double>(clique.size());
      }
      for (std::size_t i = 0; i < n; ++i) x[i] += late[i];
    }
  return integral / total_s;
}

TEST(Mixing, OneFullCliqueHasAClosedForm) {
  for (const std::size_t n : {2u, 3u, 9u, 64u}) {
    const std::vector<double> seconds{0.7};
    const auto mixing = measure_mixing(one_full(n), seconds, n);
    ASSERT_TRUE(mixing.ok());
    EXPECT_NEAR(mixing->disagreement_s, 1.5 * 0.7 * static_cast<double>(n - 1) / static_cast<double>(n),
                1e-12);
    EXPECT_NEAR(mixing->contraction_per_s, 1 / 0.7, 1e-12);
  }
}

TEST(Mixing, RepeatingTheCycleChangesNothing) {
  Schedule schedule{"pairs", {Round{{{0, 1}, {2, 3}}}, Round{{{1, 2}}}, Round{{{0, 3}}}}};
  std::vector<double> seconds{1.0, 0.25, 0.5};
  const auto once = measure_mixing(schedule, seconds, 4);
  schedule.rounds.insert(schedule.rounds.end(), {schedule.rounds[0], schedule.rounds[1], schedule.rounds[2]});
  seconds.insert(seconds.end(), {1.0, 0.25, 0.5});
  const auto twice = measure_mixing(schedule, seconds, 4);
  EXPECT_NEAR(once->disagreement_s, twice->disagreement_s, 1e-12);
}

/// The grid averages exactly in two rounds. At the start of a round what remains is the drift of the round
/// before (I - J, 8 units of trace) and, through one averaging into 3 groups (2 units), that of the one
/// before it.
TEST(Mixing, GridByHand) {
  const Network network = shipped_network("nine-city.yaml", "access-limited");
  const Schedule grid = *grid_schedule(network.islands);
  const double a = 0.8;
  const double b = 1.1;
  const double at_a = 8 * b + 2 * a;
  const double at_b = 8 * a + 2 * b;
  const double expected = (a * (at_a + 4 * a) + b * (at_b + 4 * b)) / (9 * (a + b));
  const auto mixing = measure_mixing(grid, std::vector<double>{a, b}, 9);
  EXPECT_NEAR(mixing->disagreement_s, expected, 1e-12);
  EXPECT_NEAR(mixing->contraction_per_s, 1 / (a + b), 1e-12);
}

TEST(Mixing, ContractionOfTwoProjections) {
  // {0,1} then {1,2}: projections onto (1,1,-2) and (-2,1,1), whose cosine is -1/2: 1 - 1/4 is gone each
  // cycle.
  const Schedule schedule{"chain", {Round{{{0, 1}}}, Round{{{1, 2}}}}};
  const auto mixing = measure_mixing(schedule, std::vector<double>{2, 3}, 3);
  EXPECT_NEAR(mixing->contraction_per_s, 0.75 / 5, 1e-12);
}

TEST(Mixing, AgreesWithMonteCarlo) {
  const std::uint64_t seed = 31;
  SCOPED_TRACE(seed);
  Random random(seed);
  const Schedule slow{"slow", {Round{{{0, 1}, {2, 3, 4}}}, Round{{{1, 2}}}, Round{{{0, 4}, {1, 3}}}}};
  const std::vector<double> seconds{0.3, 1.0, 0.6};
  const double exact = measure_mixing(slow, seconds, 5)->disagreement_s;
  EXPECT_NEAR(played_disagreement(slow, seconds, 5, 60'000, random) / exact, 1, 0.03);
}

/// The published values of the nine cities, to their printed digits.
TEST(Mixing, ReferenceValues) {
  struct Row {
    const char* profile;
    const char* schedule;
    bool multicast;
    bool aggregation;
    double disagreement_s;
    double half_digit;
  };
  const std::string two_cliques = config_path("schedules/nine-city-two-cliques.yaml");
  for (const Row& row : {Row{"access-limited", "full", false, false, 8.7560, 5e-5},
                         Row{"access-limited", "full", true, true, 1.2893, 5e-5},
                         Row{"egress-scarce", "full", true, false, 8.756, 5e-4},
                         Row{"egress-scarce", "full", true, true, 4.489, 5e-4},
                         Row{"testnet10", "full", false, false, 11.956, 5e-4},
                         Row{"testnet10", "full", true, true, 8.756, 5e-4},
                         Row{"access-limited", "grid", false, false, 2.6745, 5e-5},
                         Row{"access-limited", "grid", true, true, 1.4300, 5e-5},
                         Row{"testnet10", "grid", false, false, 3.253, 5e-4},
                         Row{"egress-scarce", two_cliques.c_str(), true, false, 4.793, 5e-4}}) {
    SCOPED_TRACE(std::string(row.profile) + " " + row.schedule);
    const Network network = shipped_network("nine-city.yaml", row.profile);
    const Schedule schedule = *load_schedule(row.schedule, network.islands);
    const Routes routes(network);
    const RoundModel model(
        network, routes,
        {row.multicast, row.aggregation ? Aggregation::kEdge : Aggregation::kNone, Family::kDirect});
    std::vector<double> seconds;
    for (const Round& round : schedule.rounds) seconds.push_back(model.time(round, 1e9)->seconds);
    const auto mixing = measure_mixing(schedule, seconds, 9);
    EXPECT_NEAR(mixing->disagreement_s, row.disagreement_s, row.half_digit);
  }
}

TEST(Mixing, UnboundedWhenIslandsNeverMeet) {
  const Schedule apart{"apart", {Round{{{0, 1}, {2, 3}}}}};
  const auto mixing = measure_mixing(apart, std::vector<double>{1}, 4);
  ASSERT_TRUE(mixing.ok());
  EXPECT_EQ(mixing->disagreement_s, std::numeric_limits<double>::infinity());
  EXPECT_EQ(mixing->contraction_per_s, 0);
}

TEST(Mixing, RefusesTimesThatDoNotFit) {
  const Schedule full = one_full(3);
  EXPECT_FALSE(measure_mixing(full, std::vector<double>{}, 3).ok());
  EXPECT_FALSE(measure_mixing(full, std::vector<double>{1, 1}, 3).ok());
  EXPECT_FALSE(measure_mixing(full, std::vector<double>{0}, 3).ok());
  EXPECT_FALSE(measure_mixing(full, std::vector<double>{std::nan("")}, 3).ok());
}

}  // namespace
}  // namespace tombolo::schedule
