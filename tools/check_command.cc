#include "tools/check_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "control/config/controller_config.h"
#include "control/contingency.h"
#include "control/job_quota.h"
#include "control/node/edge_memory.h"
#include "dataplane/port/dpdk/device_check.h"
#include "tools/cli.h"

namespace tombolo::tools {
namespace {

struct Options {
  std::string edge;
  std::vector<std::string> controllers;
  std::string json;
};

/// The plans that a controller's file asks for: the one while nothing is lost, and those after each single
/// loss.
Result<std::vector<schedule::EpochPlan>> plans_of(const control::ControllerFile& file) {
  auto plans = control::contingency_plans(file.network, {file.schedule, file.compile_options()});
  if (!plans) return std::move(plans).error().within(file.path);
  return plans;
}

/// What one job's schedule needs of the edge, and what its quota makes of it.
struct JobNeeds {
  std::uint16_t job = 0;
  control::EdgeNeeds needs;
  std::uint64_t cache_buffers = 0;  ///< That the windows of its links reserve.
  control::Windows windows;         ///< While nothing is lost.
};

/// Errors: those of the controller's file; kInvalidInput if it goes with no job of the edge; kUnavailable,
/// naming the key to change, if the edge cannot run a plan of it.
Result<JobNeeds> job_needs(const control::EdgeFile& edge, const std::string& path) {
  const auto file = control::load_controller_config(path);
  if (!file) return Error(file.error());
  const auto found = std::find_if(edge.jobs.begin(), edge.jobs.end(),
                                  [&](const control::EdgeJobFile& job) { return job.job == file->job; });
  if (found == edge.jobs.end())
    return invalid_input(
        fmt::format("{}: it is for job {}, which {} does not serve", path, file->job, edge.path));
  if (file->topology.sites.size() != found->topology.sites.size())
    return invalid_input(path + ": another topology than the edge's");
  const std::string where = fmt::format("{}: jobs[{}]", edge.path, found - edge.jobs.begin());
  auto plans = plans_of(*file);
  if (!plans) return std::move(plans).error();
  JobNeeds needs;
  needs.job = found->job;
  control::JobQuota quota{found->buffers, found->arena_bytes, {}};
  for (const control::EdgeLinkConfig& link : found->links) {
    quota.link_windows.push_back(link.window_packets);
    needs.cache_buffers += std::uint64_t{link.window_packets} * edge.lanes;
  }
  for (const schedule::EpochPlan& plan : *plans)
    control::widen(needs.needs, control::edge_needs(plan, found->place()));
  for (std::size_t i = 0; i < needs.needs.link_windows.size(); ++i)
    if (needs.needs.link_windows[i] > found->links[i].window_packets)
      return Error{
          ErrorCode::kUnavailable,
          fmt::format("{}: the window of the link to {}: {} packets, the schedule needs {}", where,
                      found->links[i].name, found->links[i].window_packets, needs.needs.link_windows[i])};
  if (needs.needs.buffer_bytes > edge.buffer_bytes)
    return Error{ErrorCode::kUnavailable,
                 fmt::format("{}: memory.buffer_bytes: {}, the schedule needs {}", edge.path,
                             edge.buffer_bytes, needs.needs.buffer_bytes)};
  for (const schedule::EpochPlan& plan : *plans) {
    const auto windows = control::windows_within(plan, found->place(), quota);
    if (!windows) return Error(windows.error()).within(where);
    if (&plan == &plans->front()) needs.windows = *windows;
  }
  return needs;
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

void print_needs(const JobNeeds& needs) {
  fmt::print("job {}: its schedule wants {} buffers and an arena of {}\n", needs.job, needs.needs.buffers(),
             format_bytes(needs.needs.arena_bytes));
  if (needs.windows.is_cut())
    fmt::print("  its quota makes windows smaller, {} chunks instead of {}: rounds may take longer\n",
               needs.windows.chunks, needs.windows.planned_chunks);
  if (needs.cache_buffers > needs.needs.cache_buffers())
    fmt::print("  the windows of its links reserve {} of the buffers, {} would do\n", needs.cache_buffers,
               needs.needs.cache_buffers());
}

int run_check(const Options& options) {
  const auto file = control::load_edge_config(options.edge);
  if (!file) return report_error(file.error());
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
  json["jobs"] = nlohmann::ordered_json::array();
  if (prints_tables(options.json)) print_memory(memory, available, file->memory_limit_bytes);
  std::optional<Error> lacking;
  for (const std::string& controller : options.controllers) {
    const auto needs = job_needs(*file, controller);
    if (!needs && !lacking) lacking = needs.error();
    if (!needs) continue;
    json["jobs"].push_back({{"job", needs->job},
                            {"needed_buffers", needs->needs.buffers()},
                            {"needed_arena_bytes", needs->needs.arena_bytes},
                            {"window_chunks", needs->windows.chunks},
                            {"planned_window_chunks", needs->windows.planned_chunks}});
    if (prints_tables(options.json)) print_needs(*needs);
  }
  if (auto written = write_report(json, options.json); !written) return report_error(written.error());
  if (auto fits = control::check_memory(*file, memory, available); !fits) return report_error(fits.error());
  if (lacking) return report_error(*lacking);
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
  check->add_option("--controller", options->controllers,
                    "A job's controller's file: also compares with what its schedule needs; may be repeated");
  add_json(*check, options->json);
  check->callback([options, &exit_code] { exit_code = run_check(*options); });
}

}  // namespace tombolo::tools
