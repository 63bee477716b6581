#include <fmt/format.h>

#include <array>
#include <utility>

#include "tools/report/charts.h"
#include "tools/report/sections.h"
#include "tools/report/text.h"

namespace tombolo::report {
namespace {

using Align = Table::Align;

/// Keys that have a name for people, in the order in which they stand; other keys follow under their own
/// names.
constexpr std::array<std::pair<const char*, const char*>, 24> kNamedFacts{{
    {"command_line", "command"},
    {"command", "command"},
    {"topology", "topology"},
    {"profile", "profile"},
    {"schedule", "schedule"},
    {"scale", "scale"},
    {"update_bytes", "update, bytes"},
    {"backend", "backend"},
    {"multicast", "multicast"},
    {"aggregation", "aggregation"},
    {"chunk_elements", "elements of a chunk"},
    {"operation", "operation"},
    {"workers", "workers per edge"},
    {"lanes", "lanes"},
    {"real_time", "real time"},
    {"seed", "seed"},
    {"exact", "exact"},
    {"versions", "versions"},
    {"machine", "machine"},
    {"date", "date"},
    {"cpu_bound", "CPU-bound"},
    {"repairs", "packets repaired"},
    {"copies", "packets copied by edges"},
    {"payload_bytes_saved", "payload bytes not copied"},
}};

constexpr std::size_t kMostNarrowCharacters = 60;  // A longer value takes the page's width.

std::string fact_text(std::string_view key, const nlohmann::json& value) {
  if (key == "multicast" && value.is_boolean()) return value.get<bool>() ? "on" : "off";
  if (value.is_number_integer()) return format_count(value.get<double>());
  return format_json(value);
}

std::string fact_row(std::string_view key, const std::string& name, const nlohmann::json& value,
                     bool is_code) {
  const std::string text = escape_html(fact_text(key, value));
  const bool is_wide = is_code || text.size() > kMostNarrowCharacters;
  return fmt::format("<div{}><dt>{}</dt><dd>{}</dd></div>\n", is_wide ? " class=\"wide\"" : "",
                     escape_html(name), is_code ? "<code>" + text + "</code>" : text);
}

/// A command that is a list of words is shown as one line.
nlohmann::json joined(const nlohmann::json& command) {
  if (!command.is_array()) return command;
  std::string line;
  for (const nlohmann::json& word : command) line += (line.empty() ? "" : " ") + format_json(word);
  return line;
}

std::string facts_list(const RunSummary& summary) {
  nlohmann::json rest = summary.facts;
  // "command" names the program's part; the whole line says more.
  if (rest.contains("command_line")) rest.erase("command");
  std::string html = "<dl class=\"facts\">\n";
  for (const auto& [key, name] : kNamedFacts) {
    const auto found = rest.find(key);
    if (found == rest.end()) continue;
    const bool is_command = std::string_view(name) == "command";
    html += fact_row(key, name, is_command ? joined(*found) : *found, is_command);
    rest.erase(found);
  }
  for (const auto& [key, value] : rest.items()) {
    std::string name = key;
    for (char& c : name)
      if (c == '_') c = ' ';
    html += fact_row(key, name, value, false);
  }
  return html + "</dl>\n";
}

std::string cpu_note(const RunSummary& summary) {
  if (!summary.cpu_bound) return {};
  if (!*summary.cpu_bound && summary.backend == "inproc" &&
      summary.facts.value("real_time", nlohmann::json()) == false)
    return paragraph(
        "Virtual time: processing takes none, so the measured times are those of the emulated links.",
        "good");
  if (!*summary.cpu_bound)
    return paragraph(
        "Not CPU-bound: the processors had time to spare, so the measured times are those of the emulated "
        "links.",
        "good");
  return paragraph(
      "CPU-bound: the processors of this machine were the bottleneck, not the emulated links. The results "
      "are as exact as ever, but the measured times say nothing about the model. A smaller scale helps." +
          (summary.cpu_bound_reason.empty() ? std::string() : " " + summary.cpu_bound_reason),
      "warning");
}

std::string drops_table(const RunSummary& summary) {
  if (!summary.drops) return paragraph("The summary of this run does not say what was dropped.");
  if (summary.drops->empty()) return paragraph("Nothing was dropped.");
  Table table({{"reason", Align::kText}, {"packets", Align::kNumber}});
  for (const auto& [reason, count] : *summary.drops) {
    table.start_row();
    table.cell(reason).cell(format_count(count));
  }
  return table.html();
}

std::string workers_table(const RunSummary& summary) {
  if (summary.worker_times.empty()) return {};
  Table table({{"worker", Align::kText},
               {"busy", Align::kNumber},
               {"stalled", Align::kNumber},
               {"idle", Align::kNumber},
               {"asleep", Align::kNumber},
               {"", Align::kText}});
  const auto seconds = [](std::optional<double> value) {
    return format_fixed(value, 3) + (value ? " s" : "");
  };
  for (const WorkerTime& worker : summary.worker_times) {
    table.start_row();
    table.cell(worker.name, "strong")
        .cell(seconds(worker.busy_s))
        .cell(seconds(worker.stalled_s))
        .cell(seconds(worker.idle_s))
        .cell(seconds(worker.asleep_s))
        .cell_html(share_bar({worker.busy_s.value_or(0), worker.stalled_s.value_or(0),
                              worker.idle_s.value_or(0), worker.asleep_s.value_or(0)},
                             {"busy", "stalled", "idle", "asleep"}));
  }
  return "<div class=\"narrow\">\n<h3>Workers</h3>\n" + table.html() +
         "<p class=\"legend\"><span><i class=\"key busy\"></i>busy with packets</span><span><i class=\"key "
         "stalled\"></i>stalled: had work, but not the processor</span><span><i class=\"key idle\"></i>idle: "
         "polled in "
         "vain</span><span><i class=\"key asleep\"></i>asleep</span></p>\n</div>\n";
}

}  // namespace

Section facts_section(const RunSummary& summary) {
  Section section{.id = "facts", .title = "Facts", .body = {}};
  section.body = cpu_note(summary) + facts_list(summary) + "<div class=\"beside\">\n<div>\n<h3>Drops</h3>\n" +
                 drops_table(summary) + "</div>\n" + workers_table(summary) + "</div>\n";
  return section;
}

}  // namespace tombolo::report
