#include "tools/report/line_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/report/charts.h"
#include "tools/report/text.h"

namespace tombolo::report {
namespace {

constexpr double kWidthPx = 760;
constexpr double kHeightPx = 320;
constexpr double kLeftPx = 56;
constexpr double kRightPx = 14;
constexpr double kTopPx = 26;
constexpr double kBottomPx = 40;
constexpr std::size_t kColours = 8;

/// From values to places in the drawing.
struct Scale {
  std::vector<double> x_ticks;
  std::vector<double> y_ticks;
  double x(double value) const {
    return kLeftPx + std::clamp(value / x_ticks.back(), 0.0, 1.0) * (kWidthPx - kLeftPx - kRightPx);
  }
  double y(double value) const {
    return kHeightPx - kBottomPx -
           std::clamp(value / y_ticks.back(), 0.0, 1.0) * (kHeightPx - kBottomPx - kTopPx);
  }
};

std::string css_class(std::size_t line) {
  return fmt::format("c{}{}", line % kColours, line / kColours % 2 == 1 ? " dashed" : "");
}

std::string svg_text(double x, double y, const char* css, const std::string& text) {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n", css, format_coordinate(x),
                     format_coordinate(y), escape_html(text));
}

std::string draw_axes(const LineChart& chart, const Scale& scale) {
  std::string out;
  for (const double tick : scale.y_ticks) {
    const std::string y = format_coordinate(scale.y(tick));
    out += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>\n",
                       format_coordinate(kLeftPx), format_coordinate(kWidthPx - kRightPx), y, y);
    out += svg_text(kLeftPx - 7, scale.y(tick) + 4, "axis end", fmt::format("{:.6g}", tick));
  }
  for (const double tick : scale.x_ticks)
    out += svg_text(scale.x(tick), kHeightPx - kBottomPx + 17, "axis", fmt::format("{:.6g}", tick));
  out += svg_text(kLeftPx, 14, "axis start", chart.y_axis);
  out += svg_text((kLeftPx + kWidthPx - kRightPx) / 2, kHeightPx - 5, "axis", chart.x_axis);
  return out;
}

std::string draw_line(const Line& line, std::size_t index, const Scale& scale) {
  if (line.points.empty()) return {};
  const auto& [last_x, last_y] = line.points.back();
  const std::string tip = escape_html(fmt::format("{}\n{:.4g}, {:.4g}", line.label, last_x, last_y));
  if (line.points.size() == 1)
    return fmt::format("<circle class=\"dot {}\" data-tip=\"{}\" cx=\"{}\" cy=\"{}\" r=\"6\"/>\n",
                       css_class(index), tip, format_coordinate(scale.x(last_x)),
                       format_coordinate(scale.y(last_y)));
  std::string points;
  for (const auto& [x, y] : line.points)
    points += fmt::format("{}{},{}", points.empty() ? "" : " ", format_coordinate(scale.x(x)),
                          format_coordinate(scale.y(y)));
  return fmt::format("<polyline class=\"curve {}\" data-tip=\"{}\" points=\"{}\"/>\n", css_class(index), tip,
                     points);
}

}  // namespace

std::string line_chart(const LineChart& chart) {
  double most_x = 0;
  double most_y = 0;
  for (const Line& line : chart.lines)
    for (const auto& [x, y] : line.points) {
      most_x = std::max(most_x, x);
      most_y = std::max(most_y, y);
    }
  const Scale scale{axis_ticks(most_x, 6), axis_ticks(most_y, 5)};
  std::string out = fmt::format(
      "<svg class=\"chart\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
      "aria-label=\"{2}\">\n",
      format_coordinate(kWidthPx), format_coordinate(kHeightPx), escape_html(chart.title));
  out += draw_axes(chart, scale);
  for (std::size_t i = 0; i < chart.lines.size(); ++i) out += draw_line(chart.lines[i], i, scale);
  out += "</svg>\n<p class=\"legend\">";
  for (std::size_t i = 0; i < chart.lines.size(); ++i)
    out += fmt::format("<span><i class=\"key curve {}\"></i>{}</span>", css_class(i),
                       escape_html(chart.lines[i].label));
  return out + "</p>\n";
}

}  // namespace tombolo::report
