#include "schedule/simulate/dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace tombolo::schedule {
namespace {

/// Two images of 2 x 4 pixels to train on, one to test.
RawDataset small_raw() {
  RawDataset raw;
  raw.train_images = {{2, 2, 4}, {0, 0, 255, 255, 0, 0, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0}};
  raw.train_labels = {{2}, {0, 1}};
  raw.test_images = {{1, 2, 4}, {255, 255, 0, 0, 255, 255, 255, 255}};
  raw.test_labels = {{1}, {1}};
  return raw;
}

TEST(Dataset, PoolsAndStandardizes) {
  const auto dataset = make_dataset(small_raw());
  ASSERT_TRUE(dataset.ok()) << dataset.error().message;
  EXPECT_EQ(dataset->classes, 2U);
  EXPECT_EQ(dataset->train.labels, (std::vector<std::uint8_t>{0, 1}));
  // Pooled, the images are (0, 1) and (1/2, 0): mean 3/8, variance 5/16 - 9/64 = 11/64. The test: (1, 1/2).
  const auto standard = [](double value) { return (value - 0.375) / std::sqrt(11.0 / 64); };
  ASSERT_EQ(dataset->train.inputs.rows(), 2);
  ASSERT_EQ(dataset->train.inputs.cols(), 2);
  EXPECT_NEAR(dataset->train.inputs(0, 0), standard(0), 1e-6);
  EXPECT_NEAR(dataset->train.inputs(1, 0), standard(1), 1e-6);
  EXPECT_NEAR(dataset->train.inputs(0, 1), standard(0.5), 1e-6);
  EXPECT_NEAR(dataset->train.inputs(1, 1), standard(0), 1e-6);
  EXPECT_NEAR(dataset->test.inputs(0, 0), standard(1), 1e-6);
  EXPECT_NEAR(dataset->test.inputs(1, 0), standard(0.5), 1e-6);
}

TEST(Dataset, RefusesWhatDoesNotBelongTogether) {
  const auto refused = [](void (*change)(RawDataset&), const char* said) {
    RawDataset raw = small_raw();
    change(raw);
    const auto dataset = make_dataset(raw);
    ASSERT_FALSE(dataset.ok()) << said;
    EXPECT_EQ(dataset.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(dataset.error().message.find(said), std::string::npos) << dataset.error().message;
  };
  refused([](RawDataset& raw) { std::swap(raw.test_images, raw.test_labels); }, "test set: needs images");
  refused([](RawDataset& raw) { raw.train_labels = {{3}, {0, 1, 0}}; }, "training set: 2 images, 3 labels");
  refused([](RawDataset& raw) { raw.train_images.dimensions = {2, 8, 1}; }, "8 x 1 pixels; must be even");
  refused([](RawDataset& raw) { raw.test_images.dimensions = {1, 4, 2}; }, "differ in size");
  refused([](RawDataset& raw) { raw.test_labels.values = {2}; }, "labels that the training set");
}

TEST(Dataset, MissingFilesNameThePackage) {
  const auto dataset = load_fashion_mnist("/nonexistent");
  ASSERT_FALSE(dataset.ok());
  EXPECT_EQ(dataset.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(dataset.error().message.find("dataset-fashion-mnist"), std::string::npos);
  EXPECT_NE(dataset.error().message.find("/nonexistent/train-images-idx3-ubyte.gz"), std::string::npos);
}

TEST(Dataset, FashionMnistIsWhatItsPaperSays) {
  if (!std::filesystem::exists(kFashionMnistFolder))
    GTEST_SKIP() << "the package " << kFashionMnistPackage << " is not installed";
  const auto dataset = load_fashion_mnist();
  ASSERT_TRUE(dataset.ok()) << dataset.error().message;
  EXPECT_EQ(dataset->classes, 10U);
  EXPECT_EQ(dataset->train.inputs.rows(), 14 * 14);
  EXPECT_EQ(dataset->train.inputs.cols(), 60000);
  EXPECT_EQ(dataset->test.inputs.cols(), 10000);
  for (std::uint8_t label = 0; label < 10; ++label) {
    EXPECT_EQ(std::ranges::count(dataset->train.labels, label), 6000);
    EXPECT_EQ(std::ranges::count(dataset->test.labels, label), 1000);
  }
}

}  // namespace
}  // namespace tombolo::schedule
