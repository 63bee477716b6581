#include "tools/report/geometry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace tombolo::report {
namespace {

constexpr double kRadiansPerDegree = std::numbers::pi / 180;
constexpr double kMarginDeg = 8;
constexpr double kLeastWidthDeg = 6;
constexpr double kLeastAspect = 1.9;  // Width over height of a map.
constexpr double kMostAspect = 2.4;
constexpr double kMostLatitude = 85;
// Where maps of the whole world are cut by custom: the Bering Strait. A site so near to it would lie at the
// rim.
constexpr double kCustomaryCutDeg = -169;
constexpr double kRimDeg = 12;

using Vector = std::array<double, 3>;

Vector to_vector(Degrees place) {
  const double lat = place.lat * kRadiansPerDegree;
  const double lon = place.lon * kRadiansPerDegree;
  return {std::cos(lat) * std::cos(lon), std::cos(lat) * std::sin(lon), std::sin(lat)};
}

/// The turn of `lon` that is nearest to `reference`.
double unwrap(double lon, double reference) { return lon - 360 * std::round((lon - reference) / 360); }

/// The middle of the widest span of longitudes without a place.
double find_cut(std::span<const Degrees> places) {
  std::vector<double> lons;
  for (const Degrees& place : places) lons.push_back(place.lon - 360 * std::floor(place.lon / 360));
  std::sort(lons.begin(), lons.end());
  double widest = lons.front() + 360 - lons.back();
  double cut = lons.back() + widest / 2;
  for (std::size_t i = 1; i < lons.size(); ++i)
    if (lons[i] - lons[i - 1] > widest) {
      widest = lons[i] - lons[i - 1];
      cut = lons[i - 1] + widest / 2;
    }
  return cut >= 180 ? cut - 360 : cut;
}

struct Bounds {
  double west = 1e9;
  double east = -1e9;
  double south = 1e9;
  double north = -1e9;

  void add(double lon, double lat) {
    west = std::min(west, lon);
    east = std::max(east, lon);
    south = std::min(south, lat);
    north = std::max(north, lat);
  }
  void widen(double by_lon, double by_lat) {
    west -= by_lon;
    east += by_lon;
    south -= by_lat;
    north += by_lat;
  }
};

/// Gives the bounds a shape that suits a page, and turns them into a view.
View shape_view(Bounds bounds, bool all_round, double width_px) {
  const double middle_lat = (bounds.south + bounds.north) / 2;
  // Shapes are right at the standard parallel; the whole world looks best a little away from the equator.
  const double standard = all_round ? 35 : std::min(std::abs(middle_lat), 65.0);
  const double lat_per_lon = 1 / std::cos(standard * kRadiansPerDegree);
  double height = (bounds.north - bounds.south) * lat_per_lon;
  const double width = bounds.east - bounds.west;
  if (width / height > kMostAspect) {
    const double missing = (width / kMostAspect - height) / lat_per_lon;
    bounds.widen(0, missing / 2);
  } else if (width / height < kLeastAspect && !all_round) {
    const double wanted = std::min(height * kLeastAspect, 360.0);
    bounds.widen((wanted - width) / 2, 0);
  }
  bounds.north = std::min(bounds.north, kMostLatitude);
  bounds.south = std::max(bounds.south, -kMostLatitude);
  View view;
  view.west_deg = bounds.west;
  view.north_deg = bounds.north;
  view.px_per_lon = width_px / (bounds.east - bounds.west);
  view.px_per_lat = view.px_per_lon * lat_per_lon;
  view.frame = {0, 0, width_px, std::round((bounds.north - bounds.south) * view.px_per_lat)};
  return view;
}

}  // namespace

Point View::to_nearest_point(Degrees place) const {
  return to_point({unwrap(place.lon, west_deg + width_deg() / 2), place.lat});
}

std::vector<Degrees> great_circle(Degrees a, Degrees b) {
  const Vector from = to_vector(a);
  const Vector to = to_vector(b);
  const double cosine = from[0] * to[0] + from[1] * to[1] + from[2] * to[2];
  const double angle = std::acos(std::clamp(cosine, -1.0, 1.0));
  const double sine = std::sin(angle);
  std::vector<Degrees> line{a};
  // Between opposite points every circle is as short; and very near points need no curve.
  const int steps = sine < 1e-3 ? 1 : 4 + static_cast<int>(angle / kRadiansPerDegree / 2);
  for (int i = 1; i < steps; ++i) {
    const double t = static_cast<double>(i) / steps;
    const double weight_a = std::sin((1 - t) * angle) / sine;
    const double weight_b = std::sin(t * angle) / sine;
    const double x = weight_a * from[0] + weight_b * to[0];
    const double y = weight_a * from[1] + weight_b * to[1];
    const double z = weight_a * from[2] + weight_b * to[2];
    const double lon = std::atan2(y, x) / kRadiansPerDegree;
    line.push_back({unwrap(lon, line.back().lon), std::asin(std::clamp(z, -1.0, 1.0)) / kRadiansPerDegree});
  }
  line.push_back({unwrap(b.lon, line.back().lon), b.lat});
  return line;
}

std::vector<std::vector<Point>> project(std::span<const Degrees> line, const View& view) {
  std::vector<std::vector<Point>> copies;
  for (const double turn : {-360.0, 0.0, 360.0}) {
    std::vector<Point> points;
    Rect box{1e9, 1e9, 0, 0};
    Point far{-1e9, -1e9};
    for (const Degrees& place : line) {
      const Point p = view.to_point({place.lon + turn, place.lat});
      points.push_back(p);
      box.x = std::min(box.x, p.x);
      box.y = std::min(box.y, p.y);
      far = {std::max(far.x, p.x), std::max(far.y, p.y)};
    }
    box.width = far.x - box.x;
    box.height = far.y - box.y;
    // Grown, because a straight line has no area.
    if (!points.empty() && box.grown(0.5).overlaps(view.frame)) copies.push_back(std::move(points));
  }
  return copies;
}

View fit_view(std::span<const Degrees> places, std::span<const std::vector<Degrees>> lines, double width_px) {
  if (places.empty()) return shape_view({-180, 180, -58, 80}, true, width_px);
  const double cut = find_cut(places);
  Bounds bounds;
  for (const Degrees& place : places) bounds.add(unwrap(place.lon, cut + 180), place.lat);
  bool crossed = false;
  for (const std::vector<Degrees>& line : lines) {
    const double turn = unwrap(line.front().lon, cut + 180) - line.front().lon;
    for (const Degrees& place : line) {
      crossed = crossed || place.lon + turn < cut || place.lon + turn > cut + 360;
      bounds.add(place.lon + turn, place.lat);
    }
  }
  const double width = bounds.east - bounds.west;
  const double margin = std::max(kMarginDeg * std::min(1.0, width / 60), kLeastWidthDeg / 6);
  bounds.widen(margin, margin);
  if (bounds.east - bounds.west < kLeastWidthDeg)
    bounds.widen((kLeastWidthDeg - (bounds.east - bounds.west)) / 2, 0);
  if (crossed || bounds.east - bounds.west > 360) {
    const bool at_rim = std::any_of(places.begin(), places.end(), [](const Degrees& place) {
      return std::abs(unwrap(place.lon, kCustomaryCutDeg) - kCustomaryCutDeg) < kRimDeg;
    });
    bounds.west = at_rim ? cut : kCustomaryCutDeg;
    bounds.east = bounds.west + 360;
    return shape_view(bounds, true, width_px);
  }
  return shape_view(bounds, false, width_px);
}

}  // namespace tombolo::report
