#include "schedule/optimize/random.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <bit>
#include <cmath>

#include "schedule/random_network.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

using Eigen::MatrixXd;

const Capabilities kNone{false, Aggregation::kNone, Family::kDirect};
const Capabilities kBoth{true, Aggregation::kEdge, Family::kDirect};

MatrixXd identity_without_average(const Partition& sets, std::size_t n) {
  MatrixXd l = MatrixXd::Identity(n, n);
  for (const IslandSet set : sets)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if ((set >> i & 1) != 0 && (set >> j & 1) != 0) l(i, j) -= 1.0 / std::popcount(set);
  return l;
}

/// lambda_2 of sum p (I - W) / sum p T, with times by the round model.
double achieved_per_s(const RandomSchedule& schedule, const Problem& problem) {
  MatrixXd sum = MatrixXd::Zero(problem.islands(), problem.islands());
  double mean_s = 0;
  double all = 0;
  for (const auto& entry : schedule.entries) {
    const auto time = problem.model().time(to_round(entry.round.sets), problem.update_bytes());
    EXPECT_TRUE(time.ok());
    sum += entry.probability * identity_without_average(entry.round.sets, problem.islands());
    mean_s += entry.probability * time->seconds;
    all += entry.probability;
  }
  EXPECT_NEAR(all, 1, 1e-12);
  return Eigen::SelfAdjointEigenSolver<MatrixXd>(sum).eigenvalues()(1) / mean_s;
}

void expect_nine_cities(const std::string& profile, const Capabilities& capabilities, double low,
                        double high) {
  SCOPED_TRACE(profile);
  const Network network = shipped_network("nine-city.yaml", profile);
  const Problem problem(network, capabilities, 1e9);
  const auto schedule = optimal_random(problem);
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  EXPECT_LE(schedule->gap, 0.005);
  EXPECT_LE(schedule->r_iid_per_s, high);
  EXPECT_GE(schedule->bound_per_s, low);
  EXPECT_NEAR(schedule->r_iid_per_s, achieved_per_s(*schedule, problem), 1e-9);
}

TEST(OptimalRandom, EnclosesTheReferenceValues) {
  expect_nine_cities("access-limited", kNone, 0.551865, 0.551875);
  expect_nine_cities("access-limited", kBoth, 1.034125, 1.034135);
  expect_nine_cities("testnet10", kBoth, 0.40385, 0.40495);
}

/// The same two-person game played by matrix multiplicative weights over all rounds: its average rounds
/// achieve `low`, its average weights prove `high`.
struct Played {
  double low = 0;
  double high = 0;
};
Played played(const Problem& problem, int turns) {
  const std::size_t n = problem.islands();
  std::vector<MatrixXd> rates;
  double largest = 0;
  for_each_partition(n, [&](const Partition& sets) {
    if (sets.size() == n) return;
    const double seconds = problem.model().time(to_round(sets), problem.update_bytes())->seconds;
    rates.push_back(identity_without_average(sets, n) / seconds);
    largest = std::max(largest, 1 / seconds);
  });
  const MatrixXd mean = MatrixXd::Constant(n, n, 1.0 / static_cast<double>(n));
  MatrixXd sum = MatrixXd::Zero(n, n);
  MatrixXd weights = MatrixXd::Zero(n, n);
  const double eta = std::sqrt(std::log(static_cast<double>(n)) / turns) / largest * 4;
  for (int turn = 0; turn < turns; ++turn) {
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(sum + 1e6 * largest * mean);
    const Eigen::VectorXd power = (-eta * (eigen.eigenvalues().array() - eigen.eigenvalues()(0))).exp();
    MatrixXd x = eigen.eigenvectors() * power.asDiagonal() * eigen.eigenvectors().transpose();
    x /= x.trace();
    weights += x / turns;
    std::size_t best = 0;
    for (std::size_t i = 1; i < rates.size(); ++i)
      if ((x.cwiseProduct(rates[i])).sum() > (x.cwiseProduct(rates[best])).sum()) best = i;
    sum += rates[best];
  }
  Played result;
  result.low = Eigen::SelfAdjointEigenSolver<MatrixXd>(sum / turns + 1e3 * largest * mean).eigenvalues()(0);
  for (const MatrixXd& rate : rates) result.high = std::max(result.high, weights.cwiseProduct(rate).sum());
  return result;
}

TEST(OptimalRandom, AgreesWithAnotherMethodOverAllRounds) {
  for (std::uint64_t seed = 1; seed <= (TOMBOLO_LONG_TESTS ? 100 : 12); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const std::size_t n = 3 + seed % 3;
    const Network network = random_network(seed, n);
    const Problem problem(network, seed % 2 == 0 ? kNone : kBoth, 5e8);
    const auto schedule = optimal_random(problem);
    ASSERT_TRUE(schedule.ok());
    EXPECT_LE(schedule->gap, 0.005);
    EXPECT_NEAR(schedule->r_iid_per_s, achieved_per_s(*schedule, problem), 1e-9);
    const Played other = played(problem, 3000);
    ASSERT_LT(other.high, other.low * 1.1);  // Or the comparison would say little.
    EXPECT_LE(schedule->r_iid_per_s, other.high * (1 + 1e-9));
    EXPECT_GE(schedule->bound_per_s, other.low * (1 - 1e-9));
  }
}

TEST(OptimalRandom, ProvesTwelveSites) {
  for (std::uint64_t seed = 1; seed <= (TOMBOLO_LONG_TESTS ? 20 : 1); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const Network network = random_network(seed, TOMBOLO_LONG_TESTS ? 12 : 10);
    const Problem problem(network, kBoth, 1e9);
    const auto schedule = optimal_random(problem);
    ASSERT_TRUE(schedule.ok());
    EXPECT_LT(schedule->gap, 0.005);
  }
}

TEST(OptimalRandom, IsTheSameAgain) {
  const Network network = random_network(5, 7);
  const Problem problem(network, kNone, 1e9);
  const auto once = optimal_random(problem);
  const auto again = optimal_random(problem);
  ASSERT_TRUE(once.ok() && again.ok());
  EXPECT_EQ(once->r_iid_per_s, again->r_iid_per_s);
  ASSERT_EQ(once->entries.size(), again->entries.size());
  for (std::size_t i = 0; i < once->entries.size(); ++i)
    EXPECT_EQ(once->entries[i].round.sets, again->entries[i].round.sets);
}

TEST(OptimalRandom, RefusesWhatItCannotProve) {
  const Network network = random_network(1, 13);
  const Problem problem(network, kNone, 1e9);
  const auto schedule = optimal_random(problem);
  ASSERT_FALSE(schedule.ok());
  EXPECT_EQ(schedule.error().code, ErrorCode::kNotSupported);
  const Network alone = random_network(1, 1);
  EXPECT_FALSE(optimal_random(Problem(alone, kNone, 1e9)).ok());
}

}  // namespace
}  // namespace tombolo::schedule
