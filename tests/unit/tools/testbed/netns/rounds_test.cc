#include "tools/testbed/netns/rounds.h"

#include <gtest/gtest.h>

namespace tombolo::testbed {
namespace {

TEST(NetnsRounds, ReadsTheWorkersOfAnEdgesStatus) {
  const auto workers = parse_worker_times(
      "A", R"({"workers":[{"busy_s":1.5,"idle_s":2,"asleep_s":3,"stalled_s":0.25},{"busy_s":"x"}]})");
  ASSERT_TRUE(workers.ok());
  ASSERT_EQ(workers->size(), 2U);
  EXPECT_EQ((*workers)[0].site, "A");
  EXPECT_DOUBLE_EQ((*workers)[0].busy_s, 1.5);
  EXPECT_DOUBLE_EQ((*workers)[0].stalled_s, 0.25);
  EXPECT_EQ((*workers)[1].worker, 1U);
  EXPECT_DOUBLE_EQ((*workers)[1].busy_s, 0);
  EXPECT_TRUE(parse_worker_times("A", "{}")->empty());
  EXPECT_TRUE(parse_worker_times("A", R"({"workers":5})")->empty());
  EXPECT_FALSE(parse_worker_times("A", "nothing").ok());
}

}  // namespace
}  // namespace tombolo::testbed
