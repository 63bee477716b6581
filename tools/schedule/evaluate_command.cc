#include "tools/schedule/evaluate_command.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "schedule/mixing.h"
#include "schedule/round_model.h"
#include "schedule/routes.h"
#include "schedule/schedule.h"
#include "tools/cli.h"
#include "tools/schedule/network_options.h"

namespace tombolo::tools {
namespace {

/// The command line of `schedule evaluate`, as written.
struct EvaluateOptions {
  NetworkOptions network;
  std::string schedule;
  std::string json;
};

struct Evaluation {
  NetworkInput input;
  schedule::Schedule schedule;
  std::vector<schedule::RoundTime> times;
  double cycle_s = 0;
  schedule::Mixing mixing;
};

Result<Evaluation> evaluate(const EvaluateOptions& options) {
  Evaluation result;
  auto input = load_network(options.network);
  if (!input) return input.error();
  result.input = std::move(*input);
  const schedule::Network& network = result.input.network;
  auto chosen = schedule::load_schedule(options.schedule, network.islands);
  if (!chosen) return chosen.error();
  result.schedule = std::move(*chosen);

  const schedule::Routes routes(network);
  const schedule::RoundModel model(network, routes, result.input.capabilities);
  std::vector<double> seconds;
  for (const schedule::Round& round : result.schedule.rounds) {
    auto time = model.time(round, static_cast<double>(result.input.update_bytes));
    if (!time) return time.error();
    seconds.push_back(time->seconds);
    result.cycle_s += time->seconds;
    result.times.push_back(std::move(*time));
  }
  auto mixing = schedule::measure_mixing(result.schedule, seconds, network.islands.size());
  if (!mixing) return mixing.error();
  result.mixing = *mixing;
  return result;
}

void print_table(const EvaluateOptions& options, const Evaluation& result) {
  fmt::print("{}, schedule {}\n\n", describe_network(options.network, result.input), result.schedule.name);
  fmt::print("{:>5}  {:>12}  {:<20}  {:>7}  {}\n", "round", "time", "bottleneck", "updates", "cliques");
  for (std::size_t r = 0; r < result.times.size(); ++r) {
    std::string cliques;
    for (const schedule::Clique& clique : result.schedule.rounds[r].cliques)
      cliques += fmt::format("{{{}}}", fmt::join(island_names(clique, result.input.network), ","));
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
  report_network(options.network, result.input, report);
  report["schedule"] = result.schedule.name;
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
      round["cliques"].push_back(island_names(clique, result.input.network));
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

void add_schedule_evaluate(CLI::App& schedule, int& exit_code) {
  CLI::App* const command =
      schedule.add_subcommand("evaluate", "Round times, bottlenecks and disagreement of a schedule");
  const auto options = std::make_shared<EvaluateOptions>();
  add_network_options(*command, options->network);
  command->add_option("--schedule", options->schedule, "full, grid or a schedule file")->required();
  add_json(*command, options->json);
  command->callback([options, &exit_code] { exit_code = run_evaluate(*options); });
}

}  // namespace tombolo::tools
