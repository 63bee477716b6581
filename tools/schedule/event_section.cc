#include "tools/schedule/event_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "tools/report/event_gantt.h"
#include "tools/report/text.h"
#include "tools/schedule/round_details.h"

namespace tombolo::tools {
namespace {

using Align = report::Table::Align;
using schedule::TimedExchange;

constexpr std::size_t kMostGanttIslands = 64;
constexpr double kMostCyclesShown = 6;

std::string fragments_text(std::uint32_t fragments) {
  return fragments == 1 ? "the update whole" : fmt::format("{} fragments", fragments);
}

std::string steady_state_chart(const schedule::Network& network, const schedule::Optimized& barrier,
                               const EventScore& event) {
  const double cycle_s = event.timetable.cycle_s;
  report::EventGantt gantt;
  for (const schedule::Island& island : network.islands) gantt.lanes.push_back(island.id);
  gantt.cycle_s = cycle_s;
  gantt.span_s = std::clamp(barrier.cycle_s, cycle_s, kMostCyclesShown * cycle_s);
  gantt.fragments = event.timetable.fragments;
  for (const TimedExchange& timed : event.timetable.exchanges) {
    const schedule::Clique& clique = event.schedule.rounds[timed.round].cliques[timed.clique];
    gantt.bars.push_back({clique_name(clique, network),
                          {clique.begin(), clique.end()},
                          timed.round,
                          timed.fragment,
                          timed.start_s,
                          timed.sending_s,
                          timed.latency_s});
  }
  return report::event_gantt_chart(gantt);
}

std::string forms_table(const schedule::Optimized& barrier, const EventScore& event) {
  report::Table table({{"form"},
                       {"D, s", Align::kNumber},
                       {"lower bound, s", Align::kNumber},
                       {"cycle, s", Align::kNumber},
                       {"rounds", Align::kNumber},
                       {"R, 1/s", Align::kNumber},
                       {"who runs it"}});
  const auto row = [&](const std::string& form, double d_s, double bound_s, double cycle_s,
                       std::size_t rounds, double r_per_s, const char* runs) {
    table.start_row();
    table.cell(form).cell(fmt::format("{:.4f}", d_s)).cell(fmt::format("{:.4f}", bound_s));
    table.cell(fmt::format("{:.4f}", cycle_s)).cell(fmt::format("{}", rounds));
    table.cell(fmt::format("{:.4f}", r_per_s)).cell(runs);
  };
  row("with barriers", barrier.mixing.disagreement_s, barrier.bound_s, barrier.cycle_s, barrier.times.size(),
      barrier.mixing.r_per_s, "edges, by the controller");
  row("without, " + fragments_text(event.timetable.fragments), event.disagreement_s, event.bound_s,
      event.timetable.cycle_s, event.schedule.rounds.size(), event.r_per_s, "the testbed in one process");
  return table.html();
}

std::string exchanges_table(const schedule::Network& network, const EventScore& event) {
  report::Table table({{"round", Align::kNumber},
                       {"clique"},
                       {"start, s", Align::kNumber},
                       {"sending, s", Align::kNumber},
                       {"latency, s", Align::kNumber},
                       {"bottleneck"}});
  for (const TimedExchange& timed : event.timetable.exchanges) {
    if (timed.fragment != 0) continue;
    table.start_row();
    table.cell(fmt::format("{}", timed.round));
    table.cell_html(fmt::format(
        "<span class=\"clique-name c{}\">{{{}}}</span>", timed.round % 8,
        report::escape_html(clique_name(event.schedule.rounds[timed.round].cliques[timed.clique], network))));
    table.cell(fmt::format("{:.6f}", timed.start_s)).cell(fmt::format("{:.6f}", timed.sending_s));
    table.cell(fmt::format("{:.6f}", timed.latency_s));
    table.cell(event.bottlenecks[timed.round][timed.clique].resource);
  }
  return "<details><summary>Its exchanges" +
         std::string(event.timetable.fragments == 1 ? "" : ", of the first fragment") + "</summary>\n" +
         table.html() + "</details>\n";
}

}  // namespace

report::Section event_section(const schedule::Network& network, const schedule::Optimized& barrier,
                              const EventScore& event) {
  report::Section section{.id = "no-barriers", .title = "Without barriers", .body = {}};
  section.body = report::paragraph(fmt::format(
      "The same network when a clique starts as soon as its own members are ready: D {:.4f} s instead of "
      "{:.4f} s, "
      "{:.2f} times less. Below, its steady state over {}; colours are rounds{}.",
      event.disagreement_s, barrier.mixing.disagreement_s,
      barrier.mixing.disagreement_s / event.disagreement_s,
      event.timetable.cycle_s >= barrier.cycle_s ? "one cycle" : "as much time as the drawing above",
      event.timetable.fragments == 1 ? "" : ", and every island has a line for each fragment on its way"));
  section.body += forms_table(barrier, event);
  if (network.islands.size() <= kMostGanttIslands)
    section.body += steady_state_chart(network, barrier, event);
  section.body += exchanges_table(network, event);
  return section;
}

}  // namespace tombolo::tools
