#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/report/geometry.h"

/// Pieces of SVG that several drawings are made of.
namespace tombolo::report {

/// The d of a path through the points.
std::string path_data(const std::vector<Point>& points, bool closed);

/// The world's land and lakes as a view shows them: two paths, of the classes land and sea.
std::string draw_outlines(const View& view);

/// A text at a place; `css_class` says how it is anchored: "axis" in the middle, "start", "end".
std::string svg_text(double x, double y, std::string_view css_class, std::string_view text);

}  // namespace tombolo::report
