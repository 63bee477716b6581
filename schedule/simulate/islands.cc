#include "schedule/simulate/islands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "schedule/simulate/partition.h"

namespace tombolo::schedule {
namespace {

constexpr std::size_t kMaxHidden = 512;
constexpr std::size_t kMaxBatch = 4096;

Status check_options(const Dataset& dataset, const TrainingOptions& options) {
  if (options.hidden < 1 || options.hidden > kMaxHidden)
    return invalid_input(fmt::format("hidden layer of {}; must be 1 to {}", options.hidden, kMaxHidden));
  if (options.batch < 1 || options.batch > kMaxBatch)
    return invalid_input(fmt::format("batch of {}; must be 1 to {}", options.batch, kMaxBatch));
  if (!(options.learning_rate > 0) || !std::isfinite(options.learning_rate))
    return invalid_input(fmt::format("learning rate {}; must be above 0", options.learning_rate));
  if (options.test_samples < 1 || options.test_samples > dataset.test.size())
    return invalid_input(
        fmt::format("{} test samples; must be 1 to {}", options.test_samples, dataset.test.size()));
  return ok_status();
}

}  // namespace

Result<Islands> Islands::create(const Dataset& dataset, std::size_t count, const TrainingOptions& options) {
  if (auto valid = check_options(dataset, options); !valid) return std::move(valid).error();
  Random random(options.seed);
  auto parts = partition_samples(dataset.train.labels, count, options.skew, random);
  if (!parts) return std::move(parts).error();
  return Islands(dataset, options, std::move(*parts), random);
}

Islands::Islands(const Dataset& dataset, const TrainingOptions& options,
                 std::vector<std::vector<std::uint32_t>> parts, Random& random)
    : dataset_(dataset),
      options_(options),
      parts_(std::move(parts)),
      classifier_(static_cast<std::size_t>(dataset.train.inputs.rows()), options.hidden, dataset.classes) {
  const auto islands = static_cast<Eigen::Index>(parts_.size());
  parameters_ = classifier_.initial_parameters(random).replicate(1, islands);
  gradients_.resize(parameters_.rows(), islands);
  batch_inputs_.resize(dataset.train.inputs.rows(), static_cast<Eigen::Index>(options.batch));
  batch_labels_.resize(options.batch);
  for (std::size_t island = 0; island < parts_.size(); ++island) batches_.emplace_back(random.bits());
}

void Islands::find_gradients() {
  for (std::size_t island = 0; island < parts_.size(); ++island) {
    const auto column = static_cast<Eigen::Index>(island);
    for (std::size_t i = 0; i < options_.batch; ++i) {
      const std::uint32_t sample = parts_[island][batches_[island].below(parts_[island].size())];
      batch_inputs_.col(static_cast<Eigen::Index>(i)) = dataset_.train.inputs.col(sample);
      batch_labels_[i] = dataset_.train.labels[sample];
    }
    classifier_.gradient(parameters_.col(column), batch_inputs_, batch_labels_, gradients_.col(column));
  }
}

void Islands::step() {
  find_gradients();
  parameters_ -= static_cast<float>(options_.learning_rate) * gradients_;
}

void Islands::step_together() {
  find_gradients();
  const Eigen::VectorXf change = static_cast<float>(options_.learning_rate) * gradients_.rowwise().mean();
  parameters_.colwise() -= change;
}

Point Islands::measure(double time_s) {
  const auto samples = static_cast<Eigen::Index>(options_.test_samples);
  const auto inputs = dataset_.test.inputs.leftCols(samples);
  const std::span labels(dataset_.test.labels.data(), options_.test_samples);
  Point point;
  point.time_s = time_s;
  const Eigen::VectorXf mean = parameters_.rowwise().mean();
  point.mean_model = classifier_.score(mean, inputs, labels);
  for (Eigen::Index island = 0; island < parameters_.cols(); ++island) {
    const Score own = classifier_.score(parameters_.col(island), inputs, labels);
    point.islands.loss += own.loss;
    point.islands.accuracy += own.accuracy;
    point.distance += static_cast<double>((parameters_.col(island) - mean).squaredNorm());
  }
  const double islands = static_cast<double>(parameters_.cols());
  point.islands.loss /= islands;
  point.islands.accuracy /= islands;
  point.distance /= islands;
  return point;
}

}  // namespace tombolo::schedule
