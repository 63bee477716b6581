#include "schedule/baselines/cliques.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "schedule/mixing.h"
#include "schedule/weighted_mixing.h"
#include "tests/unit/schedule/baselines/scenes.h"

namespace tombolo::schedule::baselines {
namespace {

/// Standard normal by Box and Muller.
double normal(Random& random) {
  return std::sqrt(-2 * std::log(1 - random.unit())) * std::cos(2 * std::numbers::pi * random.unit());
}

/// D by chance: islands drift, rounds mix what they held at their starts. One look at a random moment of each
/// round.
double played_disagreement(const std::vector<TimedMatrix>& cycle, int cycles, Random& random) {
  const Eigen::Index n = cycle.front().w.rows();
  Eigen::VectorXd x = Eigen::VectorXd::Zero(n);
  double integral = 0;
  double total_s = 0;
  for (int i = 0; i < cycles; ++i)
    for (const TimedMatrix& round : cycle) {
      const double look = random.unit();
      Eigen::VectorXd early(n);
      Eigen::VectorXd late(n);
      for (Eigen::Index j = 0; j < n; ++j) {
        early(j) = std::sqrt(round.seconds * look) * normal(random);
        late(j) = std::sqrt(round.seconds * (1 - look)) * normal(random);
      }
      const Eigen::VectorXd seen = x + early;
      integral += round.seconds * (seen.array() - seen.mean()).square().mean();
      total_s += round.seconds;
      x = round.w * x + early + late;
    }
  return integral / total_s;
}

/// The measure of schedule/mixing, written apart from this one, agrees on clique rounds.
TEST(ScoreCycle, AgreesWithMeasureMixing) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const std::size_t n = 2 + random.below(8);
    const Schedule schedule = random_schedule(random, n);
    std::vector<double> seconds;
    std::vector<TimedMatrix> cycle;
    for (const Round& round : schedule.rounds) {
      seconds.push_back(0.1 + random.unit());
      cycle.push_back({averaging_matrix(round, n), seconds.back()});
    }
    const auto expected = measure_mixing(schedule, seconds, n);
    ASSERT_TRUE(expected.ok());
    const Mixing score = score_cycle(cycle);
    if (std::isfinite(expected->disagreement_s))
      EXPECT_NEAR(score.disagreement_s, expected->disagreement_s, 1e-9 * expected->disagreement_s);
    else
      EXPECT_FALSE(std::isfinite(score.disagreement_s));
  }
}

/// A directed, a weighted and a row-stochastic W, against chance.
TEST(ScoreCycle, AgreesWithChanceForGeneralMatrices) {
  constexpr std::uint64_t kSeed = 11;
  SCOPED_TRACE(fmt::format("seed {}", kSeed));
  Random random(kSeed);
  Matrix directed(3, 3);
  directed << 0.5, 0.5, 0, 0, 0.5, 0.5, 0.5, 0, 0.5;
  Matrix leading(3, 3);  // Rows of sum 1, columns not.
  leading << 1, 0, 0, 0.8, 0.2, 0, 0, 0, 1;
  const std::vector<TimedMatrix> cycle{{directed, 1.5}, {leading, 0.5}};
  const double expected_s = score_cycle(cycle).disagreement_s;
  EXPECT_NEAR(played_disagreement(cycle, 200000, random), expected_s, 0.02 * expected_s);
}

TEST(ScoreCycle, IsInfiniteIfIslandsNeverMeet) {
  const std::vector<TimedMatrix> apart{{averaging_matrix(round_of({{0, 1}}), 3), 1}};
  EXPECT_EQ(score_cycle(apart).disagreement_s, std::numeric_limits<double>::infinity());
}

/// score_random by listing all matchings of four islands with their own times.
TEST(ScoreRandom, AgreesWithChance) {
  constexpr std::uint64_t kSeed = 5;
  SCOPED_TRACE(fmt::format("seed {}", kSeed));
  const std::vector<TimedMatrix> choices{{averaging_matrix(round_of({{0, 1}, {2, 3}}), 4), 0.5},
                                         {averaging_matrix(round_of({{0, 2}}), 4), 1},
                                         {averaging_matrix(round_of({{1, 3}, {0, 2}}), 4), 2}};
  RandomRounds rounds{[&](const Matrix& s) {
                        Matrix sum = Matrix::Zero(4, 4);
                        for (const TimedMatrix& choice : choices)
                          sum += choice.w * s * choice.w.transpose() / 3;
                        return sum;
                      },
                      3.5 / 3, (0.25 + 1 + 4) / 3};
  const double expected_s = score_random(rounds, 4).disagreement_s;
  Random random(kSeed);
  std::vector<TimedMatrix> drawn;
  for (int i = 0; i < 100000; ++i) drawn.push_back(choices[random.below(3)]);
  EXPECT_NEAR(played_disagreement(drawn, 1, random), expected_s, 0.03 * expected_s);
}

TEST(FullClique, HasTheReferenceValues) {
  const TestScene both(shipped_network("nine-city.yaml", "access-limited"), {true, Aggregation::kEdge}, 1e9);
  EXPECT_NEAR(full_clique(both.scene(), Family::kDirect)->disagreement_s, 1.2893, 5e-5);
  const TestScene none(shipped_network("nine-city.yaml", "testnet10"), {false, Aggregation::kNone}, 1e9);
  EXPECT_NEAR(full_clique(none.scene(), Family::kDirect)->disagreement_s, 11.956, 5e-4);
}

TEST(GeographicGrid, HasTheReferenceValues) {
  const TestScene none(shipped_network("nine-city.yaml", "access-limited"), {false, Aggregation::kNone}, 1e9);
  EXPECT_NEAR(geographic_grid(none.scene())->disagreement_s, 2.6745, 5e-5);
  const TestScene core(shipped_network("nine-city.yaml", "testnet10"), {false, Aggregation::kNone}, 1e9);
  EXPECT_NEAR(geographic_grid(core.scene())->disagreement_s, 3.253, 5e-4);
}

/// The closed form by symmetry against the general one over all matchings.
TEST(RandomMatchings, ClosedFormIsTheSumOverAllMatchings) {
  for (const std::size_t n : {3, 4, 5}) {
    const TestScene test(equal_network(n, 8), {true, Aggregation::kEdge}, 1e9);
    // All pairs alike: every matching takes 1 s. Matchings listed by hand as pairs, one island left out if n
    // is odd.
    std::vector<std::vector<std::vector<Rank>>> all;
    if (n == 3) all = {{{0, 1}}, {{0, 2}}, {{1, 2}}};
    if (n == 4) all = {{{0, 1}, {2, 3}}, {{0, 2}, {1, 3}}, {{0, 3}, {1, 2}}};
    if (n == 5)
      for (Rank out = 0; out < 5; ++out) {
        std::vector<Rank> in;
        for (Rank rank = 0; rank < 5; ++rank)
          if (rank != out) in.push_back(rank);
        all.push_back({{in[0], in[1]}, {in[2], in[3]}});
        all.push_back({{in[0], in[2]}, {in[1], in[3]}});
        all.push_back({{in[0], in[3]}, {in[1], in[2]}});
      }
    const RandomRounds rounds{[&](const Matrix& s) {
                                Matrix sum = Matrix::Zero(s.rows(), s.cols());
                                for (const auto& pairs : all) {
                                  const Matrix w = averaging_matrix(round_of(pairs), n);
                                  sum += w * s * w / static_cast<double>(all.size());
                                }
                                return sum;
                              },
                              1, 1};
    const auto row = random_matchings(test.scene());
    ASSERT_TRUE(row.ok());
    EXPECT_NEAR(row->cycle_s, 1, 1e-9);
    EXPECT_NEAR(row->disagreement_s, score_random(rounds, n).disagreement_s, 1e-8) << n;
    EXPECT_NEAR(row->r_per_s, score_random(rounds, n).r_per_s, 1e-8) << n;
    EXPECT_EQ(row->choices, fmt::format("all {} matchings", all.size()));
  }
}

TEST(Hierarchical, WeightedLeadersReachTheMeanOfAll) {
  const std::vector<std::vector<Rank>> regions{{0, 2, 4}, {1}, {3, 5}};
  const std::vector<Matrix> rounds = leader_rounds(regions, {2, 1, 3});
  const Matrix product = rounds[1] * rounds[0] * averaging_matrix(round_of(regions), 6);
  EXPECT_TRUE(product.isApprox(mean_matrix(6), 1e-12));
}

TEST(StaticPartition, ClosedFormIsTheScoreOfTheCycle) {
  const std::vector<std::vector<Rank>> parts{{0, 1, 2}, {3, 4}, {5}};
  const std::vector<TimedMatrix> cycle{{averaging_matrix(round_of(parts), 6), 0.7}, {mean_matrix(6), 1.9}};
  EXPECT_NEAR(partition_and_full_disagreement_s(0.7, 1.9, 3, 6), score_cycle(cycle).disagreement_s, 1e-12);
}

/// Every partition of five islands, listed by counting in base five, scored by measure_mixing.
TEST(StaticPartition, IsTheBestOfAllPartitions) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    Network network = random_network(random);
    while (network.islands.size() != 5) network = random_network(random);
    const TestScene test(network, {false, Aggregation::kNone}, 1e8);
    const Round full{{{0, 1, 2, 3, 4}}};
    double best_s = std::numeric_limits<double>::infinity();
    for (int code = 0; code < 5 * 5 * 5 * 5 * 5; ++code) {
      std::vector<std::vector<Rank>> parts(5);
      for (int i = 0, rest = code; i < 5; ++i, rest /= 5)
        parts[static_cast<std::size_t>(rest % 5)].push_back(static_cast<Rank>(i));
      const Round round = round_of(parts);
      if (round.cliques.empty()) continue;
      const std::vector<double> seconds{*test.scene().clique_time_s(round),
                                        *test.scene().clique_time_s(full)};
      best_s = std::min(best_s, measure_mixing({"", {round, full}}, seconds, 5)->disagreement_s);
    }
    EXPECT_NEAR(static_partition_and_full(test.scene())->disagreement_s, best_s, 1e-9 * best_s);
  }
}

/// H steps of rest, then a full clique of T: by hand, S starts the rest at T (I - J) and the clique at (H +
/// T)(I - J).
TEST(Diloco, IsTheHandComputedCycle) {
  const TestScene test(equal_network(4, 8), {true, Aggregation::kEdge}, 1e9, 0.5);
  const auto row = diloco(test.scene(), 10);
  ASSERT_TRUE(row.ok());
  const double full_s = 1;
  const double rest_s = 5;
  const double expected_s = 3 * (rest_s * (full_s + rest_s / 2) + full_s * (full_s + rest_s + full_s / 2)) /
                            (4 * (rest_s + full_s));
  EXPECT_NEAR(row->disagreement_s, expected_s, 1e-9);
  EXPECT_NEAR(row->cycle_s, 6, 1e-9);
}

}  // namespace
}  // namespace tombolo::schedule::baselines
