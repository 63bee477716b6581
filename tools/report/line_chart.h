#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tombolo::report {

/// One thing over another: a line through its points, or, with one point, a dot.
struct Line {
  std::string label;
  std::vector<std::pair<double, double>> points;  ///< In ascending x; finite.
};

struct LineChart {
  std::string title;   ///< What a reader hears who does not see it.
  std::string x_axis;  ///< Below the axis, with its unit.
  std::string y_axis;  ///< Above the axis, with its unit.
  std::vector<Line> lines;
};

/// Lines over axes that begin at 0; negative values are cut off. Colours come round after eight lines, dashed
/// from then on. Below the chart a legend names the lines, in their order.
std::string line_chart(const LineChart& chart);

}  // namespace tombolo::report
