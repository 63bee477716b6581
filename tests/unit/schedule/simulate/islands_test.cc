#include "schedule/simulate/islands.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/schedule/simulate/small_dataset.h"

namespace tombolo::schedule {
namespace {

constexpr std::uint64_t kSeed = 11;

Islands make_islands(const Dataset& dataset, std::uint64_t seed = kSeed) {
  auto islands = Islands::create(dataset, 4, small_training(seed));
  EXPECT_TRUE(islands.ok());
  return *islands;
}

TEST(Islands, AllBeginAlikeAndDriftApart) {
  const Dataset dataset = small_dataset(kSeed);
  Islands islands = make_islands(dataset);
  EXPECT_EQ(islands.parameters(), islands.parameters().col(0).replicate(1, 4));
  EXPECT_EQ(islands.measure(0).distance, 0);
  for (int i = 0; i < 50; ++i) islands.step();
  const Point point = islands.measure(5);
  EXPECT_EQ(point.time_s, 5);
  // The distance by its definition, in another order of sums.
  double expected = 0;
  for (Eigen::Index a = 0; a < 4; ++a)
    for (Eigen::Index b = 0; b < 4; ++b)
      expected +=
          static_cast<double>((islands.parameters().col(a) - islands.parameters().col(b)).squaredNorm());
  EXPECT_NEAR(point.distance, expected / (2 * 16), 1e-4 * expected);
  // Each has learned its own label, and little of the others'.
  EXPECT_GT(point.islands.loss, point.mean_model.loss);
}

TEST(Islands, ColocatedTrainingLearnsAndKeepsThemAlike) {
  const Dataset dataset = small_dataset(kSeed);
  Islands islands = make_islands(dataset);
  const double before = islands.measure(0).mean_model.loss;
  for (int i = 0; i < 200; ++i) islands.step_together();
  EXPECT_EQ(islands.parameters(), islands.parameters().col(0).replicate(1, 4));
  const Point after = islands.measure(0);
  EXPECT_LT(after.mean_model.loss, before / 3);
  EXPECT_GT(after.mean_model.accuracy, 0.95);
}

TEST(Islands, OneSeedOneOutcome) {
  const Dataset dataset = small_dataset(kSeed);
  Islands one = make_islands(dataset);
  Islands again = make_islands(dataset);
  Islands other = make_islands(dataset, kSeed + 1);
  EXPECT_NE(one.parameters(), other.parameters());
  for (int i = 0; i < 20; ++i) {
    one.step();
    again.step();
  }
  EXPECT_EQ(one.parameters(), again.parameters());
  EXPECT_EQ(one.measure(0).islands.loss, again.measure(0).islands.loss);
}

TEST(Islands, RefusesOptionsOutOfRange) {
  const Dataset dataset = small_dataset(kSeed);
  const auto refused = [&](void (*change)(TrainingOptions&), const char* said) {
    TrainingOptions options = small_training(kSeed);
    change(options);
    const auto islands = Islands::create(dataset, 4, options);
    ASSERT_FALSE(islands.ok()) << said;
    EXPECT_EQ(islands.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(islands.error().message.find(said), std::string::npos) << islands.error().message;
  };
  refused([](TrainingOptions& options) { options.hidden = 0; }, "hidden layer of 0");
  refused([](TrainingOptions& options) { options.batch = 0; }, "batch of 0");
  refused([](TrainingOptions& options) { options.learning_rate = 0; }, "learning rate 0");
  refused([](TrainingOptions& options) { options.learning_rate = std::numeric_limits<double>::infinity(); },
          "learning rate inf");
  refused([](TrainingOptions& options) { options.skew = 2; }, "skew 2");
  refused([](TrainingOptions& options) { options.test_samples = 61; }, "61 test samples; must be 1 to 60");
  EXPECT_FALSE(Islands::create(dataset, 0, small_training(kSeed)).ok());
}

}  // namespace
}  // namespace tombolo::schedule
