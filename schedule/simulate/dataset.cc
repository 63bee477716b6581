#include "schedule/simulate/dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tombolo::schedule {
namespace {

constexpr std::uint32_t kPool = 2;  ///< Pixels that become one, in each direction.
constexpr float kPixelMax = 255;

Status check_pair(const Idx& images, const Idx& labels, const std::string& which) {
  if (images.dimensions.size() != 3 || labels.dimensions.size() != 1)
    return invalid_input(which + ": needs images (3 dimensions) and labels (1 dimension)");
  if (images.dimensions[0] != labels.dimensions[0])
    return invalid_input(
        fmt::format("{}: {} images, {} labels", which, images.dimensions[0], labels.dimensions[0]));
  if (images.dimensions[1] % kPool != 0 || images.dimensions[2] % kPool != 0)
    return invalid_input(fmt::format("{}: images of {} x {} pixels; must be even", which,
                                     images.dimensions[1], images.dimensions[2]));
  return ok_status();
}

Samples pool(const Idx& images, const Idx& labels) {
  const std::size_t rows = images.dimensions[1];
  const std::size_t columns = images.dimensions[2];
  Samples samples;
  samples.labels = labels.values;
  samples.inputs.resize(static_cast<Eigen::Index>(rows / kPool * (columns / kPool)),
                        static_cast<Eigen::Index>(labels.values.size()));
  float* out = samples.inputs.data();
  for (std::size_t sample = 0; sample < labels.values.size(); ++sample) {
    const std::uint8_t* const image = images.values.data() + sample * rows * columns;
    for (std::size_t y = 0; y < rows; y += kPool) {
      for (std::size_t x = 0; x < columns; x += kPool) {
        const std::uint8_t* const corner = image + y * columns + x;
        const int sum = corner[0] + corner[1] + corner[columns] + corner[columns + 1];
        *out++ = static_cast<float>(sum) / (kPool * kPool * kPixelMax);
      }
    }
  }
  return samples;
}

/// Shifts and scales both sets by the mean and deviation of the first.
void standardize(Eigen::MatrixXf& train, Eigen::MatrixXf& test) {
  double sum = 0;
  double squares = 0;
  for (const float value : train.reshaped()) {
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  }
  const double count = static_cast<double>(train.size());
  const double mean = sum / count;
  const double variance = squares / count - mean * mean;
  // Images of one colour have nothing to scale.
  const double factor = variance > 0 ? 1 / std::sqrt(variance) : 1;
  for (Eigen::MatrixXf* const matrix : {&train, &test})
    matrix->array() = (matrix->array() - static_cast<float>(mean)) * static_cast<float>(factor);
}

}  // namespace

Result<Dataset> make_dataset(const RawDataset& raw) {
  if (auto fits = check_pair(raw.train_images, raw.train_labels, "training set"); !fits)
    return std::move(fits).error();
  if (auto fits = check_pair(raw.test_images, raw.test_labels, "test set"); !fits)
    return std::move(fits).error();
  for (const std::size_t side : {1, 2})
    if (raw.train_images.dimensions[side] != raw.test_images.dimensions[side])
      return invalid_input("images of the training set and of the test set differ in size");
  Dataset dataset;
  dataset.classes = 1 + *std::ranges::max_element(raw.train_labels.values);
  if (dataset.classes <= *std::ranges::max_element(raw.test_labels.values))
    return invalid_input("the test set has labels that the training set does not have");
  dataset.train = pool(raw.train_images, raw.train_labels);
  dataset.test = pool(raw.test_images, raw.test_labels);
  standardize(dataset.train.inputs, dataset.test.inputs);
  return dataset;
}

Result<Dataset> load_fashion_mnist(const std::string& folder) {
  RawDataset raw;
  const std::pair<const char*, Idx*> files[] = {{"train-images-idx3-ubyte.gz", &raw.train_images},
                                                {"train-labels-idx1-ubyte.gz", &raw.train_labels},
                                                {"t10k-images-idx3-ubyte.gz", &raw.test_images},
                                                {"t10k-labels-idx1-ubyte.gz", &raw.test_labels}};
  for (const auto& [name, idx] : files) {
    auto loaded = load_idx(folder + "/" + name);
    if (!loaded && loaded.error().code == ErrorCode::kNotFound)
      return Error{ErrorCode::kUnavailable,
                   fmt::format("{}; the package {} has it: apt-get install {}", loaded.error().message,
                               kFashionMnistPackage, kFashionMnistPackage)};
    if (!loaded) return std::move(loaded).error();
    *idx = std::move(*loaded);
  }
  auto dataset = make_dataset(raw);
  if (!dataset) return Error(dataset.error()).within(folder);
  return dataset;
}

}  // namespace tombolo::schedule
