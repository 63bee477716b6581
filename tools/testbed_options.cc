#include "tools/testbed_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/units.h"
#include "schedule/schedule.h"
#include "tools/cli.h"
#include "tools/number_options.h"

namespace tombolo::tools {
namespace {

using testbed::RunConfig;

constexpr std::uint32_t kStandardPayloadBytes = 1280;
constexpr std::uint32_t kJumboPayloadBytes = 8192;

/// "LON-SIN=0.001", in either order of the sites.
Result<testbed::LinkLoss> parse_loss(const std::string& text, const schedule::Network& network) {
  const Error wrong =
      invalid_input(fmt::format("--loss: '{}' is not LINK=PROBABILITY, such as LON-SIN=0.001", text));
  const std::size_t equals = text.find('=');
  const std::size_t dash = text.find('-');
  if (equals == std::string::npos || dash == std::string::npos || dash > equals) return wrong;
  testbed::LinkLoss loss;
  const auto site = [&](const std::string& name, schedule::SiteId& id) {
    const auto found = std::find(network.site_names.begin(), network.site_names.end(), name);
    id = static_cast<schedule::SiteId>(found - network.site_names.begin());
    return found != network.site_names.end();
  };
  if (!site(text.substr(0, dash), loss.a) || !site(text.substr(dash + 1, equals - dash - 1), loss.b))
    return invalid_input(fmt::format("--loss: '{}' names a site that the topology does not have", text));
  const auto probability = parse_number(std::string_view(text).substr(equals + 1));
  if (!probability || *probability < 0 || *probability >= 1) return wrong;
  loss.probability = *probability;
  return loss;
}

/// This process's command line, each word quoted as a shell wants it where it must be.
std::string own_command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::string line;
  for (std::size_t at = 0; at < text.size();) {
    const std::string word = text.c_str() + at;
    at += word.size() + 1;
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                            "_-./=:,+@") == std::string::npos;
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += (line.empty() ? "" : " ") + (plain ? word : quoted + "'");
  }
  return line;
}

}  // namespace

Result<RunConfig> make_config(const TestbedOptions& options, double scale) {
  RunConfig config;
  const auto topology = schedule::load_topology(options.topology);
  if (!topology) return topology.error();
  auto network = schedule::resolve(*topology, options.profile, scale);
  if (!network) return std::move(network).error().within("--profile, --scale");
  config.network = std::move(network).value();
  auto schedule =
      schedule::load_schedule(options.schedule, config.network.islands, config.network.site_names);
  if (!schedule) return std::move(schedule).error();
  config.schedule = std::move(schedule).value();
  const auto bytes = parse_bytes(options.bytes);
  if (!bytes) return Error(bytes.error()).within("--bytes");
  config.format = number_format(options.format).value();
  if (!options.result_format.empty()) config.result_format = number_format(options.result_format).value();
  const double scaled = std::floor(static_cast<double>(*bytes) * scale);
  const std::uint64_t elements =
      scaled > 4e9 ? 0 : elements_within(config.format, static_cast<std::uint64_t>(scaled));
  if (elements == 0)
    return invalid_input(
        fmt::format("--bytes, --scale: {} x {} is not between one {} element and 4 GB; "
                    "the testbed keeps every island's update in memory, so scale it down",
                    options.bytes, scale, options.format));
  config.update_bytes = encoded_bytes(config.format, elements);
  for (const std::string& text : options.losses) {
    auto loss = parse_loss(text, config.network);
    if (!loss) return std::move(loss).error();
    config.losses.push_back(*loss);
  }
  config.rounds = options.rounds;
  config.tree_aggregation = options.aggregation == "tree";
  if (options.partials == "update") config.partial_format = schedule::PartialFormat::kUpdate;
  config.chunk_elements =
      chunk_elements_for(std::array{config.format, config.output_format(), testbed::partials(config)},
                         options.jumbo() ? kJumboPayloadBytes : kStandardPayloadBytes);
  config.lane_count = options.lanes;
  config.workers = options.workers;
  config.receive_queues = options.receive_queues;
  config.multicast = options.multicast;
  config.edge_aggregation = options.aggregation != "none";
  config.operation = testbed::operation_named(options.operation).value();
  config.non_finite = non_finite_policy(options.non_finite).value();
  config.non_finite_share = options.non_finite_share;
  config.deadline_ns = static_cast<Nanoseconds>(options.deadline_s * 1e9);
  config.real_time = options.real_time;
  config.seed = options.seed;
  const bool event =
      options.form.empty() ? config.schedule.form == schedule::Form::kEvent : options.form == "event";
  config.schedule.form = schedule::Form::kBarrier;
  if (!event && options.fragments > 1) return invalid_input("--fragments: only with the form event");
  if (!event) return config;
  if (options.backend == "netns")
    return Error{ErrorCode::kNotSupported, "a schedule of the form event: not yet with --backend netns"};
  if (auto dropped = testbed::drop_barriers(
          config, options.fragments == 0 ? config.schedule.fragments : options.fragments);
      !dropped)
    return std::move(dropped).error().within("fragments");
  return config;
}

Result<RunWords> make_words(const TestbedOptions& options, double scale) {
  auto topology = schedule::load_topology(options.topology);
  if (!topology) return std::move(topology).error();
  return RunWords{own_command_line(), options.profile, options.aggregation,
                  options.bytes,      scale,           std::move(topology).value()};
}

void add_experiment_options(CLI::App& command, TestbedOptions& options) {
  command.add_option("topology", options.topology, "Topology file")->required();
  command.add_option("--profile", options.profile, "Profile of the topology")->required();
  command.add_option("--scale", options.scale, "Multiplies capacities and bytes alike; times stay")
      ->check(CLI::Range(1e-9, 1000.0));
  command.add_option("--schedule", options.schedule, "full, grid, or a schedule file")->capture_default_str();
  command
      .add_option("--form", options.form,
                  "barrier: all islands start a round together; event: each as soon as those it meets are "
                  "ready; default: as the schedule "
                  "says")
      ->check(CLI::IsMember({"barrier", "event"}));
  command
      .add_option("--fragments", options.fragments,
                  "Of an update, under way at once, with the form event; 0: as the schedule says")
      ->capture_default_str();
  command.add_option("--rounds", options.rounds, "Rounds to run; 0: one period, with the form event three")
      ->capture_default_str();
  command.add_option("--bytes", options.bytes, "An island's update, before scaling (k, M, G; Ki, Mi, Gi)")
      ->capture_default_str();
  add_on_off(command, "--multicast", options.multicast,
             "Edges replicate; off: islands send a copy per member");
  command
      .add_option("--aggregation", options.aggregation,
                  "Who folds: none (the islands), edge, tree (edges on the way, too)")
      ->check(CLI::IsMember({"none", "edge", "tree"}))
      ->capture_default_str();
  command
      .add_option("--partials", options.partials,
                  "With --aggregation tree, what sites pass up: fp32, or update: in its format, rounded once "
                  "per level")
      ->check(CLI::IsMember({"fp32", "update"}))
      ->capture_default_str();
  command
      .add_option("--chunk", options.chunk,
                  "Packet size: standard (1280 bytes of payload) or jumbo (8192); default: standard, with "
                  "netns jumbo")
      ->check(CLI::IsMember({"standard", "jumbo"}));
  add_number_options(command, options.format, options.result_format, options.operation, options.non_finite,
                     options.non_finite_share);
  command.add_option("--loss", options.losses, "LINK=PROBABILITY, both directions; may be repeated");
  command.add_option("--seed", options.seed, "Of data, losses and delays")->capture_default_str();
  command.add_option("--workers", options.workers, "Workers of each edge; divides the lanes")
      ->capture_default_str();
  command
      .add_option("--receive-queues", options.receive_queues,
                  "Of each edge's ports; fewer than workers: lanes are handed over; 0: as many")
      ->capture_default_str();
  command.add_option("--lanes", options.lanes, "Lanes of the epoch")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  command
      .add_option("--deadline", options.deadline_s, "Seconds until a round fails; 0: ten times the model's")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 86400.0));
}

void add_netns_options(CLI::App& command, TestbedOptions& options) {
  command
      .add_option("--emulation", options.emulation,
                  "netns: the WAN is made by the edges' ports (builtin), by the kernel (netem), or by the "
                  "kernel where it can")
      ->check(CLI::IsMember({"auto", "builtin", "netem"}))
      ->capture_default_str();
  command
      .add_option(
          "--hello-ms", options.hello_interval_ms,
          "netns: between HELLOs; a neighbour is lost after three. Longer where the processor is slow")
      ->check(CLI::Range(1, 60000))
      ->capture_default_str();
  command
      .add_option("--delivery", options.delivery,
                  "netns: between edges straight to the neighbour, or by native IPv4 multicast to groups "
                  "that the controller gives")
      ->check(CLI::IsMember({"unicast", "multicast"}))
      ->capture_default_str();
  command.add_option("--out", options.out, "netns: the run's folder; default: runs/<time>-<name>");
  command.add_option("--programs", options.programs,
                     "netns: the folder of tombolo-edge, -controller and -island; default: this program's");
  command.add_flag("--accept-links", options.accept_links,
                   "netns: go on when a link measures otherwise than asked for");
}

}  // namespace tombolo::tools
