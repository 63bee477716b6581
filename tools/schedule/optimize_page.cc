#include "tools/schedule/optimize_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "tools/report/bar_chart.h"
#include "tools/report/gantt.h"
#include "tools/report/line_chart.h"
#include "tools/report/map_section.h"
#include "tools/report/small_maps.h"
#include "tools/report/text.h"
#include "tools/schedule/event_section.h"
#include "tools/schedule/round_details.h"

namespace tombolo::tools {
namespace {

using Align = report::Table::Align;
using report::paragraph;
using report::Section;
using schedule::baselines::Baseline;

constexpr std::size_t kMostGanttIslands = 64;
constexpr std::size_t kMostLoadRounds = 12;
constexpr std::size_t kMostLoadRows = 16;
constexpr std::size_t kMostStamps = 2;   // Rounds that a cell of the grid shows.
constexpr double kMostTimesOptimum = 8;  // Longer bars are cut off.

std::string certified_words(const schedule::Optimized& best) {
  return best.certified.empty() ? "no: the best that was found" : "the best of " + best.certified;
}

void add_tiles(const OptimizePage& data, report::Page& page) {
  const schedule::Optimized& best = data.best;
  page.add(
      report::Tile{"disagreement D", fmt::format("{:.4f} s", best.mixing.disagreement_s), "lower is better"});
  page.add(report::Tile{"lower bound", fmt::format("{:.4f} s", best.bound_s),
                        fmt::format("gap {:.1f} %", 100 * best.gap)});
  page.add(report::Tile{"cycle", fmt::format("{:.3f} s", best.cycle_s),
                        fmt::format("{} round{}", best.times.size(), best.times.size() == 1 ? "" : "s")});
  page.add(report::Tile{"contraction R", fmt::format("{:.4f} /s", best.mixing.r_per_s), "higher is better"});
  if (data.event != nullptr)
    page.add(report::Tile{"D without barriers", fmt::format("{:.4f} s", data.event->disagreement_s),
                          fmt::format("{} fragment{}", data.event->timetable.fragments,
                                      data.event->timetable.fragments == 1 ? "" : "s")});
  const bool certified = !best.certified.empty();
  page.add(report::Tile{"certified", certified ? "yes" : "no",
                        certified ? "the best of " + best.certified : "the best that was found",
                        certified ? report::Tile::Mood::kGood : report::Tile::Mood::kPlain});
}

std::string rounds_table(const OptimizePage& data, const RoundPictures& pictures) {
  report::Table table({{"round", Align::kNumber},
                       {"time, s", Align::kNumber},
                       {"bottleneck"},
                       {"updates", Align::kNumber},
                       {"longest latency, s", Align::kNumber},
                       {"cliques"}});
  for (std::size_t r = 0; r < data.best.times.size(); ++r) {
    const schedule::RoundTime& time = data.best.times[r];
    std::string cliques;
    double latency_s = 0;
    for (std::size_t c = 0; c < pictures.gantt.rounds[r].cliques.size(); ++c) {
      const report::GanttClique& clique = pictures.gantt.rounds[r].cliques[c];
      latency_s = std::max(latency_s, clique.latency_s);
      cliques += fmt::format("<span class=\"clique-name c{}\">{{{}}}{}</span> ", c % 8,
                             report::escape_html(clique.name),
                             clique.note.empty() ? "" : " " + report::escape_html(clique.note));
    }
    table.start_row();
    table.cell(fmt::format("{}", r)).cell(fmt::format("{:.6f}", time.seconds)).cell(time.bottleneck);
    table.cell(fmt::format("{:.4g}", time.bottleneck_updates)).cell(fmt::format("{:.4f}", latency_s));
    table.cell_html(cliques, "cliques");
  }
  return table.html();
}

Section cycle_section(const OptimizePage& data, const RoundPictures& pictures) {
  Section section{.id = "cycle", .title = "The cycle over time", .body = {}};
  if (pictures.gantt.lanes.size() <= kMostGanttIslands)
    section.body = report::gantt_chart(pictures.gantt);
  else
    section.body =
        paragraph(fmt::format("{} islands are too many lanes for the drawing; the table has the figures.",
                              pictures.gantt.lanes.size()));
  section.body += rounds_table(data, pictures);
  return section;
}

/// The resources that are fullest in any round, with their share by round.
Section loads_section(const OptimizePage& data, const RoundPictures& pictures) {
  const std::size_t rounds = std::min(kMostLoadRounds, pictures.shares.size());
  std::vector<double> most(data.problem.model().capacities_bps().size());
  for (const std::vector<double>& shares : pictures.shares)
    for (std::size_t e = 0; e < most.size(); ++e) most[e] = std::max(most[e], shares[e]);
  std::vector<std::size_t> order(most.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return most[a] > most[b]; });
  std::erase_if(order, [&](std::size_t e) { return most[e] <= 0; });
  const std::size_t used = order.size();
  order.resize(std::min(used, kMostLoadRows));

  std::vector<report::Table::Column> columns{{"resource"}, {"capacity", Align::kNumber}};
  for (std::size_t r = 0; r < rounds; ++r) columns.push_back({fmt::format("round {}", r), Align::kNumber});
  report::Table table(columns);
  for (const std::size_t e : order) {
    table.start_row();
    table.cell(data.problem.model().resource_name(e));
    table.cell(report::format_rate(data.problem.model().capacities_bps()[e]));
    for (std::size_t r = 0; r < rounds; ++r) {
      const double share = pictures.shares[r][e];
      table.cell(share > 0 ? fmt::format("{:.0f} %", 100 * share) : "\u2013", share > 0.995 ? "strong" : "");
    }
  }
  Section section{.id = "loads", .title = "Loads", .body = {}};
  section.body = paragraph(fmt::format(
      "What a round takes of access and core, while its cliques transfer: the fullest {} of {} resources in "
      "use. "
      "A round is as short as it can be when one of them is full.{}",
      order.size(), used,
      rounds < pictures.shares.size() ? fmt::format(" The first {} rounds.", rounds) : std::string()));
  section.body += table.html();
  return section;
}

/// What packed trees are worth, round by round.
Section trees_section(const OptimizePage& data) {
  report::Table table({{"round", Align::kNumber},
                       {"shortest routes, s", Align::kNumber},
                       {"packed, s", Align::kNumber},
                       {"at least, s", Align::kNumber},
                       {"best trees"}});
  for (std::size_t r = 0; r < data.best.packed.size(); ++r) {
    const schedule::PackedTime& time = data.best.packed[r];
    table.start_row();
    table.cell(fmt::format("{}", r)).cell(fmt::format("{:.6f}", time.shortest_s));
    table.cell(fmt::format("{:.6f}", time.packed_s), time.packed_s < time.shortest_s ? "strong" : "");
    table.cell(fmt::format("{:.6f}", time.bound_s)).cell(time.proven ? "proven" : "not proven");
  }
  return Section{.id = "trees",
                 .title = "Packed trees",
                 .body = paragraph("Members send by trees that balance what links carry, where that is "
                                   "quicker than the shortest way. \u201cAt least\u201d is what a round "
                                   "takes even if updates are split over trees.") +
                         table.html()};
}

Section by_rounds_section(const OptimizePage& data) {
  report::LineChart chart{"D against the most rounds of a cycle", "most rounds", "D, s", {}};
  report::Line found{"best found", {}};
  report::Table table({{"at most"}, {"D, s", Align::kNumber}, {"certified"}});
  std::vector<report::Line> dots;
  for (const RoundsPoint& point : data.studies.by_rounds) {
    const auto rounds = static_cast<double>(point.max_rounds);
    found.points.emplace_back(rounds, point.disagreement_s);
    if (point.certified)
      dots.push_back(
          {fmt::format("certified, {} round{}", point.max_rounds, point.max_rounds == 1 ? "" : "s"),
           {{rounds, point.disagreement_s}}});
    table.start_row();
    table.cell(fmt::format("{} round{}", point.max_rounds, point.max_rounds == 1 ? "" : "s"));
    table.cell(fmt::format("{:.4f}", point.disagreement_s)).cell(point.certified ? "yes" : "no");
  }
  report::Line bound{"lower bound", {{0, data.best.bound_s}, {found.points.back().first, data.best.bound_s}}};
  chart.lines = {std::move(found), std::move(bound)};
  for (report::Line& dot : dots) chart.lines.push_back(std::move(dot));
  return Section{
      .id = "by-rounds",
      .title = "D against the number of rounds",
      .body = "<div class=\"beside\"><figure>" + report::line_chart(chart) + "</figure><div>" + table.html() +
              "</div></div>\n" +
              paragraph("One round is a clique of all. From three rounds on a short search each, so that "
                        "a point may be above what a longer one finds.")};
}

std::string figure_of(double d_s, double best_s) {
  if (!std::isfinite(d_s)) return "never joins all islands";
  const double ratio = d_s / best_s;
  // Where two are close, a third decimal says which is ahead.
  return fmt::format("{:.4g} s, \u00d7{:.{}f}", d_s, ratio, ratio < 1.1 ? 3 : 2);
}

std::string compare_table(const std::vector<const Baseline*>& rows, double best_s) {
  report::Table table({{"schedule"},
                       {"D, s", Align::kNumber},
                       {"ratio", Align::kNumber},
                       {"R, 1/s", Align::kNumber},
                       {"cycle, s", Align::kNumber},
                       {"choices"},
                       {"source"}});
  for (const Baseline* row : rows) {
    table.start_row();
    table.cell(row->name);
    const auto number = [](double value) {
      return std::isfinite(value) ? fmt::format("{:.4f}", value) : "\u2013";
    };
    table.cell(number(row->disagreement_s)).cell(number(row->disagreement_s / best_s));
    table.cell(number(row->r_per_s)).cell(number(row->cycle_s));
    table.cell(row->choices, "cliques").cell(row->source, "cliques");
  }
  return "<details><summary>The figures, what was chosen, and where each comes from</summary>\n" +
         table.html() + "</details>\n";
}

Section compare_section(const OptimizePage& data) {
  const double best_s = data.best.mixing.disagreement_s;
  std::vector<const Baseline*> rows;
  std::string undefined;
  for (const Baseline& row : data.studies.baselines) {
    if (row.defined())
      rows.push_back(&row);
    else
      undefined += fmt::format("{}{}: {}", undefined.empty() ? "" : "; ", row.name, row.undefined);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Baseline* a, const Baseline* b) {
    return a->disagreement_s < b->disagreement_s;
  });
  report::BarChart chart{"D of this schedule and of others on the same network", {}, {}, {}, {}};
  chart.bars.push_back({.label = "this schedule",
                        .value = best_s,
                        .figure = fmt::format("{:.4g} s", best_s),
                        .emphasised = true});
  for (const Baseline* row : rows)
    chart.bars.push_back({.label = row->name,
                          .value = row->disagreement_s,
                          .figure = figure_of(row->disagreement_s, best_s),
                          .tip = row->source});
  chart.marked = data.best.bound_s;
  chart.marked_label =
      fmt::format("no rounds of cliques with barriers are below {:.4g} s", data.best.bound_s);
  chart.most = kMostTimesOptimum * best_s;
  Section section{.id = "compare", .title = "Compared with others on this network", .body = {}};
  section.body = paragraph(
      "D in seconds, and how many times this schedule's: the same network and capabilities for all, each "
      "built as its "
      "paper says.");
  if (!rows.empty() && rows.front()->disagreement_s < best_s * (1 - 1e-9))
    section.body += paragraph(
        fmt::format(
            "\u201c{}\u201d is ahead here: a longer search may find better cliques, or its messages that no "
            "cliques can form are worth more on this network.",
            rows.front()->name),
        "warning");
  section.body += report::bar_chart(chart);
  if (!undefined.empty()) section.body += paragraph("Without a value here \u2013 " + undefined + ".");
  section.body += compare_table(rows, best_s);
  return section;
}

std::string draw_variant(const Variant& variant, const report::SmallMaps& maps,
                         const schedule::Network& network) {
  if (!variant.failure.empty())
    return "<span class=\"note\">" + report::escape_html(variant.failure) + "</span>";
  const std::size_t rounds = variant.schedule.rounds.size();
  std::string html = "<span class=\"pair\">";
  for (std::size_t r = 0; r < std::min(rounds, kMostStamps); ++r) {
    const std::vector<schedule::Clique>& cliques = variant.schedule.rounds[r].cliques;
    std::vector<std::vector<std::size_t>> sets;
    std::string label = fmt::format("round {} of {}:", r, rounds);
    for (const schedule::Clique& clique : cliques) {
      sets.emplace_back(clique.begin(), clique.end());
      label += fmt::format(" {{{}}}", clique_name(clique, network));
    }
    html += maps.draw(sets, label);
  }
  return html + fmt::format("</span><span class=\"worth\">{:.4g} s <small>{} round{}{}</small></span>",
                            variant.disagreement_s, rounds, rounds == 1 ? "" : "s",
                            variant.certified ? ", best of \u2264 2" : "");
}

/// The paper's closing figure: how the optimum moves.
Section variants_section(const OptimizePage& data) {
  const schedule::Network& network = data.problem.network();
  std::vector<std::optional<report::Degrees>> places;
  for (const schedule::Island& island : network.islands) {
    const schedule::Site& site = data.topology.sites[island.site];
    places.push_back(site.lat_deg ? std::optional(report::Degrees{*site.lon_deg, *site.lat_deg})
                                  : std::nullopt);
  }
  const report::SmallMaps maps(places);
  Section section{.id = "variants", .title = "How the optimum moves", .body = {}};
  section.body = maps.shared();
  section.body += paragraph(
      "The best schedule found for each capability of the network (down) and size of an update (across), "
      "with D "
      "below: its first two rounds, a colour for each clique, islands at rest hollow. Scarce or dear egress "
      "is the "
      "second table. Each cell is a short search; point at a map for its cliques.");
  for (const VariantGrid& grid : data.studies.grids) {
    std::vector<report::Table::Column> columns{{"network can do"}};
    for (const std::string& column : grid.columns) columns.push_back({column});
    report::Table table(columns);
    for (std::size_t row = 0; row < grid.rows.size(); ++row) {
      table.start_row();
      table.cell_html("<b>" + report::escape_html(grid.rows[row]) + "</b>", "strong");
      for (const Variant& variant : grid.cells[row]) table.cell_html(draw_variant(variant, maps, network));
    }
    section.body += "<h3>" + report::escape_html(grid.title) + "</h3>\n<div class=\"stamps\">" +
                    table.html() + "</div>\n";
  }
  return section;
}

Section facts_section(const OptimizePage& data) {
  const schedule::Optimized& best = data.best;
  const auto fact = [](const char* name, const std::string& value, bool wide = false) {
    return fmt::format("<div{}><dt>{}</dt><dd>{}</dd></div>\n", wide ? " class=\"wide\"" : "", name, value);
  };
  std::string html = "<dl class=\"facts\">\n";
  html += fact("command", "<code>" + report::escape_html(data.command) + "</code>", true);
  html += fact("network", report::escape_html(data.setting), true);
  html += fact("certified", report::escape_html(certified_words(best)), true);
  html += fact("bound, gap", fmt::format("{:.6f} s, {:.2f} %", best.bound_s, 100 * best.gap));
  html += fact("disagreement D", fmt::format("{:.6f} s", best.mixing.disagreement_s));
  if (best.two_rounds_s)
    html += fact("two rounds", fmt::format("{:.6f} s at least, certified", *best.two_rounds_s));
  html += fact("cycle", fmt::format("{:.6f} s", best.cycle_s));
  html += fact("seed", fmt::format("{}", data.seed));
  html += fact("search", best.stopped ? "stopped by the time limit: another run may find another schedule"
                                      : "ran to its end: the same seed gives the same schedule");
  html += fact("solved in", fmt::format("{:.2f} s", best.solve_s));
  html += fact("versions", "tombolo " TOMBOLO_VERSION);
  html += "</dl>\n";
  html += paragraph(
      "D, the disagreement: every island drifts by an independent process of unit variance per second; D is "
      "the "
      "long-run variance of an island about the mean of all, in seconds. The bound holds for every cycle of "
      "rounds "
      "with barriers.");
  return Section{.id = "facts", .title = "Facts", .body = std::move(html)};
}

}  // namespace

report::Page optimize_page(const OptimizePage& data) {
  const RoundPictures pictures =
      picture_rounds(data.topology, data.problem, data.best.schedule, data.best.times);
  report::Page page("Schedule for " + (data.topology.name.empty() ? "a network" : data.topology.name),
                    data.setting);
  add_tiles(data, page);
  Section map = report::map_section(pictures.summary, pictures.details);
  map.title = "Rounds on the map";
  page.add(std::move(map));
  page.add(cycle_section(data, pictures));
  if (data.event != nullptr) page.add(event_section(data.problem.network(), data.best, *data.event));
  page.add(loads_section(data, pictures));
  if (!data.best.packed.empty()) page.add(trees_section(data));
  if (!data.studies.by_rounds.empty()) page.add(by_rounds_section(data));
  if (!data.studies.baselines.empty()) page.add(compare_section(data));
  if (!data.studies.grids.empty()) page.add(variants_section(data));
  Section facts = facts_section(data);
  for (const std::string& sentence : data.studies.left_out) facts.body += paragraph(sentence);
  page.add(std::move(facts));
  return page;
}

}  // namespace tombolo::tools
