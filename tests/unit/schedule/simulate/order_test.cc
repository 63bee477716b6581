#include "schedule/simulate/order.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tombolo::schedule {
namespace {

using Values = std::vector<double>;

TEST(Order, RankCorrelationByHand) {
  EXPECT_DOUBLE_EQ(rank_correlation(Values{1, 5, 9}, Values{2, 30, 400}), 1);
  EXPECT_DOUBLE_EQ(rank_correlation(Values{1, 5, 9}, Values{3, 2, 1}), -1);
  // 1 - 6 (sum of squared differences of ranks) / (n (n^2 - 1)) = 1 - 6 * 2 / 60.
  EXPECT_DOUBLE_EQ(rank_correlation(Values{1, 2, 3, 4}, Values{1, 3, 2, 4}), 0.8);
  // Ranks 0, 1.5, 1.5, 3 against 0, 1, 2, 3: covariance 4.5, variances 4.5 and 5.
  EXPECT_DOUBLE_EQ(rank_correlation(Values{1, 2, 2, 4}, Values{1, 2, 3, 4}), 4.5 / std::sqrt(4.5 * 5));
  EXPECT_TRUE(std::isnan(rank_correlation(Values{1, 1}, Values{1, 2})));
  EXPECT_TRUE(std::isnan(rank_correlation(Values{1}, Values{1})));
}

TEST(Order, ReversedPairsAreClearOnBothSides) {
  using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
  EXPECT_EQ(reversed_pairs(Values{1, 2, 3}, Values{1, 3, 2}, 0, 0), (Pairs{{1, 2}}));
  EXPECT_EQ(reversed_pairs(Values{1, 2, 2.1}, Values{1, 3, 2}, 0.1, 0), Pairs{});
  EXPECT_EQ(reversed_pairs(Values{1, 2, 3}, Values{1, 2.05, 2}, 0, 0.1), Pairs{});
  EXPECT_EQ(reversed_pairs(Values{1, 2}, Values{5, 5}, 0, 0), Pairs{});
}

}  // namespace
}  // namespace tombolo::schedule
