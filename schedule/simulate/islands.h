#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "schedule/simulate/classifier.h"
#include "schedule/simulate/dataset.h"

namespace tombolo::schedule {

/// What is trained, and how; the same for all methods that are compared.
struct TrainingOptions {
  std::size_t hidden = 32;
  std::size_t batch = 32;           ///< Samples of one local step of one island.
  double learning_rate = 0.05;      ///< Of plain SGD, constant.
  double skew = 1;                  ///< See partition_samples.
  std::size_t test_samples = 2000;  ///< The first of the test set, which islands are judged by.
  std::uint64_t seed = 1;           ///< Of the first parameters, the partition and all batches.
};

/// How training stands at one time.
struct Point {
  double time_s = 0;
  Score mean_model;     ///< Of the mean of all islands' parameters.
  Score islands;        ///< The mean of the islands' own scores.
  double distance = 0;  ///< Mean squared distance of an island's parameters from their mean.
};

/// Islands that train the same classifier, each on its own part of the data. All begin with the same
/// parameters. An island's batches come from a generator of its own, so that its k-th step sees the same
/// samples under every method: methods differ by what they exchange and by nothing else.
class Islands {
 public:
  /// `dataset` must outlive the islands.
  /// Errors: kInvalidInput for options out of range, or a data set too small for them.
  static Result<Islands> create(const Dataset& dataset, std::size_t count, const TrainingOptions& options);

  std::size_t count() const { return parts_.size(); }

  /// One column an island.
  Eigen::MatrixXf& parameters() { return parameters_; }
  const Eigen::MatrixXf& parameters() const { return parameters_; }

  /// A step of SGD on every island, each on its own batch.
  void step();
  /// A step of colocated SGD: every island takes the mean of the gradients that `step` would use.
  void step_together();

  Point measure(double time_s);

 private:
  Islands(const Dataset& dataset, const TrainingOptions& options,
          std::vector<std::vector<std::uint32_t>> parts, Random& random);
  void find_gradients();

  const Dataset& dataset_;
  TrainingOptions options_;
  std::vector<std::vector<std::uint32_t>> parts_;  ///< Samples by island.
  std::vector<Random> batches_;                    ///< By island.
  Classifier<float> classifier_;
  Eigen::MatrixXf parameters_;
  Eigen::MatrixXf gradients_;  ///< By island, of the step at hand.
  Eigen::MatrixXf batch_inputs_;
  std::vector<std::uint8_t> batch_labels_;
};

}  // namespace tombolo::schedule
