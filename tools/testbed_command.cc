#include "tools/testbed_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "schedule/schedule.h"
#include "schedule/topology.h"
#include "tools/cli.h"
#include "tools/testbed/run.h"

namespace tombolo::tools {
namespace {

using testbed::RunConfig;
using testbed::RunReport;

constexpr std::uint32_t kStandardChunkElements = 320;
constexpr std::uint32_t kJumboChunkElements = 2048;

const std::map<std::string, std::uint32_t> kChunks{{"standard", kStandardChunkElements},
                                                   {"jumbo", kJumboChunkElements}};
const std::map<std::string, wire::Operation> kOperations{{"sum", wire::Operation::kSum},
                                                         {"mean", wire::Operation::kMean}};

/// The command line of `testbed run`, as written.
struct Options {
  std::string topology;
  std::string profile;
  double scale = 1.0;
  std::string schedule = "full";
  std::uint32_t rounds = 0;
  std::string bytes = "1G";
  bool multicast = true;
  std::string aggregation = "edge";
  std::string chunk = "standard";
  std::string operation = "mean";
  std::vector<std::string> losses;
  std::uint64_t seed = 1;
  std::uint32_t workers = 1;
  std::uint32_t receive_queues = 0;
  std::uint16_t lanes = 4;
  double deadline_s = 0;
  bool real_time = false;
  std::string json;
};

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

Result<RunConfig> make_config(const Options& options) {
  RunConfig config;
  const auto topology = schedule::load_topology(options.topology);
  if (!topology) return topology.error();
  auto network = schedule::resolve(*topology, options.profile, options.scale);
  if (!network) return std::move(network).error().within("--profile, --scale");
  config.network = std::move(network).value();
  auto schedule = schedule::load_schedule(options.schedule, config.network.islands);
  if (!schedule) return std::move(schedule).error();
  config.schedule = std::move(schedule).value();
  const auto bytes = parse_bytes(options.bytes);
  if (!bytes) return Error(bytes.error()).within("--bytes");
  const double scaled =
      std::floor(static_cast<double>(*bytes) * options.scale / sizeof(float)) * sizeof(float);
  if (scaled < sizeof(float) || scaled > 4e9)
    return invalid_input(
        fmt::format("--bytes, --scale: {} x {} is not between one fp32 element and 4 GB; "
                    "the testbed keeps every island's update in memory, so scale it down",
                    options.bytes, options.scale));
  config.update_bytes = static_cast<std::uint64_t>(scaled);
  for (const std::string& text : options.losses) {
    auto loss = parse_loss(text, config.network);
    if (!loss) return std::move(loss).error();
    config.losses.push_back(*loss);
  }
  config.rounds = options.rounds;
  config.chunk_elements = kChunks.at(options.chunk);
  config.lane_count = options.lanes;
  config.workers = options.workers;
  config.receive_queues = options.receive_queues;
  config.multicast = options.multicast;
  config.edge_aggregation = options.aggregation == "edge";
  config.operation = kOperations.at(options.operation);
  config.deadline_ns = static_cast<Nanoseconds>(options.deadline_s * 1e9);
  config.real_time = options.real_time;
  config.seed = options.seed;
  return config;
}

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

void print_report(const Options& options, const RunConfig& config, const RunReport& report) {
  fmt::print(
      "{}, profile {}, scale {}, schedule {}, {} per island ({} at this scale), multicast {}, "
      "aggregation {}, {} time, seed {}\n\n",
      config.network.name, options.profile, options.scale, config.schedule.name, options.bytes,
      format_bytes(config.update_bytes), options.multicast ? "on" : "off", options.aggregation,
      options.real_time ? "real" : "virtual", report.seed);
  print_rounds(report);
  print_islands(report);
  fmt::print("\nreplication: {} copies, {} not copied; repaired: {} packets\n", report.copies,
             format_bytes(report.payload_bytes_saved), report.repairs);
  std::string drops;
  for (const auto& [reason, count] : report.drops) drops += fmt::format(" {} {}", reason, count);
  fmt::print("dropped:{}\n\nexact: {}\n", drops.empty() ? " nothing" : drops, report.exact ? "yes" : "NO");
}

nlohmann::ordered_json make_json(const Options& options, const RunConfig& config, const RunReport& report) {
  nlohmann::ordered_json json = start_report("testbed run");
  json["topology"] = config.network.name;
  json["profile"] = options.profile;
  json["scale"] = options.scale;
  json["schedule"] = config.schedule.name;
  json["update_bytes"] = config.update_bytes;
  json["multicast"] = options.multicast;
  json["aggregation"] = options.aggregation;
  json["chunk_elements"] = config.chunk_elements;
  json["workers"] = config.workers;
  json["real_time"] = config.real_time;
  json["seed"] = report.seed;
  json["exact"] = report.exact;
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
  return json;
}

int run_testbed(const Options& options) {
  if (options.aggregation == "tree")
    return report_error({ErrorCode::kNotSupported, "--aggregation tree: not yet"});
  auto config = make_config(options);
  if (!config) return report_error(config.error());
  const auto progress = [](std::uint32_t done, std::uint32_t rounds) {
    fmt::print(stderr, "round {} of {} done\n", done, rounds);
  };
  fmt::print(stderr, "{} sites, {} islands: starting\n", config->network.site_names.size(),
             config->network.islands.size());
  const auto report = testbed::run(*config, progress);
  if (!report) return report_error(report.error());
  if (prints_tables(options.json)) print_report(options, *config, *report);
  if (auto written = write_report(make_json(options, *config, *report), options.json); !written)
    return report_error(written.error());
  return report->exact ? kExitOk : kExitFailed;
}

}  // namespace

void add_testbed_command(CLI::App& app, int& exit_code) {
  CLI::App* const testbed = app.add_subcommand("testbed", "Run islands and edges over an emulated WAN");
  testbed->require_subcommand(1);
  CLI::App* const run =
      testbed->add_subcommand("run", "Run rounds in one process and check every result to the bit");
  auto options = std::make_shared<Options>();
  run->add_option("topology", options->topology, "Topology file")->required();
  run->add_option("--profile", options->profile, "Profile of the topology")->required();
  run->add_option("--scale", options->scale, "Multiplies capacities and bytes alike; times stay")
      ->capture_default_str()
      ->check(CLI::Range(1e-9, 1000.0));
  run->add_option("--schedule", options->schedule, "full, grid, or a schedule file")->capture_default_str();
  run->add_option("--rounds", options->rounds, "Rounds to run; 0: one period")->capture_default_str();
  run->add_option("--bytes", options->bytes, "An island's update, before scaling (k, M, G; Ki, Mi, Gi)")
      ->capture_default_str();
  add_on_off(*run, "--multicast", options->multicast, "Edges replicate; off: islands send a copy per member");
  run->add_option("--aggregation", options->aggregation, "Who folds: none (the islands), edge")
      ->check(CLI::IsMember({"none", "edge", "tree"}))
      ->capture_default_str();
  run->add_option("--chunk", options->chunk, "Packet size: standard (1280 bytes of payload) or jumbo (8192)")
      ->check(CLI::IsMember(kChunks))
      ->capture_default_str();
  run->add_option("--operation", options->operation, "sum or mean")
      ->check(CLI::IsMember(kOperations))
      ->capture_default_str();
  run->add_option("--loss", options->losses, "LINK=PROBABILITY, both directions; may be repeated");
  run->add_option("--seed", options->seed, "Of data, losses and delays")->capture_default_str();
  run->add_option("--workers", options->workers, "Workers of each edge; divides the lanes")
      ->capture_default_str();
  run->add_option("--receive-queues", options->receive_queues,
                  "Of each edge's ports; fewer than workers: lanes are handed over; 0: as many")
      ->capture_default_str();
  run->add_option("--lanes", options->lanes, "Lanes of the epoch")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  run->add_option("--deadline", options->deadline_s, "Seconds until a round fails; 0: ten times the model's")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 86400.0));
  run->add_flag("--real-time", options->real_time,
                "Threads and the machine's clock; default is virtual time");
  add_json(*run, options->json);
  run->callback([options, &exit_code] { exit_code = run_testbed(*options); });
}

}  // namespace tombolo::tools
