#include "tools/report/drawing.h"

#include <fmt/format.h>

#include "tools/report/outlines.h"
#include "tools/report/text.h"

namespace tombolo::report {

std::string path_data(const std::vector<Point>& points, bool closed) {
  std::string data;
  for (const Point& p : points)
    data += (data.empty() ? "M" : "L") + format_coordinate(p.x) + " " + format_coordinate(p.y);
  return closed ? data + "Z" : data;
}

std::string draw_outlines(const View& view) {
  std::string land;
  std::string water;
  for (const Outline& outline : world_outlines())
    for (const std::vector<Point>& ring : project(outline.points, view))
      (outline.surface == Surface::kLand ? land : water) += path_data(ring, true);
  return fmt::format("<path class=\"land\" d=\"{}\"/>\n<path class=\"sea\" d=\"{}\"/>\n", land, water);
}

std::string svg_text(double x, double y, std::string_view css_class, std::string_view text) {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n", css_class, format_coordinate(x),
                     format_coordinate(y), escape_html(text));
}

}  // namespace tombolo::report
