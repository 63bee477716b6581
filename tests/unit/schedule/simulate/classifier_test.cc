#include "schedule/simulate/classifier.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tombolo::schedule {
namespace {

constexpr std::uint64_t kSeed = 7;

Eigen::MatrixXd random_matrix(Eigen::Index rows, Eigen::Index columns, Random& random) {
  Eigen::MatrixXd matrix(rows, columns);
  for (double& value : matrix.reshaped()) value = 2 * random.unit() - 1;
  return matrix;
}

TEST(Classifier, GradientIsThatOfFiniteDifferences) {
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  Classifier<double> classifier(5, 4, 3);
  ASSERT_EQ(classifier.parameters(), 5 * 4 + 4 + 4 * 3 + 3);
  const Eigen::MatrixXd inputs = random_matrix(5, 6, random);
  const std::vector<std::uint8_t> labels{0, 1, 2, 2, 1, 0};
  // Offsets too are away from 0.
  Eigen::VectorXd parameters = random_matrix(classifier.parameters(), 1, random);
  Eigen::VectorXd gradient(parameters.size());
  const Score score = classifier.gradient(parameters, inputs, labels, gradient);
  EXPECT_EQ(score.loss, classifier.score(parameters, inputs, labels).loss);
  constexpr double kStep = 1e-6;
  for (Eigen::Index i = 0; i < parameters.size(); ++i) {
    const double value = parameters(i);
    parameters(i) = value + kStep;
    const double above = classifier.score(parameters, inputs, labels).loss;
    parameters(i) = value - kStep;
    const double below = classifier.score(parameters, inputs, labels).loss;
    parameters(i) = value;
    EXPECT_NEAR(gradient(i), (above - below) / (2 * kStep), 1e-8) << "parameter " << i;
  }
  EXPECT_GT(gradient.norm(), 0.01);
}

TEST(Classifier, LossOfOneSampleByHand) {
  // One input, one hidden unit, two classes: parameters are w1, b1, w2 (two), b2 (two).
  Classifier<double> classifier(1, 1, 2);
  Eigen::VectorXd parameters(6);
  parameters << 2, 1, 3, -1, 0.5, 0;
  const Eigen::MatrixXd input = Eigen::MatrixXd::Constant(1, 1, 1);
  // Hidden: 2 + 1 = 3; logits: 9.5 and -3.
  const std::vector<std::uint8_t> second{1};
  const Score score = classifier.score(parameters, input, second);
  EXPECT_NEAR(score.loss, std::log(std::exp(9.5) + std::exp(-3)) + 3, 1e-12);
  EXPECT_EQ(score.accuracy, 0);
  const std::vector<std::uint8_t> first{0};
  EXPECT_EQ(classifier.score(parameters, input, first).accuracy, 1);
  // A negative input shuts the hidden unit: only the offsets are left.
  EXPECT_NEAR(classifier.score(parameters, -input, first).loss, std::log1p(std::exp(-0.5)), 1e-12);
}

TEST(Classifier, HugeLogitsStayFinite) {
  Classifier<float> classifier(1, 1, 2);
  Eigen::VectorXf parameters(6);
  parameters << 1, 0, 1000, -1000, 0, 0;
  const Eigen::MatrixXf input = Eigen::MatrixXf::Constant(1, 1, 1);
  const std::vector<std::uint8_t> second{1};
  EXPECT_NEAR(classifier.score(parameters, input, second).loss, 2000, 1e-3);
}

TEST(Classifier, FirstParametersAreWithinTheirBoundsAndSeeded) {
  const Classifier<float> classifier(24, 6, 10);
  Random one(kSeed);
  Random again(kSeed);
  const Eigen::VectorXf parameters = classifier.initial_parameters(one);
  EXPECT_EQ(parameters, classifier.initial_parameters(again));
  const auto first = parameters.head(24 * 6);
  EXPECT_LE(first.cwiseAbs().maxCoeff(), std::sqrt(6.0F / 24));
  EXPECT_GT(first.cwiseAbs().maxCoeff(), 0.9F * std::sqrt(6.0F / 24));
  EXPECT_EQ(parameters.segment(24 * 6, 6).norm(), 0);
  EXPECT_LE(parameters.segment(24 * 6 + 6, 60).cwiseAbs().maxCoeff(), 1);
  EXPECT_EQ(parameters.tail(10).norm(), 0);
}

}  // namespace
}  // namespace tombolo::schedule
