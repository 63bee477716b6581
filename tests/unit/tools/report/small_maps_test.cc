#include "tools/report/small_maps.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/unit/tools/report/html_reader.h"

namespace tombolo::report {
namespace {

double least_distance(const std::vector<Point>& dots) {
  double least = 1e9;
  for (std::size_t i = 0; i < dots.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      least = std::min(least, std::hypot(dots[i].x - dots[j].x, dots[i].y - dots[j].y));
  return least;
}

TEST(SmallMaps, DotsDoNotTouch) {
  // Amsterdam, Frankfurt and London are three pixels apart on a stamp; two islands stand at one site.
  const std::vector<std::optional<Degrees>> places{Degrees{4.94, 52.3},   Degrees{8.64, 50.12},
                                                   Degrees{-0.12, 51.51}, Degrees{-0.12, 51.51},
                                                   Degrees{139.8, 35.7},  Degrees{-74, 40.8}};
  EXPECT_GT(least_distance(SmallMaps(places).dots()), 7);
}

TEST(SmallMaps, WithoutPlacesTheyAreACircle) {
  const std::vector<std::optional<Degrees>> places{Degrees{0, 0}, std::nullopt, Degrees{0, 0}};
  const SmallMaps maps(places);
  EXPECT_GT(least_distance(maps.dots()), 20);
  EXPECT_EQ(maps.shared().find("class=\"land\""), std::string::npos);
}

TEST(SmallMaps, CliquesAreJoinedAndOthersRest) {
  const std::vector<std::optional<Degrees>> places(5);
  const HtmlReader reader("<!DOCTYPE html>" + SmallMaps(places).draw({{0, 1}, {2, 3}}, "<round>"));
  EXPECT_EQ(reader.error, "");
  EXPECT_EQ(reader.count("path"), 2u);
  std::size_t resting = 0;
  for (const auto& element : reader.elements)
    if (element.name == "circle") resting += element.attributes.at("class") == "site resting" ? 1 : 0;
  EXPECT_EQ(resting, 1u);
  EXPECT_EQ(reader.elements.front().attributes.at("aria-label"), "<round>");
}

}  // namespace
}  // namespace tombolo::report
