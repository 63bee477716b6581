#include "tools/report/bar_chart.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/tools/report/html_reader.h"

namespace tombolo::report {
namespace {

HtmlReader read(const std::string& html) { return HtmlReader("<!DOCTYPE html>" + html); }

std::vector<double> widths(const HtmlReader& reader) {
  std::vector<double> found;
  for (const auto& element : reader.elements)
    if (element.name == "rect") found.push_back(std::stod(element.attributes.at("width")));
  return found;
}

TEST(BarChart, BarsAreAsLongAsTheirValues) {
  const auto reader =
      read(bar_chart({.title = "D",
                      .bars = {{.label = "ours", .value = 1, .figure = "1 s", .emphasised = true},
                               {.label = "theirs", .value = 4, .figure = "4 s"}},
                      .marked = {}}));
  EXPECT_EQ(reader.error, "");
  const auto found = widths(reader);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NEAR(found[1] / found[0], 4, 0.05);
  EXPECT_NE(reader.visible.find("theirs"), std::string::npos);
}

TEST(BarChart, CutsOffWhatIsTooLongAndWhatIsInfinite) {
  const auto reader = read(bar_chart(
      {.title = "D",
       .bars = {{.label = "a", .value = 1, .figure = "1"},
                {.label = "b", .value = 100, .figure = "100"},
                {.label = "c", .value = std::numeric_limits<double>::infinity(), .figure = "never"}},
       .marked = 0.5,
       .marked_label = "bound",
       .most = 8}));
  EXPECT_EQ(reader.error, "");
  const auto found = widths(reader);
  EXPECT_NEAR(found[1] / found[0], 8, 0.1);
  EXPECT_EQ(found[1], found[2]);
  EXPECT_EQ(reader.count("path"), 2u);  // The marks of the two that are cut off.
  EXPECT_NE(reader.visible.find("bound"), std::string::npos);
}

TEST(BarChart, TakesAnyName) {
  const std::string hostile = "\"><script>alert(1)</script>";
  const auto reader =
      read(bar_chart({.title = hostile,
                      .bars = {{.label = hostile, .value = 0, .figure = hostile, .tip = hostile}},
                      .marked = {}}));
  EXPECT_EQ(reader.error, "");
  EXPECT_EQ(reader.count("script"), 0u);
}

}  // namespace
}  // namespace tombolo::report
