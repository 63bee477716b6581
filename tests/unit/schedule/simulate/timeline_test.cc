#include "schedule/simulate/timeline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tombolo::schedule {
namespace {

WeightedRounds two_rounds() {
  const Schedule schedule{"two", {{{{0, 2}}}, {{{0, 1, 2}}}}};
  const std::vector<double> seconds{0.5, 0.25};
  return weighted_rounds(schedule, seconds, 4);
}

TEST(Timeline, WeightsOfCliques) {
  const WeightedRounds rounds = two_rounds();
  Eigen::MatrixXd pair(4, 4);
  pair << 0.5, 0, 0.5, 0, 0, 1, 0, 0, 0.5, 0, 0.5, 0, 0, 0, 0, 1;
  EXPECT_EQ(rounds.weights[0], pair);
  EXPECT_NEAR(rounds.weights[1](0, 1), 1.0 / 3, 1e-15);
  EXPECT_EQ(rounds.weights[1](3, 3), 1);
}

TEST(Timeline, RoundsFollowOneAnother) {
  Random random(1);
  const auto timeline = make_timeline(two_rounds(), 4, 1.3, random);
  ASSERT_TRUE(timeline.ok()) << timeline.error().message;
  const std::vector<std::int64_t> ends_ms{500, 750, 1250, 1500};
  ASSERT_EQ(timeline->exchanges.size(), ends_ms.size());
  std::int64_t begin_ms = 0;
  for (std::size_t e = 0; e < ends_ms.size(); ++e) {
    EXPECT_EQ(timeline->exchanges[e].sent_ns, begin_ms * 1000000);
    EXPECT_EQ(timeline->exchanges[e].arrives_ns, ends_ms[e] * 1000000);
    EXPECT_EQ(timeline->exchanges[e].weights, e % 2);
    begin_ms = ends_ms[e];
  }
}

TEST(Timeline, DrawnRoundsComeAsOftenAsTheyShould) {
  constexpr std::uint64_t kSeed = 5;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  WeightedRounds rounds = two_rounds();
  rounds.seconds = {0.001, 0.001};
  rounds.probability = {0.2, 0.8};
  Random random(kSeed);
  const auto timeline = make_timeline(rounds, 4, 10, random);
  ASSERT_TRUE(timeline.ok());
  ASSERT_EQ(timeline->exchanges.size(), 10000U);
  double first = 0;
  for (const Averaging& exchange : timeline->exchanges) first += exchange.weights == 0 ? 1 : 0;
  EXPECT_NEAR(first, 2000, 5 * std::sqrt(10000 * 0.2 * 0.8));
  rounds.probability = {0, 1};
  const auto always = make_timeline(rounds, 4, 10, random);
  for (const Averaging& exchange : always->exchanges) ASSERT_EQ(exchange.weights, 1U);
}

TEST(Timeline, RefusesWhatDoesNotFit) {
  const auto refused = [](void (*change)(WeightedRounds&), double duration_s, const char* said) {
    WeightedRounds rounds = two_rounds();
    change(rounds);
    Random random(1);
    const auto timeline = make_timeline(rounds, 4, duration_s, random);
    ASSERT_FALSE(timeline.ok()) << said;
    EXPECT_NE(timeline.error().message.find(said), std::string::npos) << timeline.error().message;
  };
  refused([](WeightedRounds& rounds) { rounds = {}; }, 1, "0 rounds");
  refused([](WeightedRounds& rounds) { rounds.seconds = {1}; }, 1, "2 rounds, 1 times");
  refused([](WeightedRounds& rounds) { rounds.probability = {1}; }, 1, "1 probabilities");
  refused([](WeightedRounds& rounds) { rounds.probability = {0.6, 0.6}; }, 1, "sum to 1.2");
  refused([](WeightedRounds& rounds) { rounds.probability = {-1, 2}; }, 1, "round 0: probability -1");
  refused([](WeightedRounds& rounds) { rounds.seconds[1] = 0; }, 1, "round 1 takes 0 s");
  refused([](WeightedRounds& rounds) { rounds.seconds[1] = std::numeric_limits<double>::infinity(); }, 1,
          "round 1 takes inf s");
  refused([](WeightedRounds& rounds) { rounds.weights[0].resize(3, 3); }, 1, "3 x 3 for 4 islands");
  refused([](WeightedRounds& rounds) { rounds.weights[0](0, 1) = 0.1; }, 1, "do not sum to 1");
  refused([](WeightedRounds& rounds) { rounds.seconds = {1e-6, 1e-6}; }, 2, "more than 1000000 rounds");
}

}  // namespace
}  // namespace tombolo::schedule
