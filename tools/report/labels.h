#pragma once

#include <span>
#include <vector>

#include "tools/report/geometry.h"

namespace tombolo::report {

/// A name that wants to stand beside its dot.
struct Label {
  Point dot;
  double width_px = 0;
  double height_px = 0;
};

struct PlacedLabel {
  bool shown = false;  ///< False where there was no room: the name is then only in the dot's tooltip.
  Rect box;
  bool leader = false;  ///< It stands so far away that a line must join it to its dot.
};

/// What names should not lie on.
struct Obstacles {
  std::vector<Point> dots;  ///< Never; all dots of the drawing, those without names too.
  double dot_radius_px = 0;
  std::vector<Rect> taken;         ///< Never, such as insets.
  std::vector<Point> line_points;  ///< Rather not.
};

/// Places names inside `bounds` so that no two overlap and none covers a dot; names in crowds choose first.
std::vector<PlacedLabel> place_labels(std::span<const Label> labels, const Obstacles& obstacles,
                                      const Rect& bounds);

}  // namespace tombolo::report
