#include "tools/report/gantt.h"

#include <gtest/gtest.h>

#include "tests/unit/tools/report/html_reader.h"

namespace tombolo::report {
namespace {

TEST(GanttChart, PartsAreAsLongAsTheirTimes) {
  const Gantt gantt{{"A", "B", "C", "D"},
                    {{"round 0", 4, "egress A", {{"A B", {0, 1}, 1, 4}, {"C D", {2, 3}, 1, 2}}},
                     {"round 1", 4, "egress C", {{"A C", {0, 2}, 2, 4}}}}};
  const HtmlReader reader("<!DOCTYPE html>" + gantt_chart(gantt));
  ASSERT_EQ(reader.error, "");
  const double latency = reader.width_of("latency");    // Seconds, by lane: 1 + 1 + 1 + 1, then 2 + 2.
  const double transfer = reader.width_of("transfer");  // 3 + 3 + 1 + 1, then 2 + 2.
  EXPECT_NEAR(transfer / latency, 12.0 / 8, 0.02);
  EXPECT_EQ(reader.count("g"), 3u);
  EXPECT_NE(reader.visible.find("egress C"), std::string::npos);
}

TEST(GanttChart, TakesAnyNameAndNoTime) {
  EXPECT_EQ(gantt_chart({}), "");
  EXPECT_EQ(gantt_chart({{"A"}, {{"rest", 0, "", {}}}}), "");
  const std::string hostile = "</text><script>";
  const HtmlReader reader("<!DOCTYPE html>" +
                          gantt_chart({{hostile}, {{hostile, 1, hostile, {{hostile, {0}, 0, 1, hostile}}}}}));
  EXPECT_EQ(reader.error, "");
  EXPECT_EQ(reader.count("script"), 0u);
}

}  // namespace
}  // namespace tombolo::report
