#include "tools/check_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "control/config/controller_config.h"
#include "control/contingency.h"
#include "control/node/edge_memory.h"
#include "dataplane/port/dpdk/device_check.h"
#include "tools/cli.h"

namespace tombolo::tools {
namespace {

struct Options {
  std::string edge;
  std::string controller;
  std::string json;
};

/// The plans that the controller's file asks for: the one while nothing is lost, and those after each single
/// loss.
Result<std::vector<schedule::EpochPlan>> plans_of(const std::string& path) {
  auto file = control::load_controller_config(path);
  if (!file) return std::move(file).error();
  schedule::CompileOptions options;
  options.job = file->job;
  options.chunk_elements = file->chunk_elements;
  options.lane_count = file->lanes;
  options.deadline_ns = file->deadline_ns;
  options.update_bytes = file->update_bytes;
  options.format = file->format;
  options.result_format = file->result_format;
  options.non_finite = file->non_finite;
  options.multicast = file->multicast;
  options.edge_aggregation = file->edge_aggregation;
  options.tree_aggregation = file->tree_aggregation;
  auto plans = control::contingency_plans(file->network, {file->schedule, options});
  if (!plans) return std::move(plans).error().within(path);
  return plans;
}

/// Whether the edge reserves what the plan needs. Errors: kUnavailable, naming the key to change.
Status check_needs(const control::EdgeFile& file, const control::EdgeNeeds& needs) {
  for (std::size_t i = 0; i < needs.link_windows.size(); ++i)
    if (needs.link_windows[i] > file.links[i].window_packets)
      return Error{ErrorCode::kUnavailable,
                   fmt::format("{}: links[{}].window: {} packets, the schedule needs {}", file.path, i,
                               file.links[i].window_packets, needs.link_windows[i])};
  if (needs.buffers() > file.buffers)
    return Error{ErrorCode::kUnavailable, fmt::format("{}: memory.buffers: {}, the schedule needs {}",
                                                      file.path, file.buffers, needs.buffers())};
  if (file.arena_bytes != 0 && needs.arena_bytes > file.arena_bytes)
    return Error{ErrorCode::kUnavailable, fmt::format("{}: memory.arena: {}, the schedule needs {}",
                                                      file.path, file.arena_bytes, needs.arena_bytes)};
  if (needs.buffer_bytes > file.buffer_bytes)
    return Error{ErrorCode::kUnavailable, fmt::format("{}: memory.buffer_bytes: {}, the schedule needs {}",
                                                      file.path, file.buffer_bytes, needs.buffer_bytes)};
  return ok_status();
}

Status check_devices(const control::EdgeFile& file) {
  for (const control::EdgePortConfig& port : file.ports) {
    const auto device = dataplane::parse_device(port.device);
    if (!device) return Error(device.error()).within(fmt::format("{}: port {}", file.path, port.name));
    if (auto usable = dataplane::check_device(*device, port.mtu, file.workers); !usable)
      return std::move(usable).error().within(fmt::format("{}: port {}", file.path, port.name));
  }
  return ok_status();
}

void print_memory(const control::EdgeMemory& memory, std::uint64_t available, std::uint64_t limit) {
  fmt::print("{:<28}  {:>9}  {:>10}\n", "", "count", "memory");
  for (const control::EdgeMemory::Part& part : memory.parts)
    fmt::print("{:<28}  {:>9}  {:>10}\n", part.name, part.count, format_bytes(part.bytes));
  fmt::print("{:<28}  {:>9}  {:>10}\n", "in all", "", format_bytes(memory.bytes));
  fmt::print("the machine has {}{}\n", format_bytes(available),
             limit == 0 ? "" : ", the file's limit is " + format_bytes(limit));
}

int run_check(const Options& options) {
  const auto file = control::load_edge_config(options.edge);
  if (!file) return report_error(file.error());
  std::optional<control::EdgeNeeds> needs;
  if (!options.controller.empty()) {
    const auto plans = plans_of(options.controller);
    if (!plans) return report_error(plans.error());
    if (plans->front().site_names.size() != file->topology.sites.size())
      return report_error(invalid_input(options.controller + ": another topology than the edge's"));
    needs.emplace();
    for (const schedule::EpochPlan& plan : *plans)
      control::widen(*needs, control::edge_needs(plan, file->place()));
  }
  const control::EdgeMemory memory = control::edge_memory(*file);
  const std::uint64_t available = control::available_memory(file->hugepages);
  nlohmann::ordered_json json = start_report("check");
  json["site"] = file->site;
  json["memory_bytes"] = memory.bytes;
  json["available_bytes"] = available;
  json["limit_bytes"] = file->memory_limit_bytes;
  json["buffers"] = memory.pool.buffers;
  json["rows"] = nlohmann::ordered_json::array();
  for (const control::EdgeMemory::Part& part : memory.parts)
    json["rows"].push_back({{"name", part.name}, {"count", part.count}, {"bytes", part.bytes}});
  if (needs) json["needed_buffers"] = needs->buffers();
  if (needs) json["needed_arena_bytes"] = needs->arena_bytes;
  if (prints_tables(options.json)) print_memory(memory, available, file->memory_limit_bytes);
  if (auto written = write_report(json, options.json); !written) return report_error(written.error());
  if (auto fits = control::check_memory(*file, memory, available); !fits) return report_error(fits.error());
  if (needs)
    if (auto enough = check_needs(*file, *needs); !enough) return report_error(enough.error());
  if (auto usable = check_devices(*file); !usable) return report_error(usable.error());
  if (prints_tables(options.json)) fmt::print("{}: it fits\n", options.edge);
  return kExitOk;
}

}  // namespace

void add_check_command(CLI::App& app, int& exit_code) {
  CLI::App* const check =
      app.add_subcommand("check", "Say what memory an edge needs, and whether it can start here");
  auto options = std::make_shared<Options>();
  check->add_option("edge", options->edge, "The edge's configuration file")->required();
  check->add_option("--controller", options->controller,
                    "The controller's file: also compares with what its schedule needs");
  add_json(*check, options->json);
  check->callback([options, &exit_code] { exit_code = run_check(*options); });
}

}  // namespace tombolo::tools
