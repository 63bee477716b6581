#include "schedule/simulate/simulate.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/schedule/simulate/small_dataset.h"

namespace tombolo::schedule {
namespace {

constexpr std::uint64_t kSeed = 3;
constexpr std::int64_t kMs = 1000000;
constexpr Course kCourse{0.1, 4, 0.5};  // 40 steps, 9 points.

class Simulate : public testing::Test {
 protected:
  Islands islands() const { return *Islands::create(dataset_, 4, small_training(kSeed)); }

  /// All four islands average.
  static Eigen::MatrixXd mean_of_all() { return Eigen::MatrixXd::Constant(4, 4, 0.25); }

  Dataset dataset_ = small_dataset(kSeed);
};

void expect_close(const Eigen::MatrixXf& a, const Eigen::MatrixXf& b) {
  EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-5F);
}

TEST_F(Simulate, FullAveragingWithoutDelayIsColocatedTraining) {
  Islands colocated = islands();
  const auto expected = simulate_colocated(colocated, kCourse);
  ASSERT_TRUE(expected.ok());
  EXPECT_EQ(expected->steps, 40U);
  ASSERT_EQ(expected->points.size(), 9U);
  EXPECT_EQ(expected->points[8].time_s, 4);

  Timeline timeline{{mean_of_all()}, {}, 1};
  for (std::int64_t step = 1; step <= 40; ++step)
    timeline.exchanges.push_back({step * 100 * kMs, step * 100 * kMs, 0, 0});
  Islands averaging = islands();
  const auto curve = simulate_timeline(averaging, timeline, kCourse);
  ASSERT_TRUE(curve.ok());
  EXPECT_EQ(curve->steps, 40U);
  expect_close(averaging.parameters(), colocated.parameters());
  for (std::size_t i = 0; i < curve->points.size(); ++i)
    EXPECT_NEAR(curve->points[i].islands.loss, expected->points[i].islands.loss, 1e-5);

  // The same by an outer optimizer that takes the plain mean after every step.
  OuterOptions outer;
  outer.local_steps = 1;
  outer.exchange_s = 0;
  Islands federated = islands();
  ASSERT_TRUE(simulate_outer(federated, outer, kCourse).ok());
  expect_close(federated.parameters(), colocated.parameters());
}

TEST_F(Simulate, AResultIsAddedToWhatWasTrainedMeanwhile) {
  // Sent after 2 steps, there after 5, while a second exchange of a pair is under way.
  Eigen::MatrixXd pair = Eigen::MatrixXd::Identity(4, 4);
  pair(0, 0) = pair(0, 1) = pair(1, 0) = pair(1, 1) = 0.5;
  const Timeline timeline{
      {mean_of_all(), pair}, {{200 * kMs, 550 * kMs, 0, 0}, {300 * kMs, 600 * kMs, 1, 0}}, 1};
  Islands simulated = islands();
  ASSERT_TRUE(simulate_timeline(simulated, timeline, {0.1, 0.7, 0.7}).ok());

  Islands expected = islands();
  const auto steps = [&](int count) {
    for (int i = 0; i < count; ++i) expected.step();
  };
  Eigen::MatrixXf& x = expected.parameters();
  steps(2);
  const Eigen::MatrixXf first = x;
  steps(1);
  const Eigen::MatrixXf second = x;
  steps(2);
  x = (first.rowwise().mean().replicate(1, 4) + (x - first)).eval();
  steps(1);
  for (const Eigen::Index island : {0, 1})
    x.col(island) += (second.col(0) + second.col(1)) / 2 - second.col(island);
  steps(1);
  expect_close(simulated.parameters(), x);
}

TEST_F(Simulate, FragmentsAreExchangedApart) {
  // Only the second of two parts is ever averaged.
  const Timeline timeline{{mean_of_all()}, {{100 * kMs, 200 * kMs, 0, 1}}, 2};
  Islands simulated = islands();
  ASSERT_TRUE(simulate_timeline(simulated, timeline, {0.1, 0.2, 0.1}).ok());
  Islands alone = islands();
  alone.step();
  const Eigen::MatrixXf sent = alone.parameters();
  alone.step();
  const Eigen::Index half = sent.rows() / 2;
  EXPECT_EQ(simulated.parameters().topRows(half), alone.parameters().topRows(half));
  expect_close(simulated.parameters().bottomRows(sent.rows() - half) -
                   alone.parameters().bottomRows(sent.rows() - half),
               (sent.rowwise().mean().replicate(1, 4) - sent).bottomRows(sent.rows() - half));
}

TEST_F(Simulate, WhatIsLateChangesNothing) {
  const Timeline timeline{{mean_of_all()}, {{100 * kMs, 4001 * kMs, 0, 0}}, 1};
  Islands simulated = islands();
  ASSERT_TRUE(simulate_timeline(simulated, timeline, kCourse).ok());
  Islands alone = islands();
  for (int i = 0; i < 40; ++i) alone.step();
  EXPECT_EQ(simulated.parameters(), alone.parameters());
}

TEST_F(Simulate, BlockingIslandsStandStill) {
  // 4 s: two steps, then 0.3 s of standing still, and so on: eight times 0.5 s.
  OuterOptions outer;
  outer.local_steps = 2;
  outer.exchange_s = 0.3;
  Islands federated = islands();
  const auto curve = simulate_outer(federated, outer, kCourse);
  ASSERT_TRUE(curve.ok());
  EXPECT_EQ(curve->steps, 16U);
  Islands expected = islands();
  for (int round = 0; round < 8; ++round) {
    expected.step();
    expected.step();
    expected.parameters() = expected.parameters().rowwise().mean().replicate(1, 4).eval();
  }
  expect_close(federated.parameters(), expected.parameters());
  // An exchange that the end cuts off still blocks.
  Islands cut = islands();
  EXPECT_EQ(simulate_outer(cut, outer, {0.1, 0.4, 0.1})->steps, 2U);
}

TEST_F(Simulate, OuterStepsHaveNesterovMomentum) {
  OuterOptions outer;
  outer.local_steps = 3;
  outer.exchange_s = 0.1;
  outer.learning_rate = 0.7;
  outer.momentum = 0.9;
  Islands simulated = islands();
  ASSERT_TRUE(simulate_outer(simulated, outer, {0.1, 0.8, 0.8}).ok());
  Islands expected = islands();
  Eigen::VectorXf anchor = expected.parameters().col(0);
  Eigen::VectorXf velocity = Eigen::VectorXf::Zero(anchor.size());
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 3; ++i) expected.step();
    const Eigen::VectorXf change = anchor - expected.parameters().rowwise().mean();
    velocity = 0.9F * velocity + change;
    anchor -= 0.7F * (change + 0.9F * velocity);
    expected.parameters() = anchor.replicate(1, 4);
  }
  expect_close(simulated.parameters(), expected.parameters());
}

TEST_F(Simulate, StreamingOverlapsAndKeepsAShare) {
  // Two fragments, one sent every two steps, there one step later, half of an island's own kept.
  OuterOptions outer;
  outer.local_steps = 4;
  outer.fragments = 2;
  outer.exchange_s = 0.1;
  outer.blocking = false;
  outer.kept = 0.5;
  Islands simulated = islands();
  const auto curve = simulate_outer(simulated, outer, {0.1, 0.6, 0.6});
  ASSERT_TRUE(curve.ok());
  EXPECT_EQ(curve->steps, 6U);
  Islands expected = islands();
  Eigen::MatrixXf& x = expected.parameters();
  const Eigen::Index half = x.rows() / 2;
  const auto exchange = [&](Eigen::Index begin, Eigen::Index rows) {
    const Eigen::VectorXf mean = x.middleRows(begin, rows).rowwise().mean();
    expected.step();
    x.middleRows(begin, rows) = 0.5F * (x.middleRows(begin, rows).colwise() + mean).eval();
  };
  expected.step();
  expected.step();
  exchange(0, half);
  expected.step();
  exchange(half, x.rows() - half);
  expected.step();
  expect_close(simulated.parameters(), x);
  // A slow network makes fragments wait for one another: at 0.25, 0.5 and (too late to arrive) 0.75 s.
  outer.exchange_s = 0.25;
  outer.kept = 0;
  Islands waiting = islands();
  ASSERT_TRUE(simulate_outer(waiting, outer, {0.1, 0.6, 0.6}).ok());
  const Eigen::MatrixXf& w = waiting.parameters();
  EXPECT_NE(w.bottomRows(1), w.bottomRows(1).col(0).replicate(1, 4).eval());
}

TEST_F(Simulate, OneSeedOneCurve) {
  const Timeline timeline{{mean_of_all()}, {{0, 300 * kMs, 0, 0}, {300 * kMs, 900 * kMs, 0, 0}}, 1};
  Islands one = islands();
  Islands again = islands();
  const auto first = simulate_timeline(one, timeline, kCourse);
  const auto second = simulate_timeline(again, timeline, kCourse);
  for (std::size_t i = 0; i < first->points.size(); ++i) {
    EXPECT_EQ(first->points[i].islands.loss, second->points[i].islands.loss);
    EXPECT_EQ(first->points[i].mean_model.loss, second->points[i].mean_model.loss);
    EXPECT_EQ(first->points[i].distance, second->points[i].distance);
  }
}

TEST_F(Simulate, RefusesWhatIsOutOfRange) {
  Islands some = islands();
  for (const Course course :
       {Course{0, 1, 1}, Course{1, 0, 1}, Course{1, 1, 0}, Course{1e-8, 1, 1}, Course{1, 1e6, 1}})
    EXPECT_FALSE(simulate_colocated(some, course).ok());
  const Eigen::MatrixXd three = Eigen::MatrixXd::Identity(3, 3);
  for (const Timeline& timeline :
       {Timeline{{three}, {}, 1}, Timeline{{mean_of_all()}, {{5, 4, 0, 0}}, 1},
        Timeline{{mean_of_all()}, {{4, 5, 1, 0}}, 1}, Timeline{{mean_of_all()}, {{4, 5, 0, 1}}, 1}})
    EXPECT_FALSE(simulate_timeline(some, timeline, kCourse).ok());
  const auto refused = [&](void (*change)(OuterOptions&)) {
    OuterOptions outer;
    change(outer);
    EXPECT_FALSE(simulate_outer(some, outer, kCourse).ok());
  };
  refused([](OuterOptions& outer) { outer.local_steps = 0; });
  refused([](OuterOptions& outer) { outer.fragments = 0; });
  refused([](OuterOptions& outer) { outer.exchange_s = -1; });
  refused([](OuterOptions& outer) { outer.learning_rate = 0; });
  refused([](OuterOptions& outer) { outer.momentum = 1; });
  refused([](OuterOptions& outer) { outer.kept = 1; });
}

/// On real images: the slower the round, the worse islands do.
TEST(SimulateFashionMnist, SlowerRoundsMakeIslandsWorse) {
  if (!std::filesystem::exists(kFashionMnistFolder))
    GTEST_SKIP() << "the package " << kFashionMnistPackage << " is not installed";
  const auto dataset = load_fashion_mnist();
  ASSERT_TRUE(dataset.ok()) << dataset.error().message;
  TrainingOptions training;
  training.seed = kSeed;
  training.test_samples = 500;
  const Course course{0.1, 15, 1};
  const auto make = [&] { return *Islands::create(*dataset, 9, training); };
  // The mean over the second half.
  const auto loss = [](const Curve& curve) {
    double sum = 0;
    for (std::size_t i = curve.points.size() / 2; i < curve.points.size(); ++i)
      sum += curve.points[i].islands.loss;
    return sum / static_cast<double>(curve.points.size() - curve.points.size() / 2);
  };
  Islands colocated = make();
  double before = loss(*simulate_colocated(colocated, course));
  EXPECT_LT(before, 1);
  for (const double seconds : {0.3, 1.0, 3.0}) {
    Random random(kSeed);
    const WeightedRounds rounds{{Eigen::MatrixXd::Constant(9, 9, 1.0 / 9)}, {seconds}, {}};
    Islands islands = make();
    const double now =
        loss(*simulate_timeline(islands, *make_timeline(rounds, 9, course.duration_s, random), course));
    EXPECT_GT(now, 1.1 * before) << seconds << " s";
    before = now;
  }
}

}  // namespace
}  // namespace tombolo::schedule
