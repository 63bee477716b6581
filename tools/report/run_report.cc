#include "tools/report/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/report/map_section.h"
#include "tools/report/sections.h"
#include "tools/report/summary.h"
#include "tools/report/text.h"

namespace tombolo::report {
namespace {

constexpr double kMostRatio = 1.25;  // Measured over predicted, of a run that is not CPU-bound.

using Mood = Tile::Mood;

std::string page_title(const RunSummary& summary) {
  std::string title = summary.topology.empty() ? "Run" : summary.topology;
  if (!summary.schedule.empty()) title += " \u00b7 " + summary.schedule;
  return title;
}

std::string page_lead(const RunSummary& summary) {
  std::string lead;
  const auto part = [&lead](const std::string& text) { lead += (lead.empty() ? "" : ", ") + text; };
  if (!summary.profile.empty()) part("profile " + summary.profile);
  if (const auto scale = summary.facts.find("scale"); scale != summary.facts.end())
    part("scale " + format_json(*scale));
  if (const auto bytes = summary.facts.find("update_bytes");
      bytes != summary.facts.end() && bytes->is_number())
    part(format_size(bytes->get<double>()) + " per island and round");
  if (summary.multicast) part(std::string("multicast ") + (*summary.multicast ? "on" : "off"));
  if (!summary.aggregation.empty()) part("aggregation " + summary.aggregation);
  if (!summary.backend.empty()) part("backend " + summary.backend);
  return lead;
}

void add_exactness(const RunSummary& summary, Page& page) {
  if (!summary.exact) return;
  const auto wrong = std::count_if(summary.rounds.begin(), summary.rounds.end(),
                                   [](const SummaryRound& round) { return round.exact == false; });
  page.add(Tile{.label = "results",
                .value = *summary.exact ? "exact" : "NOT exact",
                .note = *summary.exact ? "right to the bit"
                                       : fmt::format("in {} of {} rounds", wrong, summary.rounds.size()),
                .mood = *summary.exact ? Mood::kGood : Mood::kBad});
}

void add_times(const RunSummary& summary, Page& page) {
  std::optional<double> worst;
  double total_s = 0;
  std::size_t timed = 0;
  for (const SummaryRound& round : summary.rounds) {
    total_s += round.measured_s.value_or(0);
    timed += round.measured_s ? 1 : 0;
    if (const auto ratio = round.ratio(); ratio && (!worst || *ratio > *worst)) worst = ratio;
  }
  if (!summary.rounds.empty())
    page.add(Tile{.label = "rounds",
                  .value = format_count(static_cast<double>(summary.rounds.size())),
                  .note = timed == 0
                              ? std::string("without a time")
                              : format_fixed(total_s / static_cast<double>(timed), 3) + " s on average"});
  if (!worst) return;
  const bool cpu_bound = summary.cpu_bound.value_or(false);
  page.add(Tile{.label = "slowest round",
                .value = "\u00d7" + format_fixed(worst, 2),
                .note = cpu_bound ? "CPU-bound: not the network's time" : "measured / predicted",
                .mood = cpu_bound              ? Mood::kWarning
                        : *worst <= kMostRatio ? Mood::kGood
                                               : Mood::kBad});
}

void add_traffic(const RunSummary& summary, Page& page) {
  double most_out = 0;
  double most_in = 0;
  for (const SummaryIsland& island : summary.islands) {
    if (!island.update_bytes || *island.update_bytes <= 0) continue;
    most_out = std::max(most_out, island.tx_bytes.value_or(0) / *island.update_bytes);
    most_in = std::max(most_in, island.rx_bytes.value_or(0) / *island.update_bytes);
  }
  if (most_out > 0 || most_in > 0)
    page.add(Tile{.label = "updates out / in",
                  .value = format_fixed(most_out, 2) + " / " + format_fixed(most_in, 2),
                  .note = "per update, at most"});
  const auto errors = std::count_if(summary.rounds.begin(), summary.rounds.end(),
                                    [](const SummaryRound& round) { return !round.errors.empty(); });
  if (errors > 0)
    page.add(Tile{.label = "rounds with errors",
                  .value = format_count(static_cast<double>(errors)),
                  .note = "see the table of rounds",
                  .mood = Mood::kBad});
}

void add_calibration(const RunSummary& summary, Page& page) {
  if (!summary.links.empty()) {
    const auto off = std::count_if(
        summary.links.begin(), summary.links.end(),
        [](const CalibratedLink& link) { return rtt_holds(link) == false || rate_holds(link) == false; });
    page.add(Tile{.label = "links off target",
                  .value = fmt::format("{} of {}", off, summary.links.size()),
                  .note = "RTT and rate",
                  .mood = off == 0 ? Mood::kGood : Mood::kBad});
  }
  if (summary.cpu_bound)
    page.add(Tile{.label = "CPU-bound",
                  .value = *summary.cpu_bound ? "yes" : "no",
                  .note = *summary.cpu_bound ? "times are the machine's" : "times are the network's",
                  .mood = *summary.cpu_bound ? Mood::kWarning : Mood::kGood});
}

}  // namespace

Result<Page> run_page(const nlohmann::json& json) {
  const auto summary = parse_summary(json);
  if (!summary) return summary.error();
  Page page(page_title(*summary), page_lead(*summary));
  add_exactness(*summary, page);
  add_times(*summary, page);
  add_traffic(*summary, page);
  add_calibration(*summary, page);
  page.add(map_section(*summary));
  page.add(rounds_section(*summary));
  page.add(bytes_section(*summary));
  page.add(calibration_section(*summary));
  page.add(facts_section(*summary));
  return page;
}

Status write_run_report(const nlohmann::json& summary, const std::string& path) {
  auto page = run_page(summary);
  if (!page) return std::move(page).error();
  return page->write(path);
}

}  // namespace tombolo::report
