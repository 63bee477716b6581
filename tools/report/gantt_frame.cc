#include "tools/report/gantt_frame.h"

#include <fmt/format.h>

#include "tools/report/charts.h"
#include "tools/report/drawing.h"
#include "tools/report/text.h"

namespace tombolo::report {
namespace {

constexpr double kWidthPx = 1120;
constexpr double kLeftPx = 76;
constexpr double kRightPx = 16;
constexpr double kTopPx = 40;
constexpr double kBottomPx = 38;
constexpr double kLastInvisiblePx = 0.05;
constexpr std::size_t kColours = 8;
constexpr std::size_t kMostLaneCharacters = 9;

}  // namespace

double GanttFrame::px_per_s() const { return (kWidthPx - kLeftPx - kRightPx) / span_s; }
double GanttFrame::x(double seconds) const { return kLeftPx + seconds * px_per_s(); }
double GanttFrame::top() const { return kTopPx; }
double GanttFrame::y(std::size_t lane) const { return kTopPx + lane_px * static_cast<double>(lane) + 3; }
double GanttFrame::floor() const { return kTopPx + lane_px * static_cast<double>(lanes); }

std::string open_gantt(const GanttFrame& frame, const std::string& what) {
  return fmt::format(
      "<div class=\"drawing\"><svg class=\"chart wide gantt\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\" aria-label=\"{2}\">\n",
      format_coordinate(kWidthPx), format_coordinate(frame.floor() + kBottomPx), escape_html(what));
}

std::string draw_gantt_axes(const GanttFrame& frame, const std::vector<std::string>& lanes,
                            const std::string& caption) {
  std::string out;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane)
    out += svg_text(kLeftPx - 10, frame.y(lane) + (frame.lane_px + 3) / 2, "end",
                    shorten(lanes[lane], kMostLaneCharacters));
  for (const double tick : axis_ticks(frame.span_s, 8))
    if (tick <= frame.span_s * (1 + 1e-9))
      out += fmt::format("<line class=\"grid\" x1=\"{0}\" x2=\"{0}\" y1=\"{1}\" y2=\"{2}\"/>\n",
                         format_coordinate(frame.x(tick)), format_coordinate(frame.floor()),
                         format_coordinate(frame.floor() + 5)) +
             svg_text(frame.x(tick), frame.floor() + 18, "axis", fmt::format("{:.6g}", tick));
  return out + svg_text((kLeftPx + kWidthPx - kRightPx) / 2, frame.floor() + 34, "axis", caption);
}

std::string draw_gantt_barrier(const GanttFrame& frame, double seconds, double above_px) {
  return fmt::format("<line class=\"barrier\" x1=\"{0}\" x2=\"{0}\" y1=\"{1}\" y2=\"{2}\"/>\n",
                     format_coordinate(frame.x(seconds) - 0.75), format_coordinate(kTopPx - above_px),
                     format_coordinate(frame.floor()));
}

std::string draw_gantt_part(double x, double end, double y, double height, const char* part,
                            std::size_t colour) {
  if (end - x < kLastInvisiblePx) return {};
  return fmt::format("<rect class=\"{} c{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>", part,
                     colour % kColours, format_coordinate(x), format_coordinate(y),
                     format_coordinate(end - x), format_coordinate(height));
}

}  // namespace tombolo::report
