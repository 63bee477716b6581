#include "tools/report/geometry.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

namespace tombolo::report {
namespace {

// Longitude and latitude of configs/topologies/nine-city.yaml.
constexpr Degrees kAmsterdam{4.94, 52.30};
constexpr Degrees kBuenosAires{-58.38, -34.60};
constexpr Degrees kFrankfurt{8.64, 50.12};
constexpr Degrees kLosAngeles{-118.26, 34.05};
constexpr Degrees kLondon{-0.12, 51.51};
constexpr Degrees kNewYork{-74.07, 40.78};
constexpr Degrees kSingapore{103.86, 1.28};
constexpr Degrees kTokyo{139.77, 35.67};

double angle_deg(Degrees a, Degrees b) {
  // The haversine formula, which the code does not use.
  const double rad = std::numbers::pi / 180;
  const double lat = std::sin((b.lat - a.lat) * rad / 2);
  const double lon = std::sin((b.lon - a.lon) * rad / 2);
  const double h = lat * lat + std::cos(a.lat * rad) * std::cos(b.lat * rad) * lon * lon;
  return 2 * std::asin(std::sqrt(h)) / rad;
}

TEST(GreatCircle, FollowsTheEquatorAndMeridians) {
  for (const Degrees& p : great_circle({10, 0}, {90, 0})) EXPECT_NEAR(p.lat, 0, 1e-9);
  for (const Degrees& p : great_circle({10, -20}, {10, 60})) EXPECT_NEAR(p.lon, 10, 1e-9);
}

TEST(GreatCircle, IsAsLongAsTheShortestWay) {
  const auto line = great_circle(kLondon, kSingapore);
  double length = 0;
  for (std::size_t i = 1; i < line.size(); ++i) length += angle_deg(line[i - 1], line[i]);
  EXPECT_NEAR(length, angle_deg(kLondon, kSingapore), 1e-6);
  EXPECT_EQ(line.front().lat, kLondon.lat);
  EXPECT_EQ(line.back().lat, kSingapore.lat);
}

TEST(GreatCircle, GoesOnBeyondTheDateLine) {
  const auto line = great_circle(kTokyo, kLosAngeles);
  EXPECT_NEAR(line.back().lon, kLosAngeles.lon + 360, 1e-9);
  for (std::size_t i = 1; i < line.size(); ++i) EXPECT_GT(line[i].lon, line[i - 1].lon);
}

TEST(GreatCircle, OfOppositeOrEqualPlacesIsFinite) {
  for (const auto& [a, b] :
       {std::pair{Degrees{0, 0}, Degrees{180, 0}}, {{20, 90}, {20, -90}}, {{5, 5}, {5, 5}}})
    for (const Degrees& p : great_circle(a, b)) EXPECT_TRUE(std::isfinite(p.lon) && std::isfinite(p.lat));
}

TEST(FitView, ShowsEveryPlaceAndLineOfARegion) {
  const std::vector<Degrees> places{kAmsterdam, kLondon, kFrankfurt};
  const std::vector<std::vector<Degrees>> lines{great_circle(kAmsterdam, kLondon)};
  const View view = fit_view(places, lines, 1000);
  EXPECT_LT(view.width_deg(), 40);
  for (const Degrees& place : places) EXPECT_TRUE(view.frame.contains(view.to_point(place)));
}

TEST(FitView, PutsThePacificInTheMiddleWhereTheSitesAreRoundIt) {
  const std::vector<Degrees> places{kTokyo, kSingapore, kLosAngeles};
  const std::vector<std::vector<Degrees>> lines{great_circle(kTokyo, kLosAngeles)};
  const View view = fit_view(places, lines, 1000);
  EXPECT_LT(view.width_deg(), 360);
  const Point tokyo = view.to_nearest_point(kTokyo);
  const Point los_angeles = view.to_nearest_point(kLosAngeles);
  EXPECT_LT(tokyo.x, los_angeles.x);
  // The line is in one piece, and all of it is inside.
  const auto copies = project(lines.front(), view);
  ASSERT_EQ(copies.size(), 1u);
  for (const Point& p : copies.front()) EXPECT_TRUE(view.frame.contains(p));
}

TEST(FitView, ALineOverTheCutLeavesAndComesInAgain) {
  const std::vector<Degrees> places{kAmsterdam, kBuenosAires, kFrankfurt, kLosAngeles,
                                    kLondon,    kNewYork,     kSingapore, kTokyo};
  const std::vector<std::vector<Degrees>> lines{great_circle(kTokyo, kLosAngeles),
                                                great_circle(kLondon, kNewYork)};
  const View view = fit_view(places, lines, 1000);
  EXPECT_NEAR(view.width_deg(), 360, 1e-9);
  EXPECT_EQ(project(lines[0], view).size(), 2u);
  EXPECT_EQ(project(lines[1], view).size(), 1u);
  for (const Degrees& place : places) EXPECT_TRUE(view.frame.contains(view.to_nearest_point(place)));
  // Europe lies between America and Asia.
  EXPECT_LT(view.to_nearest_point(kNewYork).x, view.to_nearest_point(kLondon).x);
  EXPECT_LT(view.to_nearest_point(kLondon).x, view.to_nearest_point(kTokyo).x);
}

TEST(FitView, RandomPlacesAreInsideAndTheShapeIsFinite) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> lon(-180, 180);
  std::uniform_real_distribution<double> lat(-84, 84);
  for (int round = 0; round < 300; ++round) {
    std::vector<Degrees> places(1 + random() % 6);
    const double narrow = round % 3 == 0 ? 0.001 : 1;
    for (Degrees& place : places) place = {lon(random) * narrow, lat(random) * narrow};
    std::vector<std::vector<Degrees>> lines;
    for (std::size_t i = 1; i < places.size(); ++i) lines.push_back(great_circle(places[i - 1], places[i]));
    const View view = fit_view(places, lines, 1000);
    ASSERT_GT(view.frame.height, 100);
    ASSERT_LT(view.frame.height, 2000);
    for (const Degrees& place : places) {
      const Point p = view.to_nearest_point(place);
      ASSERT_TRUE(view.frame.grown(1).contains(p))
          << place.lon << ' ' << place.lat << ' ' << p.x << ' ' << p.y;
    }
  }
}

TEST(MakeInsets, EnlargesACrowdWhereNothingElseIs) {
  const std::vector<Degrees> places{kAmsterdam, kFrankfurt, kLondon,     kBuenosAires,
                                    kNewYork,   kTokyo,     kLosAngeles, kSingapore};
  const std::vector<std::vector<Degrees>> lines{great_circle(kTokyo, kLosAngeles),
                                                great_circle(kLondon, kNewYork)};
  const View view = fit_view(places, lines, 1120);
  const auto insets = make_insets(view, places, lines, 2);
  ASSERT_EQ(insets.size(), 1u);
  const Inset& inset = insets.front();
  EXPECT_GT(inset.view.px_per_lon, 3 * view.px_per_lon);
  EXPECT_TRUE(view.frame.contains({inset.view.frame.x, inset.view.frame.y}));
  EXPECT_FALSE(inset.view.frame.overlaps(inset.source));
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Point main = view.to_nearest_point(places[i]);
    EXPECT_FALSE(inset.view.frame.contains(main)) << i;
    EXPECT_EQ(inset.source.contains(main), i < 3) << i;
    EXPECT_EQ(inset.view.frame.contains(inset.view.to_nearest_point(places[i])), i < 3) << i;
  }
}

TEST(MakeInsets, NoneWherePlacesAreApart) {
  const std::vector<Degrees> places{kAmsterdam, kNewYork, kTokyo};
  EXPECT_TRUE(make_insets(fit_view(places, {}, 1120), places, {}, 2).empty());
}

/// Whether a place is on land by the outlines: inside an odd number of rings, lakes among them.
bool on_land(Degrees place) {
  bool inside = false;
  for (const Outline& outline : world_outlines()) {
    const auto& points = outline.points;
    for (std::size_t i = 0, j = points.size() - 1; i < points.size(); j = i++) {
      if ((points[i].lat > place.lat) == (points[j].lat > place.lat)) continue;
      const double share = (place.lat - points[i].lat) / (points[j].lat - points[i].lat);
      if (place.lon < points[i].lon + share * (points[j].lon - points[i].lon)) inside = !inside;
    }
  }
  return inside;
}

TEST(Outlines, LandAndSeaAreWhereTheyAre) {
  const std::pair<const char*, Degrees> land[] = {
      {"Berlin", {13.4, 52.5}},      {"Madrid", {-3.7, 40.4}},     {"Moscow", {37.6, 55.8}},
      {"Delhi", {77.2, 28.6}},       {"Wuhan", {114.3, 30.6}},     {"Riyadh", {46.7, 24.6}},
      {"Ankara", {32.9, 39.9}},      {"Nairobi", {36.8, -1.3}},    {"Kano", {8.5, 12.0}},
      {"Denver", {-105, 39.7}},      {"Winnipeg", {-97.1, 49.9}},  {"Brasilia", {-47.9, -15.8}},
      {"La Paz", {-68.1, -16.5}},    {"Alice", {133.9, -23.7}},    {"Birmingham", {-1.9, 52.5}},
      {"Fairbanks", {-147.7, 64.8}}, {"Yakutsk", {129.7, 62}},     {"Kyoto", {135.8, 35.0}},
      {"Bangkok", {100.8, 14.5}},    {"Johannesburg", {28, -26.2}}};
  for (const auto& [name, place] : land) EXPECT_TRUE(on_land(place)) << name;
  const std::pair<const char*, Degrees> sea[] = {
      {"Atlantic", {-35, 40}},        {"Pacific", {-140, 20}},         {"Indian Ocean", {75, -20}},
      {"Gulf of Mexico", {-90, 25}},  {"Hudson Bay", {-85, 60}},       {"North Sea", {3, 56}},
      {"Baltic", {19.5, 57}},         {"Black Sea", {34, 43.3}},       {"Mediterranean", {18, 35}},
      {"Red Sea", {38, 20.5}},        {"Arabian Sea", {65, 15}},       {"Caspian", {51, 41}},
      {"South China Sea", {114, 13}}, {"Sea of Japan", {134.5, 39.5}}, {"Tasman Sea", {160, -38}},
      {"Lake Superior", {-88, 47.6}}};
  for (const auto& [name, place] : sea) EXPECT_FALSE(on_land(place)) << name;
}

}  // namespace
}  // namespace tombolo::report
