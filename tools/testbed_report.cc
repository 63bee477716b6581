#include "tools/testbed_report.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/units.h"
#include "schedule/compile.h"
#include "tools/cli.h"

namespace tombolo::tools {
namespace {

using testbed::RunConfig;
using testbed::RunReport;

std::string cliques_text(const testbed::RoundReport& round) {
  std::string text;
  for (const auto& clique : round.cliques) text += fmt::format("{{{}}}", fmt::join(clique, ","));
  return text;
}

std::size_t contributors(const testbed::RoundReport& round) {
  std::size_t count = 0;
  for (const auto& clique : round.cliques) count += clique.size();
  return count;
}

void print_rounds(const RunReport& report) {
  fmt::print("{:>5}  {:>9}  {:>9}  {:>5}  {:>9}  {:>9}  {:>12}  {:>5}  {}\n", "round", "predicted",
             "measured", "ratio", "bytes out", "bytes in", "contributors", "exact", "cliques");
  for (const testbed::RoundReport& round : report.rounds) {
    fmt::print("{:>5}  {:>7.3f} s  {:>7.3f} s  {:>5.2f}  {:>9}  {:>9}  {:>12}  {:>5}  {}\n", round.round,
               round.predicted_s, round.measured_s, round.ratio(), format_bytes(round.tx_bytes),
               format_bytes(round.rx_bytes), contributors(round), round.exact ? "yes" : "NO",
               cliques_text(round));
    for (const std::string& error : round.errors) fmt::print("       {}\n", error);
  }
  if (report.cycle && report.cycle->measured_s > 0)
    fmt::print("cycle  {:>7.3f} s  {:>7.3f} s  {:>5.2f}  without barriers, after the first\n",
               report.cycle->predicted_s, report.cycle->measured_s, report.cycle->ratio());
  fmt::print(
      "bytes out and in: of the island with the most, on its own link, with headers, control and repair\n");
}

void print_islands(const RunReport& report) {
  fmt::print("\n{:>6}  {:>10}  {:>10}  {:>10}  {:>12}  {:>12}\n", "island", "updates", "bytes out",
             "bytes in", "out / update", "in / update");
  for (const testbed::IslandReport& island : report.islands) {
    const double updates = static_cast<double>(island.update_bytes);
    const auto share = [updates](std::uint64_t bytes) {
      return updates == 0 ? std::string("-") : fmt::format("{:.3f}", static_cast<double>(bytes) / updates);
    };
    fmt::print("{:>6}  {:>10}  {:>10}  {:>10}  {:>12}  {:>12}\n", island.site,
               format_bytes(island.update_bytes), format_bytes(island.tx_bytes),
               format_bytes(island.rx_bytes), share(island.tx_bytes), share(island.rx_bytes));
  }
}

void print_links(const RunReport& report) {
  if (report.links.empty()) return;
  fmt::print("\n{:<20}  {:>10}  {:>10}  {:>12}  {:>12}\n", "link", "RTT asked", "measured", "rate asked",
             "measured");
  for (const testbed::LinkReport& link : report.links)
    fmt::print("{:<20}  {:>7.2f} ms  {:>7.2f} ms  {:>8.2f} Mb/s  {:>8.2f} Mb/s\n", link.name,
               link.target_rtt_ms, link.measured_rtt_ms, link.target_bps * 1e-6, link.measured_bps * 1e-6);
}

/// Exact command, machine and links: what a page about the run shows, and another run needs to repeat it.
void add_setting(const RunWords& words, const RunConfig& config, nlohmann::ordered_json& json) {
  json["command_line"] = words.command_line;
  utsname machine{};
  ::uname(&machine);
  json["versions"] = {{"tombolo", TOMBOLO_VERSION},
                      {"kernel", machine.release},
                      {"compiler", fmt::format("gcc {}", __VERSION__)}};
  json["sites"] = nlohmann::ordered_json::array();
  for (schedule::SiteId id = 0; id < words.topology.sites.size(); ++id) {
    const schedule::Site& site = words.topology.sites[id];
    nlohmann::ordered_json entry{{"id", site.id}, {"city", site.city}};
    if (site.lat_deg) entry["lat"] = *site.lat_deg;
    if (site.lon_deg) entry["lon"] = *site.lon_deg;
    entry["islands"] = nlohmann::ordered_json::array();
    for (const schedule::Island& island : words.topology.islands)
      if (island.site == id) entry["islands"].push_back(island.id);
    json["sites"].push_back(std::move(entry));
  }
  json["topology_links"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < config.network.links.size(); i += 2) {
    const schedule::DirectedLink& link = config.network.links[i];
    json["topology_links"].push_back({{"a", config.network.site_names[link.from]},
                                      {"b", config.network.site_names[link.to]},
                                      {"rtt_ms", static_cast<double>(link.rtt_ns) * 1e-6},
                                      {"bps", link.capacity_bps}});
  }
}

/// What an island sends and receives per byte of its update, averaged over the islands and rounds: measured
/// for what ran, and for the other capabilities what the packets' sizes say.
void add_capabilities(const RunConfig& config, const RunReport& report, nlohmann::ordered_json& json) {
  double members = 0;
  double others = 0;  // Of a member, over all members of all rounds.
  const std::size_t period = config.schedule.rounds.size();
  for (std::uint32_t i = 0; i < testbed::round_count(config); ++i)
    for (const schedule::Clique& clique : config.schedule.rounds[i % period].cliques) {
      const double size = static_cast<double>(clique.size());
      members += size;
      others += size * (size - 1);
    }
  if (members == 0) return;
  const double wire = testbed::wire_bytes(config) / static_cast<double>(config.update_bytes);
  const auto packet = [&config](NumberFormat format) {
    return static_cast<double>(encoded_bytes(format, config.chunk_elements) + schedule::kPacketOverheadBytes);
  };
  const double result_ratio = packet(config.output_format()) / packet(config.format);
  double updates = 0;
  double tx = 0;
  double rx = 0;
  for (const testbed::IslandReport& island : report.islands) {
    updates += static_cast<double>(island.update_bytes);
    tx += static_cast<double>(island.tx_bytes);
    rx += static_cast<double>(island.rx_bytes);
  }
  json["capabilities"] = nlohmann::ordered_json::array();
  for (const bool multicast : {true, false})
    for (const bool edge : {true, false}) {
      const bool ran = multicast == config.multicast && edge == config.edge_aggregation && updates > 0;
      const double out = wire * (multicast ? 1.0 : others / members);
      const double in = wire * (edge ? result_ratio : others / members);
      json["capabilities"].push_back({{"multicast", multicast},
                                      {"aggregation", edge ? "edge" : "none"},
                                      {"bytes_out_per_update", ran ? tx / updates : out},
                                      {"bytes_in_per_update", ran ? rx / updates : in},
                                      {"measured", ran}});
    }
}

/// What only a run by processes has.
void add_machine(const RunReport& report, nlohmann::ordered_json& json) {
  json["backend"] = report.backend;
  json["links"] = nlohmann::ordered_json::array();
  for (const testbed::LinkReport& link : report.links)
    json["links"].push_back({{"name", link.name},
                             {"target_rtt_ms", link.target_rtt_ms},
                             {"measured_rtt_ms", link.measured_rtt_ms},
                             {"target_bps", link.target_bps},
                             {"measured_bps", link.measured_bps}});
  json["cpu_bound"] = report.cpu_bound;
  if (!report.cpu_reason.empty()) json["cpu_bound_reason"] = report.cpu_reason;
  if (report.cpu_idle) json["cpu_idle"] = *report.cpu_idle;
  if (!report.emulation.empty()) json["emulation"] = report.emulation;
  if (!report.folder.empty()) json["folder"] = report.folder;
  if (report.workers.empty()) return;
  json["worker_times"] = nlohmann::ordered_json::array();
  for (const testbed::WorkerReport& worker : report.workers)
    json["worker_times"].push_back({{"site", worker.site},
                                    {"worker", worker.worker},
                                    {"busy_s", worker.busy_s},
                                    {"idle_s", worker.idle_s},
                                    {"asleep_s", worker.asleep_s},
                                    {"stalled_s", worker.stalled_s}});
}

}  // namespace

void print_run(const RunWords& words, const RunConfig& config, const RunReport& report) {
  fmt::print(
      "{}, profile {}, scale {}, schedule {}, {} per island ({} at this scale) in {}, {} in {}, multicast "
      "{}, "
      "aggregation {}, {} time, seed {}\n\n",
      config.network.name, words.profile, words.scale, config.schedule.name, words.bytes,
      format_bytes(config.update_bytes), name(config.format), testbed::operation_name(config.operation),
      name(config.output_format()), config.multicast ? "on" : "off", words.aggregation,
      config.real_time ? "real" : "virtual", report.seed);
  print_rounds(report);
  print_islands(report);
  print_links(report);
  fmt::print("\nreplication: {} copies, {} not copied; repaired: {} packets\n", report.copies,
             format_bytes(report.payload_bytes_saved), report.repairs);
  std::string drops;
  for (const auto& [reason, count] : report.drops) drops += fmt::format(" {} {}", reason, count);
  fmt::print("dropped:{}\n\nexact: {}\n", drops.empty() ? " nothing" : drops, report.exact ? "yes" : "NO");
  if (!report.cpu_reason.empty())
    fmt::print("processor: {}{}\n", report.cpu_bound ? "THE RUN WAS BOUND BY IT: " : "", report.cpu_reason);
  if (!report.folder.empty()) fmt::print("run folder: {}\n", report.folder);
}

nlohmann::ordered_json run_json(const RunWords& words, const RunConfig& config, const RunReport& report) {
  nlohmann::ordered_json json = start_report("testbed run");
  json["topology"] = config.network.name;
  json["profile"] = words.profile;
  json["scale"] = words.scale;
  json["schedule"] = config.schedule.name;
  json["update_bytes"] = config.update_bytes;
  json["format"] = name(config.format);
  json["result_format"] = name(config.output_format());
  json["operation"] = testbed::operation_name(config.operation);
  json["multicast"] = config.multicast;
  json["aggregation"] = words.aggregation;
  if (config.tree_aggregation) json["partials"] = name(testbed::partials(config));
  json["chunk_elements"] = config.chunk_elements;
  json["workers"] = config.workers;
  json["real_time"] = config.real_time;
  json["seed"] = report.seed;
  json["exact"] = report.exact;
  json["form"] = config.event ? "event" : "barrier";
  json["fragments"] = config.fragments;
  if (report.cycle)
    json["cycle"] = {{"model_s", report.cycle->model_s},
                     {"predicted_s", report.cycle->predicted_s},
                     {"measured_s", report.cycle->measured_s}};
  json["rounds"] = nlohmann::ordered_json::array();
  for (const testbed::RoundReport& round : report.rounds)
    json["rounds"].push_back({{"round", round.round},
                              {"cliques", round.cliques},
                              {"model_s", round.model_s},
                              {"predicted_s", round.predicted_s},
                              {"measured_s", round.measured_s},
                              {"tx_bytes", round.tx_bytes},
                              {"rx_bytes", round.rx_bytes},
                              {"exact", round.exact},
                              {"errors", round.errors}});
  json["islands"] = nlohmann::ordered_json::array();
  for (const testbed::IslandReport& island : report.islands)
    json["islands"].push_back({{"site", island.site},
                               {"tx_bytes", island.tx_bytes},
                               {"rx_bytes", island.rx_bytes},
                               {"update_bytes", island.update_bytes}});
  json["drops"] = report.drops;
  json["repairs"] = report.repairs;
  json["copies"] = report.copies;
  json["payload_bytes_saved"] = report.payload_bytes_saved;
  add_machine(report, json);
  add_setting(words, config, json);
  add_capabilities(config, report, json);
  return json;
}

}  // namespace tombolo::tools
