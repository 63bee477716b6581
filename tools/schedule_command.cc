#include "tools/schedule_command.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/units.h"
#include "schedule/mixing.h"
#include "schedule/round_model.h"
#include "schedule/routes.h"
#include "schedule/schedule.h"
#include "schedule/topology.h"
#include "tools/cli.h"

namespace tombolo::tools {
namespace {

using schedule::Aggregation;
using schedule::Family;

const std::map<std::string, Aggregation> kAggregations{
    {"none", Aggregation::kNone}, {"edge", Aggregation::kEdge}, {"tree", Aggregation::kTree}};
const std::map<std::string, Family> kFamilies{
    {"direct", Family::kDirect}, {"sharded", Family::kSharded}, {"best", Family::kBest}};

/// The command line of `schedule evaluate`, as written.
struct EvaluateOptions {
  std::string topology;
  std::string profile;
  std::string schedule;
  std::string bytes;
  bool multicast = true;
  std::string aggregation = "edge";
  std::string family = "direct";
  std::string json;
};

struct Evaluation {
  schedule::Network network;
  schedule::Schedule schedule;
  std::uint64_t update_bytes = 0;
  std::vector<schedule::RoundTime> times;
  double cycle_s = 0;
  schedule::Mixing mixing;
};

Result<Evaluation> evaluate(const EvaluateOptions& options) {
  Evaluation result;
  const auto bytes = parse_bytes(options.bytes);
  if (!bytes) return Error(bytes.error()).within("--bytes");
  result.update_bytes = *bytes;
  const auto topology = schedule::load_topology(options.topology);
  if (!topology) return topology.error();
  auto network = schedule::resolve(*topology, options.profile);
  if (!network) return Error(network.error()).within("--profile");
  result.network = std::move(*network);
  auto chosen = schedule::load_schedule(options.schedule, result.network.islands);
  if (!chosen) return chosen.error();
  result.schedule = std::move(*chosen);

  const schedule::Routes routes(result.network);
  const schedule::RoundModel model(
      result.network, routes,
      {options.multicast, kAggregations.at(options.aggregation), kFamilies.at(options.family)});
  std::vector<double> seconds;
  for (const schedule::Round& round : result.schedule.rounds) {
    auto time = model.time(round, static_cast<double>(result.update_bytes));
    if (!time) return time.error();
    seconds.push_back(time->seconds);
    result.cycle_s += time->seconds;
    result.times.push_back(std::move(*time));
  }
  auto mixing = schedule::measure_mixing(result.schedule, seconds, result.network.islands.size());
  if (!mixing) return mixing.error();
  result.mixing = *mixing;
  return result;
}

std::vector<std::string> island_names(const schedule::Clique& clique, const schedule::Network& network) {
  std::vector<std::string> names;
  for (const schedule::Rank rank : clique) names.push_back(network.islands[rank].id);
  return names;
}

void print_table(const EvaluateOptions& options, const Evaluation& result) {
  fmt::print("{}, profile {}, schedule {}, {} per island, multicast {}, aggregation {}, family {}\n\n",
             result.network.name.empty() ? options.topology : result.network.name, options.profile,
             result.schedule.name, format_bytes(result.update_bytes), options.multicast ? "on" : "off",
             options.aggregation, options.family);
  fmt::print("{:>5}  {:>12}  {:<20}  {:>7}  {}\n", "round", "time", "bottleneck", "updates", "cliques");
  for (std::size_t r = 0; r < result.times.size(); ++r) {
    std::string cliques;
    for (const schedule::Clique& clique : result.schedule.rounds[r].cliques)
      cliques += fmt::format("{{{}}}", fmt::join(island_names(clique, result.network), ","));
    const schedule::RoundTime& time = result.times[r];
    fmt::print("{:>5}  {:>10.6f} s  {:<20}  {:>7}  {}\n", r, time.seconds, time.bottleneck,
               time.bottleneck_updates, cliques);
  }
  fmt::print("\ncycle           {:.6f} s\n", result.cycle_s);
  if (std::isfinite(result.mixing.disagreement_s))
    fmt::print("disagreement D  {:.6f} s\n", result.mixing.disagreement_s);
  else
    fmt::print("disagreement D  unbounded: the schedule never joins all islands\n");
  fmt::print("contraction R   {:.6f} per s\n", result.mixing.contraction_per_s);
}

nlohmann::ordered_json make_report(const EvaluateOptions& options, const Evaluation& result) {
  nlohmann::ordered_json report = start_report("schedule evaluate");
  report["topology"] = result.network.name;
  report["profile"] = options.profile;
  report["schedule"] = result.schedule.name;
  report["update_bytes"] = result.update_bytes;
  report["multicast"] = options.multicast;
  report["aggregation"] = options.aggregation;
  report["family"] = options.family;
  // JSON has no infinity: null says that the schedule never joins all islands.
  if (std::isfinite(result.mixing.disagreement_s))
    report["disagreement_s"] = result.mixing.disagreement_s;
  else
    report["disagreement_s"] = nullptr;
  report["contraction_per_s"] = result.mixing.contraction_per_s;
  report["cycle_s"] = result.cycle_s;
  report["rounds"] = nlohmann::ordered_json::array();
  for (std::size_t r = 0; r < result.times.size(); ++r) {
    nlohmann::ordered_json round;
    round["cliques"] = nlohmann::ordered_json::array();
    for (const schedule::Clique& clique : result.schedule.rounds[r].cliques)
      round["cliques"].push_back(island_names(clique, result.network));
    round["time_s"] = result.times[r].seconds;
    round["bottleneck"] = {{"resource", result.times[r].bottleneck},
                           {"load", result.times[r].bottleneck_updates}};
    report["rounds"].push_back(std::move(round));
  }
  return report;
}

int run_evaluate(const EvaluateOptions& options) {
  const Result<Evaluation> result = evaluate(options);
  if (!result) return report_error(result.error());
  if (prints_tables(options.json)) print_table(options, *result);
  const Status written = write_report(make_report(options, *result), options.json);
  return written ? kExitOk : report_error(written.error());
}

}  // namespace

void add_schedule_command(CLI::App& app, int& exit_code) {
  CLI::App* const group = app.add_subcommand("schedule", "Schedules: which islands meet in which round");
  group->require_subcommand(1);
  CLI::App* const command =
      group->add_subcommand("evaluate", "Round times, bottlenecks and disagreement of a schedule");
  const auto options = std::make_shared<EvaluateOptions>();
  command->add_option("topology", options->topology, "Topology file")->required()->type_name("TOPOLOGY");
  command->add_option("--profile", options->profile, "Capacities: a profile of the topology file")
      ->required();
  command->add_option("--schedule", options->schedule, "full, grid or a schedule file")->required();
  command->add_option("--bytes", options->bytes, "Size of an update: 1G, 10M, 64Ki")->required();
  add_on_off(*command, "--multicast", options->multicast, "Edges replicate");
  command->add_option("--aggregation", options->aggregation, "Where updates are summed: none, edge or tree")
      ->check(CLI::IsMember(kAggregations))
      ->capture_default_str();
  command->add_option("--family", options->family, "How a clique exchanges: direct, sharded or best")
      ->check(CLI::IsMember(kFamilies))
      ->capture_default_str();
  add_json(*command, options->json);
  command->callback([options, &exit_code] { exit_code = run_evaluate(*options); });
}

}  // namespace tombolo::tools
