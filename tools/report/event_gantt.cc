#include "tools/report/event_gantt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/report/drawing.h"
#include "tools/report/gantt_frame.h"
#include "tools/report/text.h"

namespace tombolo::report {
namespace {

constexpr double kLeastLanePx = 21;
constexpr double kGapPx = 6;   // Between lanes.
constexpr double kLinePx = 6;  // Of one fragment among several.
constexpr double kAboveLanesPx = 14;
constexpr double kMostDrawnCycles = 1000;  // A span of more is a mistake, not a drawing.

struct Lines {
  std::size_t count = 1;
  double px = 0;
};

/// The part of a bar from one time to another that is inside the span.
std::string draw_part(const GanttFrame& frame, double from_s, double until_s, double y, double height,
                      const char* part, std::size_t colour) {
  return draw_gantt_part(frame.x(std::clamp(from_s, 0.0, frame.span_s)),
                         frame.x(std::clamp(until_s, 0.0, frame.span_s)), y, height, part, colour);
}

std::string draw_bar(const EventBar& bar, double cycle_s, const GanttFrame& frame, const Lines& lines) {
  const double end_s = bar.start_s + bar.sending_s + bar.latency_s;
  std::string out;
  for (double start_s = bar.start_s - std::ceil(end_s / cycle_s) * cycle_s; start_s < frame.span_s;
       start_s += cycle_s) {
    const double sent_s = start_s + bar.sending_s;
    for (const std::size_t lane : bar.lanes) {
      const double y = frame.y(lane) + lines.px * static_cast<double>(bar.fragment);
      out += draw_part(frame, start_s, sent_s, y, lines.px - 1, "transfer", bar.round);
      out += draw_part(frame, sent_s, sent_s + bar.latency_s, y, lines.px - 1, "latency", bar.round);
    }
  }
  const std::string tip =
      fmt::format("{}\nround {}, fragment {}\nstart {:.3f} s\nsending {:.3f} s\nlatency {:.3f} s", bar.name,
                  bar.round, bar.fragment, bar.start_s, bar.sending_s, bar.latency_s);
  return fmt::format("<g data-tip=\"{}\">{}</g>\n", escape_html(tip), out);
}

}  // namespace

std::string event_gantt_chart(const EventGantt& gantt) {
  if (!(gantt.cycle_s > 0) || !(gantt.span_s > 0) || !std::isfinite(gantt.span_s) ||
      gantt.span_s > kMostDrawnCycles * gantt.cycle_s)
    return {};
  const std::size_t drawn = std::clamp(gantt.fragments, std::size_t{1}, kMostDrawnFragments);
  const double lane_px = std::max(kLeastLanePx, kGapPx + kLinePx * static_cast<double>(drawn));
  const Lines lines{drawn, (lane_px - kGapPx + 1) / static_cast<double>(drawn)};
  const GanttFrame frame{gantt.span_s, lane_px, gantt.lanes.size()};
  std::string out = open_gantt(
      frame, "The exchanges of the steady state over time; the table of exchanges has the figures");
  out += draw_gantt_axes(frame, gantt.lanes, "time in the steady state, s");
  for (double begin_s = 0; begin_s < gantt.span_s; begin_s += gantt.cycle_s) {
    if (begin_s > 0) out += draw_gantt_barrier(frame, begin_s, kAboveLanesPx);
    if (gantt.cycle_s * frame.px_per_s() > 60)
      out += svg_text(frame.x(begin_s) + 3, frame.top() - 6, "start soft",
                      begin_s == 0 ? "a cycle" : "the next");
  }
  for (const EventBar& bar : gantt.bars)
    if (bar.fragment < lines.count) out += draw_bar(bar, gantt.cycle_s, frame, lines);
  return out +
         "</svg></div>\n<p class=\"legend\"><span><i class=\"key transfer c0\"></i>sending</span><span><i "
         "class=\"key latency c0\"></i>on its way: the latency until the result is there</span></p>\n";
}

}  // namespace tombolo::report
