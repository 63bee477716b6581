#include "schedule/mixing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "schedule/round_model.h"
#include "schedule/weighted_mixing.h"
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
    EXPECT_NEAR(mixing->r_per_s, 1 / 0.7, 1e-12);
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
  EXPECT_NEAR(mixing->r_per_s, 1 / (a + b), 1e-12);
}

TEST(Mixing, ContractionOfTwoProjections) {
  // {0,1} then {1,2}: projections onto (1,1,-2) and (-2,1,1), whose cosine is -1/2: 1 - 1/4 is gone each
  // cycle.
  const Schedule schedule{"chain", {Round{{{0, 1}}}, Round{{{1, 2}}}}};
  const auto mixing = measure_mixing(schedule, std::vector<double>{2, 3}, 3);
  EXPECT_NEAR(mixing->r_per_s, 0.75 / 5, 1e-12);
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

/// Two ways to the same: blocks and a small fixed point, and matrices as they are.
TEST(Mixing, MatricesSayTheSame) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::size_t islands = 2 + random.below(9);
    Schedule schedule = random_schedule(random, islands);
    if (random.chance(0.3)) schedule.rounds.emplace_back().rest_s = 1;
    std::vector<double> seconds;
    std::vector<double> chances;
    std::vector<Eigen::MatrixXd> w;
    for (const Round& round : schedule.rounds) {
      seconds.push_back(0.1 + random.unit());
      chances.push_back(0.1 + random.unit());
      w.push_back(averaging_matrix(round, islands));
    }
    const auto expect_same = [](const Result<Mixing>& a, const Result<Mixing>& b) {
      ASSERT_TRUE(a.ok() && b.ok());
      if (!std::isfinite(a->disagreement_s)) {
        EXPECT_EQ(a->disagreement_s, b->disagreement_s);
        return;
      }
      EXPECT_NEAR(a->disagreement_s / b->disagreement_s, 1, 1e-10);
      EXPECT_NEAR(a->r_per_s, b->r_per_s, 1e-10);
    };
    expect_same(measure_mixing(schedule, seconds, islands), measure_mixing(w, seconds));
    expect_same(measure_random_mixing(schedule, seconds, chances, islands),
                measure_random_mixing(w, seconds, chances));
  }
}

/// The definition, played for any W, drawn at random or in turn.
double played_disagreement(const std::vector<Eigen::MatrixXd>& w, const std::vector<double>& seconds,
                           const std::vector<double>& chances, int rounds, Random& random) {
  const Eigen::Index n = w[0].rows();
  Eigen::VectorXd x = Eigen::VectorXd::Zero(n);
  const auto drift = [&](double time_s) {
    Eigen::VectorXd step(n);
    for (Eigen::Index i = 0; i < n; ++i) step(i) = std::sqrt(time_s) * normal(random);
    return step;
  };
  double integral = 0;
  double total_s = 0;
  for (int count = 0; count < rounds; ++count) {
    std::size_t r = static_cast<std::size_t>(count) % w.size();
    if (!chances.empty()) {
      double at = random.unit();
      for (r = 0; r + 1 < w.size() && at >= chances[r]; ++r) at -= chances[r];
    }
    const double look = random.unit();
    const Eigen::VectorXd early = drift(look * seconds[r]);
    const Eigen::VectorXd late = drift((1 - look) * seconds[r]);
    const Eigen::VectorXd seen = x + early;
    integral += seconds[r] * (seen.array() - seen.mean()).square().mean();
    total_s += seconds[r];
    x = (w[r] * x + early + late).eval();
    x.array() -= x.mean();
  }
  return integral / total_s;
}

TEST(Mixing, DirectedAndRandomRoundsAgreeWithMonteCarlo) {
  const std::uint64_t seed = 77;
  SCOPED_TRACE(seed);
  Random random(seed);
  // Each of four islands pushes half of what it has to its neighbour, then to the one after it; and a star
  // whose weights keep rows, but not columns, at a sum of 1.
  std::vector<Eigen::MatrixXd> w(3, Eigen::MatrixXd::Zero(4, 4));
  for (int i = 0; i < 4; ++i) {
    w[0](i, i) = w[1](i, i) = 0.5;
    w[0]((i + 1) % 4, i) = w[1]((i + 2) % 4, i) = 0.5;
    w[2](i, i) = 0.25;
    w[2](i, 0) += 0.75;
  }
  const std::vector<double> seconds{0.5, 1.2, 0.8};
  const std::vector<double> chances{0.5, 0.2, 0.3};
  const auto in_turn = measure_mixing(w, seconds);
  ASSERT_TRUE(in_turn.ok());
  EXPECT_NEAR(played_disagreement(w, seconds, {}, 60'000, random) / in_turn->disagreement_s, 1, 0.03);
  const auto drawn = measure_random_mixing(w, seconds, chances);
  ASSERT_TRUE(drawn.ok());
  EXPECT_NEAR(played_disagreement(w, seconds, chances, 60'000, random) / drawn->disagreement_s, 1, 0.03);
}

/// Random pairs of three, each with chance 1/3. By symmetry S = s (I - J), and one pair's W leaves of the
/// trace of I - J, 2, that of W - J, 1: s = T + s / 2 = 2 T, tr S = 4 T, D = (4 T + T) / 3.
TEST(Mixing, RandomPairsOfThreeByHand) {
  const Schedule pairs{"pairs", {Round{{{0, 1}}}, Round{{{1, 2}}}, Round{{{0, 2}}}}};
  const auto mixing =
      measure_random_mixing(pairs, std::vector<double>{0.6, 0.6, 0.6}, std::vector<double>{2, 2, 2}, 3);
  ASSERT_TRUE(mixing.ok());
  EXPECT_NEAR(mixing->disagreement_s, 5 * 0.6 / 3, 1e-12);
  EXPECT_NEAR(mixing->r_per_s, 0.5 / 0.6, 1e-12);
  // One full clique, drawn with certainty, is the cycle of it.
  const auto full = measure_random_mixing(one_full(5), std::vector<double>{0.7}, std::vector<double>{1}, 5);
  EXPECT_NEAR(full->disagreement_s, 1.5 * 0.7 * 4 / 5, 1e-12);
}

TEST(Mixing, ARestOnlyCostsTime) {
  // After the full clique S = T_rest + T_full in units of I - J; by hand over two rounds.
  Schedule schedule = one_full(4);
  schedule.rounds.emplace_back().rest_s = 3;
  const double full_s = 0.5;
  const double rest_s = 3;
  // At the full clique's start: what the rest drifted, and the clique before it. At the rest's: the clique.
  const double expected =
      0.75 * (full_s * (full_s + rest_s + full_s / 2) + rest_s * (full_s + rest_s / 2)) / (full_s + rest_s);
  const auto mixing = measure_mixing(schedule, std::vector<double>{full_s, rest_s}, 4);
  EXPECT_NEAR(mixing->disagreement_s, expected, 1e-12);
}

/// 8 x 8 x 8 islands meet along each axis in turn: exact in three rounds. What one round leaves of the drift
/// of a round j rounds ago is the trace of the part that j averagings keep: n, n/8, n/64 less the mean.
TEST(Mixing, ManyIslands) {
  const std::size_t n = 512;
  Schedule cube{"cube", {}};
  for (const std::size_t step : {1u, 8u, 64u}) {
    Round round;
    for (std::size_t i = 0; i < n; ++i) {
      if (i / step % 8 != 0) continue;
      Clique clique;
      for (std::size_t k = 0; k < 8; ++k) clique.push_back(static_cast<Rank>(i + k * step));
      round.cliques.push_back(std::move(clique));
    }
    cube.rounds.push_back(std::move(round));
  }
  const double time_s = 0.4;
  const double trace = time_s * ((512 - 1) + (64 - 1) + (8 - 1));
  const auto mixing = measure_mixing(cube, std::vector<double>(3, time_s), n);
  EXPECT_NEAR(mixing->disagreement_s, (trace + time_s * 511 / 2) / 512, 1e-10);
  EXPECT_NEAR(mixing->r_per_s, 1 / (3 * time_s), 1e-10);
}

TEST(Mixing, MatricesThatDoNotContract) {
  const Eigen::MatrixXd still = Eigen::MatrixXd::Identity(3, 3);
  EXPECT_EQ(measure_mixing(std::vector{still}, std::vector<double>{1})->disagreement_s,
            std::numeric_limits<double>::infinity());
  Eigen::MatrixXd swap = Eigen::MatrixXd::Zero(2, 2);  // Two islands that trade places for ever.
  swap(0, 1) = swap(1, 0) = 1;
  EXPECT_EQ(measure_mixing(std::vector{swap}, std::vector<double>{1})->disagreement_s,
            std::numeric_limits<double>::infinity());
  EXPECT_FALSE(measure_mixing(std::vector{Eigen::MatrixXd(2 * still)}, std::vector<double>{1}).ok());
  EXPECT_FALSE(measure_mixing(std::vector<Eigen::MatrixXd>{}, std::vector<double>{}).ok());
  EXPECT_FALSE(
      measure_random_mixing(std::vector{still}, std::vector<double>{1}, std::vector<double>{0}).ok());
  EXPECT_FALSE(
      measure_random_mixing(std::vector{still}, std::vector<double>{1}, std::vector<double>{1, 1}).ok());
}

TEST(Mixing, UnboundedWhenIslandsNeverMeet) {
  const Schedule apart{"apart", {Round{{{0, 1}, {2, 3}}}}};
  const auto mixing = measure_mixing(apart, std::vector<double>{1}, 4);
  ASSERT_TRUE(mixing.ok());
  EXPECT_EQ(mixing->disagreement_s, std::numeric_limits<double>::infinity());
  EXPECT_EQ(mixing->r_per_s, 0);
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
