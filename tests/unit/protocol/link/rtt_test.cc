#include "protocol/link/rtt.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tombolo::link {
namespace {

TEST(RttEstimator, StartsFromWhatItIsGiven) {
  const RttEstimator rtt(7 * kMillisecond);
  EXPECT_EQ(rtt.smoothed_ns(), 7 * kMillisecond);
  EXPECT_FALSE(rtt.measured());
}

TEST(RttEstimator, TheFirstSampleReplacesTheGuess) {
  RttEstimator rtt(kSecond);
  rtt.add_sample(3 * kMillisecond);
  EXPECT_EQ(rtt.smoothed_ns(), 3 * kMillisecond);
  EXPECT_TRUE(rtt.measured());
}

TEST(RttEstimator, LaterSamplesCountAnEighth) {
  RttEstimator rtt(kSecond);
  rtt.add_sample(80 * kMillisecond);
  rtt.add_sample(160 * kMillisecond);
  EXPECT_EQ(rtt.smoothed_ns(), 90 * kMillisecond);
  rtt.add_sample(0);
  EXPECT_EQ(rtt.smoothed_ns(), 90 * kMillisecond - 90 * kMillisecond / 8);
}

TEST(RttEstimator, FollowsAChangeGeometrically) {
  RttEstimator rtt(kSecond);
  rtt.add_sample(100 * kMillisecond);
  for (int n = 1; n <= 60; ++n) {
    rtt.add_sample(20 * kMillisecond);
    const double expected_ns = 20e6 + 80e6 * std::pow(7.0 / 8.0, n);
    EXPECT_NEAR(static_cast<double>(rtt.smoothed_ns()), expected_ns, 8) << "after " << n << " samples";
  }
}

}  // namespace
}  // namespace tombolo::link
