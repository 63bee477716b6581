#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "schedule/simulate/idx.h"

namespace tombolo::schedule {

/// Labelled samples, one a column.
struct Samples {
  Eigen::MatrixXf inputs;            ///< features x samples.
  std::vector<std::uint8_t> labels;  ///< By sample, each below `classes` of the data set.
  std::size_t size() const { return labels.size(); }
};

/// What there is to learn: samples to train on, and others to judge by.
struct Dataset {
  std::size_t classes = 0;
  Samples train;
  Samples test;
};

/// The files of a data set, as they were read.
struct RawDataset {
  Idx train_images;
  Idx train_labels;
  Idx test_images;
  Idx test_labels;
};

/// Where Debian's package dataset-fashion-mnist puts its files.
inline constexpr const char* kFashionMnistFolder = "/usr/share/datasets/fashion-mnist";
inline constexpr const char* kFashionMnistPackage = "dataset-fashion-mnist";

/// Makes samples of images: neighbouring pixels are averaged two by two, which keeps the task and makes a
/// step four times cheaper; then all values are shifted and scaled by the same two numbers, so that those of
/// the training images have mean 0 and variance 1.
/// Errors: kInvalidInput if images and labels do not belong together, or have odd or different sizes.
Result<Dataset> make_dataset(const RawDataset& raw);

/// Fashion-MNIST (Xiao, Rasul, Vollgraf, arXiv 1708.07747): 60000 + 10000 images of ten kinds of clothing.
/// Errors: kUnavailable if files are missing, naming the package that brings them; kInvalidInput for damaged
/// ones.
Result<Dataset> load_fashion_mnist(const std::string& folder = kFashionMnistFolder);

}  // namespace tombolo::schedule
