#include "schedule/optimize/pricing.h"

#include <gtest/gtest.h>

#include <bit>

#include "base/random.h"
#include "schedule/random_network.h"

namespace tombolo::schedule {
namespace {

/// Positive semidefinite, rows of sum 0.
Eigen::MatrixXd random_weights(Random& random, std::size_t n) {
  Eigen::MatrixXd factor(n, 1 + random.below(n));
  for (auto& value : factor.reshaped()) value = random.unit() - 0.5;
  const Eigen::MatrixXd centred = factor.rowwise() - factor.colwise().mean();
  return centred * centred.transpose();
}

/// trace(X (I - W)) by the matrices themselves.
double removed(const Eigen::MatrixXd& x, const Partition& sets) {
  Eigen::MatrixXd w = Eigen::MatrixXd::Zero(x.rows(), x.cols());
  for (const IslandSet set : sets)
    for (int i = 0; i < x.rows(); ++i)
      for (int j = 0; j < x.cols(); ++j)
        if ((set >> i & 1) != 0 && (set >> j & 1) != 0) w(i, j) = 1.0 / std::popcount(set);
  return x.trace() - (x * w).trace();
}

TEST(Pricing, FindsTheBestOfAllRounds) {
  const std::vector<Capabilities> settings = {{false, Aggregation::kNone, Family::kDirect},
                                              {true, Aggregation::kEdge, Family::kDirect},
                                              {false, Aggregation::kNone, Family::kBest},
                                              {true, Aggregation::kTree, Family::kBest}};
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const std::size_t n = 2 + random.below(5);
    const Network network = random_network(seed, n);
    const Problem problem(network, settings[seed % settings.size()],
                          1e6 * static_cast<double>(1 + random.below(500)));
    Pricing pricing(problem);
    const Eigen::MatrixXd x = random_weights(random, n);
    double best = 0;
    for_each_partition(n, [&](const Partition& sets) {
      if (sets.size() == n) return;
      const auto time = problem.model().time(to_round(sets), problem.update_bytes());
      ASSERT_TRUE(time.ok());
      EXPECT_NEAR(pricing.timed(sets).seconds, time->seconds, 1e-9 * time->seconds);
      best = std::max(best, removed(x, sets) / time->seconds);
    });
    const auto answer = pricing.price(x, 0);
    EXPECT_TRUE(answer.complete);
    ASSERT_FALSE(answer.rounds.empty());
    EXPECT_NEAR(answer.bound_per_s, best, 1e-9 * best);
    const TimedRound& round = answer.rounds.back();
    EXPECT_NEAR(removed(x, round.sets) / round.seconds, best, 1e-9 * best);
    // Nothing is above the best, and the bound then says no more than was asked.
    const auto none = pricing.price(x, best * 1.001);
    EXPECT_TRUE(none.rounds.empty());
    EXPECT_DOUBLE_EQ(none.bound_per_s, best * 1.001);
  }
}

}  // namespace
}  // namespace tombolo::schedule
