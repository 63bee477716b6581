#include "tools/report/bar_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/report/drawing.h"
#include "tools/report/text.h"

namespace tombolo::report {
namespace {

constexpr double kWidthPx = 860;
constexpr double kLabelPx = 250;
constexpr double kFigurePx = 170;
constexpr double kBarPx = 16;
constexpr double kStepPx = 22;
constexpr double kBottomPx = 20;
constexpr std::size_t kMostLabelCharacters = 36;

/// Two slanted strokes at the end of a bar that goes on beyond the drawing.
std::string draw_cut(double x, double y) {
  return fmt::format("<path class=\"cut\" d=\"M{0} {1}l4 {2}M{3} {1}l4 {2}\"/>\n", format_coordinate(x - 14),
                     format_coordinate(y - 1), format_coordinate(kBarPx + 2), format_coordinate(x - 9));
}

}  // namespace

std::string bar_chart(const BarChart& chart) {
  double most = chart.marked.value_or(0);
  for (const NamedBar& bar : chart.bars)
    if (std::isfinite(bar.value)) most = std::max(most, bar.value);
  if (chart.most) most = std::min(most, *chart.most);
  const double room = kWidthPx - kLabelPx - kFigurePx;
  const double px_per_unit = most > 0 ? room / most : 0;
  const double floor = kStepPx * static_cast<double>(chart.bars.size()) + 4;
  std::string out = fmt::format(
      "<div class=\"drawing\"><svg class=\"chart wide\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "role=\"img\" aria-label=\"{2}\">\n",
      format_coordinate(kWidthPx), format_coordinate(floor + kBottomPx), escape_html(chart.title));
  double y = 4;
  for (const NamedBar& bar : chart.bars) {
    const bool is_cut = !std::isfinite(bar.value) || bar.value > most * (1 + 1e-9);
    const double width = std::max(1.0, is_cut ? room : bar.value * px_per_unit);
    out += svg_text(kLabelPx - 10, y + 13, bar.emphasised ? "end strong" : "end",
                    shorten(bar.label, kMostLabelCharacters));
    const std::string tip = bar.label + "\n" + bar.figure + (bar.tip.empty() ? "" : "\n" + bar.tip);
    out += fmt::format(
        "<rect class=\"bar{}\" data-tip=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"2\"/>\n",
        bar.emphasised ? "" : " plain", escape_html(tip), format_coordinate(kLabelPx), format_coordinate(y),
        format_coordinate(width), format_coordinate(kBarPx));
    if (is_cut) out += draw_cut(kLabelPx + width, y);
    out += svg_text(kLabelPx + width + 8, y + 13, bar.emphasised ? "start strong" : "start", bar.figure);
    y += kStepPx;
  }
  if (chart.marked) {
    const std::string x = format_coordinate(kLabelPx + *chart.marked * px_per_unit);
    out += fmt::format("<line class=\"predicted\" x1=\"{0}\" x2=\"{0}\" y1=\"0\" y2=\"{1}\"/>\n", x,
                       format_coordinate(floor));
    out += svg_text(kLabelPx + *chart.marked * px_per_unit, floor + 14, "axis start", chart.marked_label);
  }
  return out + "</svg></div>\n";
}

}  // namespace tombolo::report
