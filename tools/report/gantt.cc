#include "tools/report/gantt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
constexpr double kLanePx = 21;
constexpr double kBarPx = 15;
constexpr std::size_t kColours = 8;
constexpr std::size_t kMostLaneCharacters = 9;

/// From seconds and lanes to places in the drawing.
struct Frame {
  double px_per_s = 1;
  double floor = 0;
  double x(double seconds) const { return kLeftPx + seconds * px_per_s; }
  static double y(std::size_t lane) { return kTopPx + kLanePx * static_cast<double>(lane) + 3; }
};

std::string draw_part(double x, double end, double y, const char* part, std::size_t colour) {
  if (end - x < 0.05) return {};
  return fmt::format("<rect class=\"{} c{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>", part,
                     colour % kColours, format_coordinate(x), format_coordinate(y),
                     format_coordinate(end - x), format_coordinate(kBarPx));
}

std::string draw_clique(const GanttRound& round, std::size_t colour, double start_s, const Frame& frame) {
  const GanttClique& clique = round.cliques[colour];
  std::string tip = fmt::format("{}\nlatency {:.3f} s\nalone {:.3f} s\nround {:.3f} s", clique.name,
                                clique.latency_s, clique.alone_s, round.seconds);
  if (!clique.note.empty()) tip += "\n" + clique.note;
  const double end_s = start_s + round.seconds;
  const double latency_s = std::min(start_s + clique.latency_s, end_s);
  const double alone_s = std::clamp(start_s + clique.alone_s, latency_s, end_s);
  std::string out = fmt::format("<g data-tip=\"{}\">", escape_html(tip));
  for (const std::size_t lane : clique.lanes) {
    const double y = Frame::y(lane);
    out += draw_part(frame.x(start_s), frame.x(end_s) - 1.5, y, "slack", colour);
    out += draw_part(frame.x(start_s), frame.x(latency_s), y, "latency", colour);
    out += draw_part(frame.x(latency_s), std::min(frame.x(alone_s), frame.x(end_s) - 1.5), y, "transfer",
                     colour);
  }
  return out + "</g>\n";
}

std::string draw_axes(const Gantt& gantt, double cycle_s, const Frame& frame) {
  std::string out;
  for (std::size_t lane = 0; lane < gantt.lanes.size(); ++lane)
    out +=
        svg_text(kLeftPx - 10, Frame::y(lane) + 12, "end", shorten(gantt.lanes[lane], kMostLaneCharacters));
  const std::vector<double> ticks = axis_ticks(cycle_s, 8);
  for (const double tick : ticks)
    if (tick <= cycle_s * (1 + 1e-9))
      out += fmt::format("<line class=\"grid\" x1=\"{0}\" x2=\"{0}\" y1=\"{1}\" y2=\"{2}\"/>\n",
                         format_coordinate(frame.x(tick)), format_coordinate(frame.floor),
                         format_coordinate(frame.floor + 5)) +
             svg_text(frame.x(tick), frame.floor + 18, "axis", fmt::format("{:.6g}", tick));
  return out +
         svg_text((kLeftPx + kWidthPx - kRightPx) / 2, frame.floor + 34, "axis", "time in the cycle, s");
}

}  // namespace

std::string gantt_chart(const Gantt& gantt) {
  double cycle_s = 0;
  for (const GanttRound& round : gantt.rounds) cycle_s += round.seconds;
  if (!(cycle_s > 0) || !std::isfinite(cycle_s)) return {};
  const Frame frame{(kWidthPx - kLeftPx - kRightPx) / cycle_s,
                    kTopPx + kLanePx * static_cast<double>(gantt.lanes.size())};
  std::string out = fmt::format(
      "<div class=\"drawing\"><svg class=\"chart wide gantt\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" "
      "height=\"{1}\" role=\"img\" aria-label=\"The rounds of a cycle over time; the table of rounds has the "
      "figures\">\n",
      format_coordinate(kWidthPx), format_coordinate(frame.floor + kBottomPx));
  out += draw_axes(gantt, cycle_s, frame);
  double start_s = 0;
  for (const GanttRound& round : gantt.rounds) {
    const double end_s = start_s + round.seconds;
    out += fmt::format("<line class=\"barrier\" x1=\"{0}\" x2=\"{0}\" y1=\"{1}\" y2=\"{2}\"/>\n",
                       format_coordinate(frame.x(end_s) - 0.75), format_coordinate(kTopPx - 30),
                       format_coordinate(frame.floor));
    const auto room = static_cast<std::size_t>(std::max(0.0, (round.seconds * frame.px_per_s - 8) / 7.0));
    if (room >= 3) {
      out += svg_text(frame.x(start_s) + 3, kTopPx - 20, "start strong", shorten(round.label, room));
      out += svg_text(frame.x(start_s) + 3, kTopPx - 6, "start soft", shorten(round.bottleneck, room));
    }
    for (std::size_t c = 0; c < round.cliques.size(); ++c) out += draw_clique(round, c, start_s, frame);
    start_s = end_s;
  }
  return out +
         "</svg></div>\n<p class=\"legend\"><span><i class=\"key latency c0\"></i>latency</span><span><i "
         "class=\"key transfer c0\"></i>transfer, as if alone</span><span><i class=\"key slack "
         "c0\"></i>slower because links are shared, or waiting for the barrier</span></p>\n";
}

}  // namespace tombolo::report
