#include "tools/report/gantt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/report/drawing.h"
#include "tools/report/gantt_frame.h"
#include "tools/report/text.h"

namespace tombolo::report {
namespace {

constexpr double kBarPx = 15;

std::string draw_clique(const GanttRound& round, std::size_t colour, double start_s,
                        const GanttFrame& frame) {
  const GanttClique& clique = round.cliques[colour];
  std::string tip = fmt::format("{}\nlatency {:.3f} s\nalone {:.3f} s\nround {:.3f} s", clique.name,
                                clique.latency_s, clique.alone_s, round.seconds);
  if (!clique.note.empty()) tip += "\n" + clique.note;
  const double end_s = start_s + round.seconds;
  const double latency_s = std::min(start_s + clique.latency_s, end_s);
  const double alone_s = std::clamp(start_s + clique.alone_s, latency_s, end_s);
  std::string out = fmt::format("<g data-tip=\"{}\">", escape_html(tip));
  for (const std::size_t lane : clique.lanes) {
    const double y = frame.y(lane);
    out += draw_gantt_part(frame.x(start_s), frame.x(end_s) - 1.5, y, kBarPx, "slack", colour);
    out += draw_gantt_part(frame.x(start_s), frame.x(latency_s), y, kBarPx, "latency", colour);
    out += draw_gantt_part(frame.x(latency_s), std::min(frame.x(alone_s), frame.x(end_s) - 1.5), y, kBarPx,
                           "transfer", colour);
  }
  return out + "</g>\n";
}

}  // namespace

std::string gantt_chart(const Gantt& gantt) {
  double cycle_s = 0;
  for (const GanttRound& round : gantt.rounds) cycle_s += round.seconds;
  if (!(cycle_s > 0) || !std::isfinite(cycle_s)) return {};
  const GanttFrame frame{.span_s = cycle_s, .lanes = gantt.lanes.size()};
  std::string out = open_gantt(frame, "The rounds of a cycle over time; the table of rounds has the figures");
  out += draw_gantt_axes(frame, gantt.lanes, "time in the cycle, s");
  double start_s = 0;
  for (const GanttRound& round : gantt.rounds) {
    const double end_s = start_s + round.seconds;
    out += draw_gantt_barrier(frame, end_s, 30);
    const auto room = static_cast<std::size_t>(std::max(0.0, (round.seconds * frame.px_per_s() - 8) / 7.0));
    if (room >= 3) {
      out += svg_text(frame.x(start_s) + 3, frame.top() - 20, "start strong", shorten(round.label, room));
      out += svg_text(frame.x(start_s) + 3, frame.top() - 6, "start soft", shorten(round.bottleneck, room));
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
