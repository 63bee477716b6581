#pragma once

#include "base/random.h"
#include "schedule/simulate/dataset.h"
#include "schedule/simulate/islands.h"

namespace tombolo::schedule {

/// A task that takes no time: a sample of label k has input k near 1 and the two others near 0.
inline Dataset small_dataset(std::uint64_t seed, std::size_t train = 300, std::size_t test = 60) {
  Random random(seed);
  const auto make = [&random](std::size_t count) {
    Samples samples;
    samples.inputs.resize(3, static_cast<Eigen::Index>(count));
    for (std::size_t i = 0; i < count; ++i) {
      samples.labels.push_back(static_cast<std::uint8_t>(i % 3));
      for (Eigen::Index row = 0; row < 3; ++row)
        samples.inputs(row, static_cast<Eigen::Index>(i)) =
            static_cast<float>((row == static_cast<Eigen::Index>(i % 3) ? 1 : 0) + 0.5 * random.unit());
    }
    return samples;
  };
  Dataset dataset;
  dataset.classes = 3;
  dataset.train = make(train);
  dataset.test = make(test);
  return dataset;
}

/// Options that go with it.
inline TrainingOptions small_training(std::uint64_t seed) {
  TrainingOptions options;
  options.hidden = 5;
  options.batch = 8;
  options.learning_rate = 0.1;
  options.test_samples = 60;
  options.seed = seed;
  return options;
}

}  // namespace tombolo::schedule
