#include "tools/report/line_chart.h"

#include <gtest/gtest.h>

#include <string>

namespace tombolo::report {
namespace {

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST(LineChart, LinesAndDotsInTheirPlaces) {
  const std::string html =
      line_chart({"t", "time, s", "loss", {{"up", {{0, 0}, {10, 5}}}, {"one", {{5, 2.5}}}, {"none", {}}}});
  // The drawing is 760 x 320, its axes from (56, 280) to (746, 26): 10 and 5 are the last ticks.
  EXPECT_NE(html.find("points=\"56,280 746,26\""), std::string::npos) << html;
  EXPECT_NE(html.find("cx=\"401\" cy=\"153\""), std::string::npos) << html;
  EXPECT_EQ(count(html, "<polyline"), 1U);
  EXPECT_EQ(count(html, "<circle"), 1U);
  EXPECT_EQ(count(html, "<span>"), 3U);  // All are in the legend.
}

TEST(LineChart, NamesAreEscapedAndColoursComeRound) {
  LineChart chart{"<t>", "x", "y", {}};
  for (int i = 0; i < 10; ++i) chart.lines.push_back({"<b>", {{0, 1}, {1, 2}}});
  const std::string html = line_chart(chart);
  EXPECT_EQ(html.find("<b>"), std::string::npos);
  EXPECT_EQ(html.find("<t>"), std::string::npos);
  EXPECT_EQ(count(html, "curve c0\""), 2U);
  EXPECT_EQ(count(html, "curve c1 dashed\""), 2U);
}

TEST(LineChart, NothingToShowIsAnEmptyChart) {
  EXPECT_NE(line_chart({"t", "x", "y", {}}).find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace tombolo::report
