#include "tools/report/labels.h"

#include <gtest/gtest.h>

#include <random>

namespace tombolo::report {
namespace {

constexpr Rect kBounds{0, 0, 800, 500};
constexpr double kRadius = 6;

Obstacles dots_of(const std::vector<Label>& labels) {
  Obstacles obstacles;
  obstacles.dot_radius_px = kRadius;
  for (const Label& label : labels) obstacles.dots.push_back(label.dot);
  return obstacles;
}

/// What must hold for every placement.
void expect_apart(const std::vector<PlacedLabel>& placed, const Obstacles& obstacles) {
  for (std::size_t i = 0; i < placed.size(); ++i) {
    if (!placed[i].shown) continue;
    const Rect& box = placed[i].box;
    EXPECT_TRUE(kBounds.contains({box.x, box.y}) && kBounds.contains({box.right(), box.bottom()})) << i;
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_FALSE(placed[j].shown && box.overlaps(placed[j].box)) << i << " and " << j;
    for (const Point& dot : obstacles.dots) EXPECT_FALSE(box.grown(kRadius).contains(dot)) << i;
    for (const Rect& taken : obstacles.taken) EXPECT_FALSE(box.overlaps(taken)) << i;
  }
}

TEST(PlaceLabels, ALonelyOneStandsToTheRight) {
  const std::vector<Label> labels{{{400, 250}, 80, 15}};
  const auto placed = place_labels(labels, dots_of(labels), kBounds);
  ASSERT_TRUE(placed[0].shown);
  EXPECT_FALSE(placed[0].leader);
  EXPECT_GT(placed[0].box.x, 400 + kRadius);
  EXPECT_NEAR(placed[0].box.y + 7.5, 250, 1e-9);
}

TEST(PlaceLabels, AtTheEdgeItStandsInside) {
  const std::vector<Label> labels{{{795, 4}, 80, 15}, {{3, 496}, 80, 15}};
  const auto placed = place_labels(labels, dots_of(labels), kBounds);
  EXPECT_TRUE(placed[0].shown && placed[1].shown);
  expect_apart(placed, dots_of(labels));
}

TEST(PlaceLabels, AvoidsALineWhereItCan) {
  const std::vector<Label> labels{{{400, 250}, 80, 15}};
  Obstacles obstacles = dots_of(labels);
  for (double x = 400; x < 800; x += 4) obstacles.line_points.push_back({x, 250});
  const auto placed = place_labels(labels, obstacles, kBounds);
  ASSERT_TRUE(placed[0].shown);
  for (const Point& p : obstacles.line_points) EXPECT_FALSE(placed[0].box.contains(p));
}

TEST(PlaceLabels, ThreeNeighboursDoNotCollide) {
  // London, Amsterdam and Frankfurt at the scale of a world map.
  const std::vector<Label> labels{{{560, 100}, 85, 15}, {{575, 97}, 100, 15}, {{587, 105}, 92, 15}};
  const auto placed = place_labels(labels, dots_of(labels), kBounds);
  for (const PlacedLabel& label : placed) EXPECT_TRUE(label.shown);
  expect_apart(placed, dots_of(labels));
}

TEST(PlaceLabels, NoRoomIsNoName) {
  const std::vector<Label> labels{{{400, 250}, 80, 15}};
  Obstacles obstacles = dots_of(labels);
  obstacles.taken.push_back(kBounds);
  EXPECT_FALSE(place_labels(labels, obstacles, kBounds)[0].shown);
  const std::vector<Label> wide{{{400, 250}, 900, 15}};
  EXPECT_FALSE(place_labels(wide, dots_of(wide), kBounds)[0].shown);
}

TEST(PlaceLabels, RandomCrowdsStayApart) {
  const std::uint32_t seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int round = 0; round < 40; ++round) {
    std::vector<Label> labels(1 + random() % 80);
    for (Label& label : labels)
      label = {{800 * unit(random), 500 * unit(random)}, 20 + 100 * unit(random), 15};
    Obstacles obstacles = dots_of(labels);
    obstacles.taken.push_back({100, 100, 150, 80});
    for (int i = 0; i < 300; ++i) obstacles.line_points.push_back({800 * unit(random), 500 * unit(random)});
    expect_apart(place_labels(labels, obstacles, kBounds), obstacles);
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace tombolo::report
