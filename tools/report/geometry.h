#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tools/report/outlines.h"

namespace tombolo::report {

/// A place in a drawing, in pixels; y grows downwards.
struct Point {
  double x = 0;
  double y = 0;
};

struct Rect {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
  bool contains(Point p) const { return p.x >= x && p.x <= right() && p.y >= y && p.y <= bottom(); }
  bool overlaps(const Rect& other) const {
    return x < other.right() && other.x < right() && y < other.bottom() && other.y < bottom();
  }
  /// Wider by `by` pixels on each side.
  Rect grown(double by) const { return {x - by, y - by, width + 2 * by, height + 2 * by}; }
};

/// A part of the globe shown in a rectangle by an equirectangular projection.
struct View {
  Rect frame;
  double west_deg = -180;  ///< Longitude of the left side.
  double north_deg = 90;   ///< Latitude of the upper side.
  double px_per_lon = 1;
  double px_per_lat = 1;

  double width_deg() const { return frame.width / px_per_lon; }
  double height_deg() const { return frame.height / px_per_lat; }
  /// Where a place lies; its longitude is taken as it is, so that what crosses the date line stays in one
  /// piece.
  Point to_point(Degrees place) const {
    return {frame.x + (place.lon - west_deg) * px_per_lon, frame.y + (north_deg - place.lat) * px_per_lat};
  }
  /// The same after whole turns that bring it as near to the middle of the view as can be.
  Point to_nearest_point(Degrees place) const;
};

/// The shorter great circle from a to b. Its longitudes begin at a.lon and go on beyond +-180 where need be.
std::vector<Degrees> great_circle(Degrees a, Degrees b);

/// A line as it appears in a view: once for each whole turn at which some of it is inside.
std::vector<std::vector<Point>> project(std::span<const Degrees> line, const View& view);

/// A view of all places, and of the whole lines between them, `width_px` wide. The globe is cut where no
/// place is for longest. If a line crosses that cut, the view goes all the way round, from the Bering Strait
/// where no place is near to it, and a line that crosses its rim leaves and comes in again.
View fit_view(std::span<const Degrees> places, std::span<const std::vector<Degrees>> lines, double width_px);

/// A part of a view, drawn larger.
struct Inset {
  Rect source;  ///< In the main view.
  View view;
};

/// Enlarges groups of places whose dots would touch in `view`: the largest groups first, at most `most`.
/// Each is put where the main view is emptiest; a group for which there is no room has no inset.
std::vector<Inset> make_insets(const View& view, std::span<const Degrees> places,
                               std::span<const std::vector<Degrees>> lines, std::size_t most);

}  // namespace tombolo::report
