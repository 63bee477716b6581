#include "tools/testbed/netns/cpu.h"

#include <gtest/gtest.h>

namespace tombolo::testbed {
namespace {

TEST(Cpu, ReadsTheLineOfAllCores) {
  const auto time = parse_proc_stat("cpu  10 20 30 400 50 6 7 8 900 1000\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
  ASSERT_TRUE(time.ok()) << time.error().message;
  EXPECT_EQ(time->idle, 450U);
  EXPECT_EQ(time->all, 531U);  // A guest's time is in the user's already.
  for (const char* wrong : {"", "cpu0 1 2 3 4 5 6 7 8\n", "cpu  1 2 3\n", "cpu  1 2 3 x 5 6 7 8\n"})
    EXPECT_FALSE(parse_proc_stat(wrong).ok()) << wrong;
  EXPECT_TRUE(read_cpu_time().ok());
}

TEST(Cpu, JudgesByIdleTimeAndByTheWorkers) {
  const CpuTime before{100, 1000};
  const WorkerReport calm{"A", 0, 0.2, 0.1, 9.7, 2.4};
  EXPECT_FALSE(judge_cpu(before, {300, 2000}, {calm}).bound);
  EXPECT_DOUBLE_EQ(judge_cpu(before, {300, 2000}, {calm}).idle, 0.2);
  EXPECT_TRUE(judge_cpu(before, {190, 2000}, {calm}).bound);  // 9 % idle.
  const WorkerReport starved{"B", 0, 4, 1, 5, 4.6};           // 46 % of 10 s without a core.
  EXPECT_TRUE(judge_cpu(before, {900, 2000}, {calm, starved}).bound);
  EXPECT_NE(judge_cpu(before, {900, 2000}, {calm, starved}).reason.find("(B) did so 46.0 %"),
            std::string::npos);
  const WorkerReport busy{"C", 0, 9.1, 0.5, 0.4, 0};
  EXPECT_TRUE(judge_cpu(before, {900, 2000}, {calm, busy}).bound);
  EXPECT_FALSE(judge_cpu(before, {900, 2000}, {}).bound);
}

TEST(Cpu, WhatWorkersSpentBetweenTwoLooks) {
  const auto spent = workers_between({{"A", 0, 1, 2, 3, 4}}, {{"A", 0, 2, 4, 6, 8}});
  ASSERT_EQ(spent.size(), 1U);
  EXPECT_DOUBLE_EQ(spent[0].busy_s, 1);
  EXPECT_DOUBLE_EQ(spent[0].idle_s, 2);
  EXPECT_DOUBLE_EQ(spent[0].asleep_s, 3);
  EXPECT_DOUBLE_EQ(spent[0].stalled_s, 4);
}

}  // namespace
}  // namespace tombolo::testbed
