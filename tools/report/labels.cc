#include "tools/report/labels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace tombolo::report {
namespace {

constexpr double kGapPx = 4;
constexpr double kLeaderPx = 14;  // From this distance on a line joins name and dot.
constexpr std::array<double, 5> kDistancesPx{0, 10, 22, 36, 52};
constexpr int kDirections = 16;

/// How many points of lines lie in each cell of a grid, so that a rectangle is weighed by a few look-ups.
class Crowd {
 public:
  Crowd(const Rect& bounds, std::span<const Point> points)
      : bounds_(bounds),
        columns_(1 + static_cast<std::size_t>(bounds.width / kCellPx)),
        rows_(1 + static_cast<std::size_t>(bounds.height / kCellPx)),
        counts_(columns_ * rows_) {
    for (const Point& p : points)
      if (bounds.contains(p)) ++counts_[row(p.y) * columns_ + column(p.x)];
  }

  double within(const Rect& box) const {
    std::uint32_t count = 0;
    for (std::size_t r = row(box.y); r <= row(box.bottom()); ++r)
      for (std::size_t c = column(box.x); c <= column(box.right()); ++c) count += counts_[r * columns_ + c];
    return count;
  }

 private:
  static constexpr double kCellPx = 5;
  std::size_t column(double x) const { return index(x - bounds_.x, columns_); }
  std::size_t row(double y) const { return index(y - bounds_.y, rows_); }
  static std::size_t index(double offset, std::size_t count) {
    return static_cast<std::size_t>(std::clamp(offset / kCellPx, 0.0, static_cast<double>(count - 1)));
  }

  Rect bounds_;
  std::size_t columns_;
  std::size_t rows_;
  std::vector<std::uint32_t> counts_;
};

/// The label's rectangle in direction `step` (0 is east, then clockwise), with its nearest side or corner
/// `distance` away from the dot along one axis.
Rect candidate(const Label& label, int step, double distance) {
  const double angle = 2 * std::numbers::pi * step / kDirections;
  // On a square instead of a circle, so that a wide box at a slant does not reach back over its dot.
  const double stretch = 1 / std::max(std::abs(std::cos(angle)), std::abs(std::sin(angle)));
  const double dx = stretch * std::cos(angle);
  const double dy = stretch * std::sin(angle);
  const Point centre{label.dot.x + dx * (distance + label.width_px / 2),
                     label.dot.y + dy * (distance + label.height_px / 2)};
  return {centre.x - label.width_px / 2, centre.y - label.height_px / 2, label.width_px, label.height_px};
}

bool covers_dot(const Rect& box, const Obstacles& obstacles) {
  const Rect grown = box.grown(obstacles.dot_radius_px + 1);
  return std::any_of(obstacles.dots.begin(), obstacles.dots.end(),
                     [&](Point dot) { return grown.contains(dot); });
}

/// Names whose dots have the nearest neighbours come first.
std::vector<std::size_t> by_crowding(std::span<const Label> labels, const Obstacles& obstacles) {
  std::vector<double> nearest(labels.size(), std::numeric_limits<double>::max());
  for (std::size_t i = 0; i < labels.size(); ++i)
    for (const Point& dot : obstacles.dots) {
      const double away = std::hypot(dot.x - labels[i].dot.x, dot.y - labels[i].dot.y);
      if (away > 0) nearest[i] = std::min(nearest[i], away);
    }
  std::vector<std::size_t> order(labels.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return nearest[a] < nearest[b]; });
  return order;
}

}  // namespace

std::vector<PlacedLabel> place_labels(std::span<const Label> labels, const Obstacles& obstacles,
                                      const Rect& bounds) {
  std::vector<PlacedLabel> placed(labels.size());
  const Crowd lines(bounds, obstacles.line_points);
  std::vector<Rect> taken = obstacles.taken;
  for (const std::size_t i : by_crowding(labels, obstacles)) {
    double best_cost = std::numeric_limits<double>::max();
    for (const double extra : kDistancesPx) {
      for (int step = 0; step < kDirections; ++step) {
        const Rect box = candidate(labels[i], step, obstacles.dot_radius_px + kGapPx + extra);
        const bool inside = box.x >= bounds.x && box.y >= bounds.y && box.right() <= bounds.right() &&
                            box.bottom() <= bounds.bottom();
        const auto overlaps = [&](const Rect& other) { return box.grown(1).overlaps(other); };
        if (!inside || covers_dot(box, obstacles) || std::any_of(taken.begin(), taken.end(), overlaps))
          continue;
        // Beside the dot is best; the four main directions before the others, to the right before the left.
        const double slant = step % (kDirections / 4) == 0 ? 0 : 0.4;
        const double left = step > kDirections / 4 && step < 3 * kDirections / 4 ? 0.2 : 0;
        const double cost = lines.within(box) * 1.5 + extra / 4 + slant + left;
        if (cost >= best_cost) continue;
        best_cost = cost;
        placed[i] = {.shown = true, .box = box, .leader = extra >= kLeaderPx};
      }
    }
    if (placed[i].shown) taken.push_back(placed[i].box);
  }
  return placed;
}

}  // namespace tombolo::report
