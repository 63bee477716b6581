#include "schedule/simulate/steady_drift.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tombolo::schedule {
namespace {

constexpr std::uint64_t kSeed = 9;

TEST(SteadyDrift, OneFullClique) {
  for (const std::size_t islands : {2, 5, 9}) {
    const double n = static_cast<double>(islands);
    const auto size = static_cast<Eigen::Index>(islands);
    const WeightedRounds rounds{{Eigen::MatrixXd::Constant(size, size, 1 / n)}, {0.7}, {}};
    Random random(kSeed);
    const auto timeline = make_timeline(rounds, islands, 20, random);
    ASSERT_TRUE(timeline.ok());
    EXPECT_NEAR(steady_drift_s(*timeline, islands), 0.7 * std::sqrt(7.0 / 3 * (n - 1) / n), 1e-12);
  }
}

TEST(SteadyDrift, IsWhatDriftingIslandsShow) {
  // Islands with drawn velocities, moved in small steps; the variance of the mean of many runs is small.
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  const Schedule schedule{"pairs", {{{{0, 1}, {2, 3}}}, {{{1, 2}}}}};
  const std::vector<double> seconds{0.5, 0.3};
  const auto timeline = make_timeline(weighted_rounds(schedule, seconds, 4), 4, 40, random);
  ASSERT_TRUE(timeline.ok());
  double sum = 0;
  double count = 0;
  for (int run = 0; run < 400; ++run) {
    Eigen::Vector4d velocity;
    // Uniform with unit variance.
    for (double& value : velocity) value = (2 * random.unit() - 1) * std::sqrt(3.0);
    Eigen::Vector4d x = Eigen::Vector4d::Zero();
    for (std::size_t e = 0; e < timeline->exchanges.size(); ++e) {
      const Averaging& exchange = timeline->exchanges[e];
      const Eigen::Vector4d sent = x;
      const double step_s = static_cast<double>(exchange.arrives_ns - exchange.sent_ns) * 1e-9 / 20;
      for (int step = 0; step < 20; ++step) {
        x += velocity * step_s / 2;
        if (e >= timeline->exchanges.size() / 2) {
          sum += step_s * (x.array() - x.mean()).square().mean();
          count += step_s;
        }
        x += velocity * step_s / 2;
      }
      x = timeline->weights[exchange.weights] * sent + (x - sent);
    }
  }
  EXPECT_NEAR(std::sqrt(sum / count) / steady_drift_s(*timeline, 4), 1, 0.06);
}

}  // namespace
}  // namespace tombolo::schedule
