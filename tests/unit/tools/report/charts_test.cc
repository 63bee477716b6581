#include "tools/report/charts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/unit/tools/report/html_reader.h"

namespace tombolo::report {
namespace {

HtmlReader read(const std::string& svg) { return HtmlReader("<!DOCTYPE html>" + svg); }

/// Heights, or widths, of the rectangles of a class.
std::vector<double> sizes(const HtmlReader& reader, const std::string& css_class,
                          const std::string& attribute) {
  std::vector<double> found;
  for (const auto& element : reader.elements)
    if (element.name == "rect" && element.attributes.contains("class") &&
        element.attributes.at("class").starts_with(css_class))
      found.push_back(std::stod(element.attributes.at(attribute)));
  return found;
}

TEST(AxisTicks, AreRoundNumbersThatReachTheMost) {
  EXPECT_EQ(axis_ticks(1.05, 4), (std::vector<double>{0, 0.5, 1, 1.5}));
  EXPECT_EQ(axis_ticks(8, 4), (std::vector<double>{0, 2, 4, 6, 8}));
  EXPECT_EQ(axis_ticks(70, 4), (std::vector<double>{0, 20, 40, 60, 80}));
  EXPECT_EQ(axis_ticks(0, 4), (std::vector<double>{0, 1}));
}

TEST(AxisTicks, OfAnyMost) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> exponent(-12, 12);
  for (int i = 0; i < 1000; ++i) {
    const double most = std::pow(10, exponent(random));
    const auto ticks = axis_ticks(most, 4);
    ASSERT_GE(ticks.back(), most * (1 - 1e-9));
    ASSERT_LE(ticks.size(), 5u) << most;
    ASSERT_LT(ticks[ticks.size() - 2], most);
  }
}

TEST(TimeChart, HeightsAreInProportion) {
  const auto reader = read(time_chart({{.label = "0", .measured_s = 1.0, .predicted_s = 0.8},
                                       {.label = "1", .measured_s = 0.25, .predicted_s = 0.25}}));
  EXPECT_EQ(reader.error, "");
  const auto heights = sizes(reader, "bar", "height");
  ASSERT_EQ(heights.size(), 2u);
  EXPECT_NEAR(heights[0] / heights[1], 4, 0.01);
  EXPECT_NE(reader.visible.find("\u00d71.25"), std::string::npos);  // 1.0 / 0.8.
  EXPECT_NE(reader.visible.find("\u00d71.00"), std::string::npos);
}

TEST(TimeChart, ARoundWithoutATimeHasAMark) {
  const auto reader = read(time_chart({{.label = "7", .measured_s = {}, .predicted_s = 1, .good = false}}));
  EXPECT_TRUE(sizes(reader, "bar", "height").empty());
  EXPECT_NE(reader.visible.find("\u2715"), std::string::npos);
}

TEST(TimeChart, ManyRoundsStayOnThePage) {
  const std::vector<TimeBar> bars(5000, {.label = "<&>", .measured_s = 1, .predicted_s = 1});
  const auto reader = read(time_chart(bars));
  EXPECT_EQ(reader.error, "");
  EXPECT_EQ(sizes(reader, "bar", "height").size(), 5000u);
  EXPECT_LE(std::stod(reader.elements.front().attributes.at("width")), 1120);
  EXPECT_LT(reader.count("text"), 100u);
}

TEST(AmountChart, WidthsAreInProportionAndComputedIsMarked) {
  const auto reader = read(amount_chart(
      {{.label = "on", .note = "measured", .bars = {{"out", 1.0}, {"in", 2.0}}},
       {.label = "off", .note = "computed", .bars = {{"out", 8.0}, {"in", {}}}, .computed = true}},
      "updates"));
  EXPECT_EQ(reader.error, "");
  const auto widths = sizes(reader, "bar", "width");
  ASSERT_EQ(widths.size(), 4u);
  EXPECT_NEAR(widths[1] / widths[0], 2, 0.05);
  EXPECT_NEAR(widths[2] / widths[0], 8, 0.2);
  EXPECT_EQ(sizes(reader, "bar computed", "width").size(), 2u);
  EXPECT_NE(reader.visible.find("8.00 updates"), std::string::npos);
}

TEST(ShareBar, PartsFillTheWhole) {
  const auto reader = read(share_bar({1, 0, 3}, {"busy", "stalled", "idle"}));
  EXPECT_NEAR(sizes(reader, "busy", "width").at(0), 65, 0.01);
  EXPECT_NEAR(sizes(reader, "stalled", "width").at(0), 0, 0.01);
  EXPECT_NEAR(sizes(reader, "idle", "width").at(0), 195, 0.01);
  EXPECT_EQ(read(share_bar({0, 0}, {"busy", "idle"})).count("rect"), 0u);
}

}  // namespace
}  // namespace tombolo::report
