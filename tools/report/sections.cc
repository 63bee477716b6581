#include "tools/report/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tools/report/charts.h"
#include "tools/report/text.h"

namespace tombolo::report {
namespace {

using Align = Table::Align;

constexpr double kRttTolerance = 0.05;
constexpr double kLeastRttToleranceMs = 1;
constexpr double kRateTolerance = 0.05;

constexpr std::size_t kCliqueColours = 8;  // Classes c0 to c7 of the style, the same as on the map.
constexpr std::size_t kMostUnbrokenCharacters = 60;

std::string cliques_html(const SummaryRound& round) {
  std::string html;
  for (std::size_t i = 0; i < round.cliques.size(); ++i) {
    std::string text = fmt::format("{}", fmt::join(round.cliques[i], ","));
    // A long name may be broken anywhere, so that it does not widen the table.
    html += fmt::format("<span class=\"{}c{}\">{{{}}}</span> ",
                        text.size() > kMostUnbrokenCharacters ? "" : "clique-name ", i % kCliqueColours,
                        escape_html(text));
  }
  return html;
}

std::string yes_no(const std::optional<bool>& value) { return value ? (*value ? "yes" : "no") : "\u2013"; }

std::string mood(const std::optional<bool>& good) {
  if (good == true) return "good";
  return good == false ? "bad" : "";
}

/// A dot over a band, and "+1.3 %": how far measured lies from target, and how far it may.
std::string deviation_html(const std::optional<double>& measured, const std::optional<double>& target,
                           double allowed) {
  if (!measured || !target || *target <= 0) return "\u2013";
  constexpr double kMiddlePx = 50;
  constexpr double kBandPx = 25;  // Half of the band's width: what is allowed, to one side.
  const double off = (*measured - *target) / allowed;
  const double x = std::clamp(kMiddlePx + off * kBandPx, 5.0, 2 * kMiddlePx - 5);
  return fmt::format(
      "<svg class=\"mark\" width=\"100\" height=\"14\" aria-hidden=\"true\"><rect class=\"band\" x=\"25\" "
      "y=\"4\" "
      "width=\"50\" height=\"6\" rx=\"3\"/><line class=\"zero\" x1=\"50\" x2=\"50\" y1=\"1\" "
      "y2=\"13\"/><circle "
      "class=\"{}\" cx=\"{}\" cy=\"7\" r=\"4\"/></svg><span class=\"signed\">{:+.1f} %</span>",
      std::abs(off) <= 1 ? "dot" : "dot off", format_coordinate(x), (*measured / *target - 1) * 100);
}

double allowed_rtt_ms(double target_ms) { return std::max(kRttTolerance * target_ms, kLeastRttToleranceMs); }

std::string per_update(const std::optional<double>& bytes, const std::optional<double>& update_bytes) {
  if (!bytes || !update_bytes || *update_bytes <= 0) return "\u2013";
  return fmt::format("{:.3f}", *bytes / *update_bytes);
}

std::string capability_name(const Capability& row) {
  std::string name = "multicast " + (row.multicast ? std::string(*row.multicast ? "on" : "off") : "\u2013");
  name += row.aggregation == "none" ? ", islands aggregate" : ", aggregation " + shorten(row.aggregation, 20);
  return name;
}

std::string capabilities_chart(const RunSummary& summary) {
  std::vector<AmountGroup> groups;
  for (const Capability& row : summary.capabilities) {
    const bool is_this_run = row.measured && row.multicast == summary.multicast && summary.multicast &&
                             row.aggregation == summary.aggregation;
    groups.push_back({.label = capability_name(row),
                      .note = row.measured ? (is_this_run ? "measured, this run" : "measured") : "computed",
                      .bars = {{"out", row.out_per_update}, {"in", row.in_per_update}},
                      .computed = !row.measured,
                      .emphasised = is_this_run});
  }
  return amount_chart(groups, "updates");
}

std::string islands_table(const RunSummary& summary) {
  Table table({{"island", Align::kText},
               {"update bytes", Align::kNumber},
               {"bytes out", Align::kNumber},
               {"bytes in", Align::kNumber},
               {"out / update", Align::kNumber},
               {"in / update", Align::kNumber}});
  for (const SummaryIsland& island : summary.islands) {
    table.start_row();
    table.cell(island.name, "strong")
        .cell(format_count(island.update_bytes))
        .cell(format_count(island.tx_bytes))
        .cell(format_count(island.rx_bytes))
        .cell(per_update(island.tx_bytes, island.update_bytes))
        .cell(per_update(island.rx_bytes, island.update_bytes));
  }
  return table.html();
}

}  // namespace

std::optional<bool> rtt_holds(const CalibratedLink& link) {
  if (!link.target_rtt_ms || !link.measured_rtt_ms) return std::nullopt;
  return std::abs(*link.measured_rtt_ms - *link.target_rtt_ms) <= allowed_rtt_ms(*link.target_rtt_ms);
}

std::optional<bool> rate_holds(const CalibratedLink& link) {
  if (!link.target_bps || !link.measured_bps) return std::nullopt;
  return std::abs(*link.measured_bps - *link.target_bps) <= kRateTolerance * *link.target_bps;
}

Section rounds_section(const RunSummary& summary) {
  Section section{.id = "rounds", .title = "Rounds", .body = {}};
  if (summary.rounds.empty()) {
    section.body = paragraph("The summary of this run has no rounds.");
    return section;
  }
  std::vector<TimeBar> bars;
  Table table({{"round", Align::kNumber},
               {"predicted", Align::kNumber},
               {"measured", Align::kNumber},
               {"ratio", Align::kNumber},
               {"model", Align::kNumber},
               {"bytes out", Align::kNumber},
               {"bytes in", Align::kNumber},
               {"exact", Align::kText},
               {"cliques", Align::kText}});
  const auto seconds = [](std::optional<double> value) {
    return format_fixed(value, 3) + (value ? " s" : "");
  };
  for (const SummaryRound& round : summary.rounds) {
    bars.push_back({.label = std::to_string(round.round),
                    .measured_s = round.measured_s,
                    .predicted_s = round.predicted_s,
                    .good = round.exact.value_or(true) && round.errors.empty()});
    std::string cliques = cliques_html(round);
    for (const std::string& error : round.errors)
      cliques += "<span class=\"error\">" + escape_html(error) + "</span>";
    table.start_row();
    table.cell(std::to_string(round.round))
        .cell(seconds(round.predicted_s))
        .cell(seconds(round.measured_s))
        .cell(format_fixed(round.ratio(), 2))
        .cell(seconds(round.model_s))
        .cell(format_count(round.tx_bytes))
        .cell(format_count(round.rx_bytes))
        .cell(yes_no(round.exact), mood(round.exact))
        .cell_html(cliques, "cliques");
  }
  section.body =
      "<div class=\"beside\">\n<figure>" + time_chart(bars) +
      "<figcaption><span class=\"key bar\"></span>measured <span class=\"key line\"></span>predicted "
      "<b>\u00d7</b> measured / predicted</figcaption></figure>\n" +
      table.html() + "</div>\n" +
      paragraph(
          "Predicted is what the round model says for the bytes on the wire, model the same for the bare "
          "update. Measured "
          "runs from the first member's first packet to the last member's last result, the longest over the "
          "cliques. "
          "Bytes are those of the island with the most, on its own link, with headers, control and repair.");
  return section;
}

Section bytes_section(const RunSummary& summary) {
  Section section{.id = "bytes", .title = "Bytes per island", .body = {}};
  if (summary.capabilities.empty() && summary.islands.empty()) {
    section.body = paragraph("The summary of this run has no traffic of islands.");
    return section;
  }
  const std::string islands = summary.islands.empty()
                                  ? ""
                                  : "<div class=\"narrow\"><h3>This run, island by island</h3>\n" +
                                        islands_table(summary) + "</div>\n";
  if (summary.capabilities.empty()) {
    section.body =
        islands + paragraph(
                      "This run's summary has no figures for the other combinations of multicast and "
                      "aggregation.");
    return section;
  }
  section.body =
      "<div class=\"beside\">\n<figure><h3>With and without the network's help</h3>\n" +
      capabilities_chart(summary) +
      "<figcaption><span class=\"key bar\"></span>measured <span class=\"key hatched\"></span>computed, not "
      "run"
      "</figcaption></figure>\n" +
      islands + "</div>\n" +
      paragraph(
          "Bytes that an island sends and receives in a round, in updates: 1 is the size of the update "
          "itself. With "
          "multicast the network makes the copies; with aggregation at the edge it adds the updates up.");
  return section;
}

Section calibration_section(const RunSummary& summary) {
  Section section{.id = "calibration", .title = "Calibration", .body = {}};
  if (summary.links.empty()) {
    section.body =
        paragraph(summary.backend == "inproc"
                      ? "Links in one process are computed, not measured: they are what they are told."
                      : "The links were not measured in this run.");
    return section;
  }
  Table table({{"link", Align::kText},
               {"target RTT", Align::kNumber},
               {"measured RTT", Align::kNumber},
               {"deviation", Align::kNumber},
               {"target rate", Align::kNumber},
               {"measured rate", Align::kNumber},
               {"deviation", Align::kNumber},
               {"verdict", Align::kText}});
  std::size_t held = 0;
  const auto ms = [](std::optional<double> value) { return format_fixed(value, 3) + (value ? " ms" : ""); };
  for (const CalibratedLink& link : summary.links) {
    const std::optional<bool> rtt = rtt_holds(link);
    const std::optional<bool> rate = rate_holds(link);
    const bool is_off = rtt == false || rate == false;
    std::string verdict = "not measured";
    if (is_off)
      verdict = rtt != false ? "rate is off" : rate != false ? "RTT is off" : "RTT and rate are off";
    else if (rtt || rate)
      verdict = "holds";
    held += verdict == "holds" ? 1 : 0;
    table.start_row();
    table.cell(link.name, "strong")
        .cell(ms(link.target_rtt_ms))
        .cell(ms(link.measured_rtt_ms))
        .cell_html(deviation_html(link.measured_rtt_ms, link.target_rtt_ms,
                                  allowed_rtt_ms(link.target_rtt_ms.value_or(0))),
                   mood(rtt))
        .cell(format_rate(link.target_bps))
        .cell(format_rate(link.measured_bps))
        .cell_html(
            deviation_html(link.measured_bps, link.target_bps, kRateTolerance * link.target_bps.value_or(0)),
            mood(rate))
        .cell(verdict, is_off               ? "bad"
                       : verdict == "holds" ? "good"
                                            : "");
  }
  section.body =
      table.html() + paragraph(fmt::format("{} of {} links hold their targets: the RTT within 5 % or 1 ms, "
                                           "whichever is more, and the rate within 5 %.",
                                           held, summary.links.size()));
  return section;
}

}  // namespace tombolo::report
