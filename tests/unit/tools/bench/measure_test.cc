#include "tools/bench/measure.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace tombolo::bench {
namespace {

/// A side that takes `cost` seconds per iteration, without a clock; `calls` gets its name at each call.
Side fake_side(const std::string& impl, double cost, std::vector<std::string>* calls = nullptr) {
  Side side;
  side.row.impl = impl;
  side.bytes = 1e9;
  side.packets = 2e6;
  side.run = [impl, cost, calls](std::uint64_t iterations) {
    if (calls != nullptr) calls->push_back(impl);
    return cost * static_cast<double>(iterations);
  };
  return side;
}

const auto kSilent = [](std::uint32_t) {};

TEST(Quantile, LiesBetweenNeighboursOfTheSortedValues) {
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0), 1);
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 1), 4);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.9), 7);
}

TEST(Measure, RatesFollowFromWorkAndSeconds) {
  const std::vector<Side> sides{fake_side("tombolo", 0.25), fake_side("limit", 0.125)};
  const std::vector<Row> rows = measure(sides, {5, 1.0}, kSilent);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_DOUBLE_EQ(*rows[0].gbytes_per_s, 4);
  EXPECT_DOUBLE_EQ(*rows[0].gbit_per_s, 32);
  EXPECT_DOUBLE_EQ(*rows[0].mpps, 8);
  EXPECT_DOUBLE_EQ(*rows[0].spread, 0);
  EXPECT_DOUBLE_EQ(*rows[0].of_limit, 0.5);
  EXPECT_DOUBLE_EQ(*rows[1].of_limit, 1);
}

TEST(Measure, WithoutALimitThereIsNoPartOfIt) {
  const std::vector<Side> sides{fake_side("tombolo", 1)};
  EXPECT_FALSE(measure(sides, {2, 0}, kSilent)[0].of_limit.has_value());
}

TEST(Measure, EveryRepetitionRunsEverySideOnceInAShiftedOrder) {
  std::vector<std::string> calls;
  const std::vector<Side> sides{fake_side("a", 1, &calls), fake_side("b", 1, &calls),
                                fake_side("c", 1, &calls)};
  std::vector<std::uint32_t> heard;
  measure(sides, {3, 0}, [&](std::uint32_t repetition) { heard.push_back(repetition); });
  const std::vector<std::string> expected{"a", "b", "c",  // To find out how many iterations.
                                          "a", "b", "c", "b", "c", "a", "c", "a", "b"};
  EXPECT_EQ(calls, expected);
  EXPECT_EQ(heard, (std::vector<std::uint32_t>{1, 2, 3}));
}

TEST(Measure, ARepetitionTakesItsSeconds) {
  double longest = 0;
  Side side = fake_side("tombolo", 1e-6);
  side.run = [&longest](std::uint64_t iterations) {
    const double took = 1e-6 * static_cast<double>(iterations);
    longest = std::max(longest, took);
    return took;
  };
  measure({&side, 1}, {2, 0.5}, kSilent);
  EXPECT_GE(longest, 0.5 * (1 - 1e-9));
  EXPECT_LE(longest, 0.51);
}

TEST(Measure, SpreadIsTheMiddleHalfOverTheMedian) {
  // Rates of 4, 2, 1, 2 and 4 iterations per second: the median is 2, the quartiles are 2 and 4.
  std::vector<double> seconds{1, 0.25, 0.5, 1, 0.5, 0.25};  // The first is calibration's.
  std::size_t call = 0;
  Side side = fake_side("tombolo", 1);
  side.run = [&](std::uint64_t) { return seconds[call++]; };
  EXPECT_DOUBLE_EQ(*measure({&side, 1}, {5, 0}, kSilent)[0].spread, 1);
}

}  // namespace
}  // namespace tombolo::bench
