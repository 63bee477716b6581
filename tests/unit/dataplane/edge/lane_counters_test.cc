#include "dataplane/edge/lane_counters.h"

#include <gtest/gtest.h>

namespace tombolo::dataplane {
namespace {

TEST(DurationCountersTest, ADurationBelongsToTheFirstClassThatHoldsIt) {
  DurationCounters durations;
  Nanoseconds sum_ns = 0;
  for (const Nanoseconds bound : kDurationBounds)
    for (const Nanoseconds duration : {bound - 1, bound, bound + 1}) {
      durations.add(duration);
      sum_ns += duration;
    }
  EXPECT_EQ(durations.count(0), 2U) << "just below and on the first bound";
  for (std::size_t i = 1; i < kDurationBounds.size(); ++i)
    EXPECT_EQ(durations.count(i), 3U) << "just above the bound before, just below and on its own";
  EXPECT_EQ(durations.count(kDurationBounds.size()), 1U) << "above the last";
  EXPECT_EQ(durations.sum_ns(), sum_ns);
}

TEST(DurationCountersTest, TheBoundsAscend) {
  for (std::size_t i = 1; i < kDurationBounds.size(); ++i)
    EXPECT_LT(kDurationBounds[i - 1], kDurationBounds[i]);
  EXPECT_EQ(kDurationBounds.front(), kMillisecond);
  EXPECT_EQ(kDurationBounds.back(), 60 * kSecond);
}

}  // namespace
}  // namespace tombolo::dataplane
