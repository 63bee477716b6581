#include "schedule/simulate/methods.h"

#include <gtest/gtest.h>

#include <vector>

#include "schedule/mixing.h"
#include "schedule/routes.h"
#include "tests/unit/schedule/simulate/small_dataset.h"

namespace tombolo::schedule {
namespace {

constexpr std::uint64_t kSeed = 2;

/// Two sites, 10 ms apart; 1 Gbit/s everywhere.
Network two_sites() {
  Network network;
  network.site_names = {"A", "B"};
  network.islands = {{"A", 0}, {"B", 1}};
  network.egress_bps = network.ingress_bps = {1000000000, 1000000000};
  network.links = {{0, 1, 10000000, 20000000, 1000000000}, {1, 0, 10000000, 20000000, 1000000000}};
  return network;
}

TEST(Methods, ScheduledTakesTimesFromTheModel) {
  const Network network = two_sites();
  const Routes routes(network);
  const RoundModel model(network, routes, {});
  const Schedule schedule{"full", {{{{0, 1}}}}};
  const auto method = scheduled_method("ours", schedule, model, 1e8, 2);
  ASSERT_TRUE(method.ok()) << method.error().message;
  EXPECT_NEAR(method->cycle_s, 0.01 + 0.8, 1e-9);
  EXPECT_NEAR(method->disagreement_s, 1.5 * 0.81 / 2, 1e-9);
  EXPECT_TRUE(method->keeps_to_rounds());
  EXPECT_FALSE(scheduled_method("ours", schedule, model, 0, 2).ok());
}

TEST(Methods, ExactAveragingHasItsD) {
  EXPECT_NEAR(exact_method("ring", 2, 9).disagreement_s, 1.5 * 2 * 8 / 9, 1e-12);
}

TEST(Methods, RestThenFullBySummingSteps) {
  // Independent walks of 2 islands, a full exchange of 0.3 s after 0.5 s of rest; the variance of an island
  // about the mean grows by half per second and an exchange takes away what was there at its start.
  constexpr double kStep = 1e-4;
  double variance = 0;
  double integral = 0;
  double total_s = 0;
  for (int cycle = 0; cycle < 4; ++cycle) {
    double at_start = 0;
    for (int step = 0; step < 8000; ++step) {
      if (step == 5000) at_start = variance;
      if (cycle == 3) {
        integral += (variance + kStep / 4) * kStep;
        total_s += kStep;
      }
      variance += kStep / 2;
    }
    variance -= at_start;
  }
  EXPECT_NEAR(rest_then_full_disagreement_s(0.5, 0.3, 2), integral / total_s, 1e-9);
}

TEST(Methods, OuterMethodsAreWhatTheirPapersSay) {
  const OuterSetting setting{20, 0.1, 9};
  const Method fed_avg = fed_avg_method(setting, 3);
  EXPECT_EQ(fed_avg.cycle_s, 5);
  EXPECT_FALSE(fed_avg.keeps_to_rounds());
  const auto& mean = std::get<OuterOptions>(fed_avg.how);
  EXPECT_TRUE(mean.blocking);
  EXPECT_EQ(mean.learning_rate, 1);
  EXPECT_EQ(mean.momentum, 0);
  const Method diloco = diloco_method(setting, 3);
  const auto& nesterov = std::get<OuterOptions>(diloco.how);
  EXPECT_TRUE(nesterov.blocking);
  EXPECT_EQ(nesterov.learning_rate, 0.7);
  EXPECT_EQ(nesterov.momentum, 0.9);
  // Four fragments in 2 s, as each takes 0.2 s; or one after the other when each takes 1 s.
  EXPECT_EQ(streaming_diloco_method(setting, 4, 0.2).cycle_s, 2);
  EXPECT_EQ(streaming_diloco_method(setting, 4, 1).cycle_s, 4);
  EXPECT_FALSE(std::get<OuterOptions>(streaming_diloco_method(setting, 4, 1).how).blocking);
}

TEST(Methods, EveryKindRuns) {
  const Dataset dataset = small_dataset(kSeed);
  const Course course{0.1, 2, 0.5};
  const OuterSetting setting{5, 0.1, 3};
  std::vector<std::pair<Method, std::uint64_t>> methods;  // With the steps that islands make.
  methods.emplace_back(colocated_method(), 20);
  methods.emplace_back(exact_method("ring", 0.3, 3), 20);
  methods.emplace_back(fed_avg_method(setting, 0.5), 10);
  methods.emplace_back(diloco_method(setting, 0.5), 10);
  methods.emplace_back(streaming_diloco_method(setting, 2, 0.1), 20);
  for (const auto& [method, steps] : methods) {
    Islands islands = *Islands::create(dataset, 3, small_training(kSeed));
    Random random(kSeed);
    const auto curve = simulate_method(islands, method, course, random);
    ASSERT_TRUE(curve.ok()) << method.name << ": " << curve.error().message;
    EXPECT_EQ(curve->steps, steps) << method.name;
    EXPECT_EQ(curve->points.size(), 5U);
    EXPECT_EQ(method_steady_drift_s(method, 3, 2, random).has_value(), method.keeps_to_rounds());
  }
}

}  // namespace
}  // namespace tombolo::schedule
