#include "tools/report/event_gantt.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/unit/tools/report/html_reader.h"

namespace tombolo::report {
namespace {

/// A cycle of 4 s drawn for 8 s: each bar is there twice as long as it lasts, on each of its lanes, also
/// where it lasts over the edges.
TEST(EventGantt, EveryCycleHasItsBars) {
  EventGantt gantt{{"A", "B", "C"}, 4, 8, 1, {}};
  gantt.bars.push_back({"A B", {0, 1}, 0, 0, 0, 1, 0.5});
  gantt.bars.push_back({"B C", {1, 2}, 1, 0, 3, 0.5, 1});    // Over the end of the cycle.
  gantt.bars.push_back({"A C", {0, 2}, 2, 0, -2, 1, 0.25});  // From before it.
  const HtmlReader reader("<!DOCTYPE html>" + event_gantt_chart(gantt));
  ASSERT_EQ(reader.error, "");
  const double sending_s = 2 * 2 * (1 + 0.5 + 1);
  const double latency_s = 2 * 2 * (0.5 + 1 + 0.25);
  EXPECT_NEAR(reader.width_of("transfer") / reader.width_of("latency"), sending_s / latency_s, 0.02);
  EXPECT_EQ(reader.count("g"), 3u);
}

TEST(EventGantt, FragmentsHaveLinesOfTheirOwn) {
  EventGantt gantt{{"A", "B"}, 2, 2, 12, {}};
  for (std::size_t fragment = 0; fragment < 12; ++fragment)
    gantt.bars.push_back({"A B", {0, 1}, 0, fragment, 0, 1, 0.5});
  const HtmlReader reader("<!DOCTYPE html>" + event_gantt_chart(gantt));
  ASSERT_EQ(reader.error, "");
  std::set<std::string> lines;
  for (const auto& element : reader.elements)
    if (element.name == "rect") lines.insert(element.attributes.at("y"));
  EXPECT_EQ(lines.size(), 2 * kMostDrawnFragments);
}

TEST(EventGantt, TakesAnyNameAndNoTime) {
  EXPECT_EQ(event_gantt_chart({}), "");
  EXPECT_EQ(event_gantt_chart({{"A"}, 1e-9, 1, 1, {}}), "");  // A thousand million cycles.
  const std::string hostile = "</text><script>";
  const HtmlReader reader("<!DOCTYPE html>" +
                          event_gantt_chart({{hostile}, 1, 1, 1, {{hostile, {0}, 0, 0, 0, 1, 0}}}));
  EXPECT_EQ(reader.error, "");
  EXPECT_EQ(reader.count("script"), 0u);
}

}  // namespace
}  // namespace tombolo::report
