#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tools/report/geometry.h"

namespace tombolo::report {
namespace {

constexpr double kTouchingPx = 26;        // Dots nearer than this leave no room for their names.
constexpr double kMostGroupWidth = 0.12;  // Of the map: a larger group is hardly enlarged by an inset.
constexpr double kMostEnlargement = 12;
constexpr double kInsetWidthPx = 270;
constexpr double kInsetHeightPx = 190;
constexpr double kGapPx = 10;
constexpr double kStepPx = 16;
// In pixels of distance from what is enlarged, for each point that would be covered.
constexpr double kLineCost = 1000;
constexpr double kCoastCost = 12;

using Group = std::vector<std::size_t>;

/// Groups of places that hang together by steps shorter than kTouchingPx; the largest first.
std::vector<Group> find_groups(std::span<const Point> points) {
  std::vector<std::size_t> parent(points.size());
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  const auto root = [&](std::size_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (std::size_t i = 0; i < points.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (std::hypot(points[i].x - points[j].x, points[i].y - points[j].y) < kTouchingPx)
        parent[std::max(root(i), root(j))] = std::min(root(i), root(j));
  std::vector<Group> by_root(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) by_root[root(i)].push_back(i);
  std::erase_if(by_root, [](const Group& group) { return group.size() < 2; });
  std::stable_sort(by_root.begin(), by_root.end(),
                   [](const Group& a, const Group& b) { return a.size() > b.size(); });
  return by_root;
}

Rect box_of(const Group& group, std::span<const Point> points) {
  Point low = points[group.front()];
  Point high = low;
  for (const std::size_t i : group) {
    low = {std::min(low.x, points[i].x), std::min(low.y, points[i].y)};
    high = {std::max(high.x, points[i].x), std::max(high.y, points[i].y)};
  }
  return {low.x, low.y, high.x - low.x, high.y - low.y};
}

/// What an inset may cover if it must.
struct Background {
  std::vector<Point> lines;
  std::vector<Point> coasts;
};

/// The emptiest place for a rectangle of the inset's size: no site under it, as little of the lines as can
/// be, then of the coasts, and among equals the nearest to what it enlarges. Width 0 if there is none.
Rect find_room(const View& view, const Rect& source, std::span<const Point> sites,
               const Background& background, std::span<const Inset> others) {
  Rect best;
  double best_cost = 1e18;
  for (double y = kGapPx; y + kInsetHeightPx + kGapPx <= view.frame.height; y += kStepPx) {
    for (double x = kGapPx; x + kInsetWidthPx + kGapPx <= view.frame.width; x += kStepPx) {
      const Rect room{x, y, kInsetWidthPx, kInsetHeightPx};
      // A site needs room for its name too.
      const Rect with_names = room.grown(28);
      const auto inside = [&](Point p) { return with_names.contains(p); };
      if (with_names.overlaps(source) || std::any_of(sites.begin(), sites.end(), inside)) continue;
      if (std::any_of(others.begin(), others.end(), [&](const Inset& other) {
            return room.grown(kGapPx).overlaps(other.view.frame) || room.overlaps(other.source);
          }))
        continue;
      const auto covered = [&](const std::vector<Point>& points) {
        return static_cast<double>(
            std::count_if(points.begin(), points.end(), [&](Point p) { return room.contains(p); }));
      };
      const double away = std::hypot(x + kInsetWidthPx / 2 - source.x, y + kInsetHeightPx / 2 - source.y);
      const double cost =
          kLineCost * covered(background.lines) + kCoastCost * covered(background.coasts) + away;
      if (cost < best_cost) {
        best_cost = cost;
        best = room;
      }
    }
  }
  return best;
}

View enlarge(const View& view, const Rect& box, const Rect& room) {
  // Names beside the outermost dots need room.
  const double wide = (room.width - 150) / std::max(box.width, 1.0);
  const double high = (room.height - 80) / std::max(box.height, 1.0);
  const double factor = std::clamp(std::min(wide, high), 1.0, kMostEnlargement);
  View inset;
  inset.frame = room;
  inset.px_per_lon = view.px_per_lon * factor;
  inset.px_per_lat = view.px_per_lat * factor;
  const double middle_lon = view.west_deg + (box.x + box.width / 2 - view.frame.x) / view.px_per_lon;
  const double middle_lat = view.north_deg - (box.y + box.height / 2 - view.frame.y) / view.px_per_lat;
  inset.west_deg = middle_lon - inset.width_deg() / 2;
  inset.north_deg = middle_lat + inset.height_deg() / 2;
  return inset;
}

}  // namespace

std::vector<Inset> make_insets(const View& view, std::span<const Degrees> places,
                               std::span<const std::vector<Degrees>> lines, std::size_t most) {
  std::vector<Point> sites;
  for (const Degrees& place : places) sites.push_back(view.to_nearest_point(place));
  Background background;
  const auto add = [&view](std::span<const Degrees> line, std::vector<Point>& points) {
    for (const std::vector<Point>& copy : project(line, view))
      points.insert(points.end(), copy.begin(), copy.end());
  };
  for (const std::vector<Degrees>& line : lines) add(line, background.lines);
  for (const Outline& outline : world_outlines()) add(outline.points, background.coasts);
  std::vector<Inset> insets;
  for (const Group& group : find_groups(sites)) {
    if (insets.size() == most) break;
    const Rect box = box_of(group, sites);
    if (box.width > kMostGroupWidth * view.frame.width) continue;
    const Rect source = box.grown(kGapPx);
    const Rect room = find_room(view, source, sites, background, insets);
    if (room.width == 0) continue;
    insets.push_back({.source = source, .view = enlarge(view, box, room)});
  }
  return insets;
}

}  // namespace tombolo::report
