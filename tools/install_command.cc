#include "tools/install_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "control/rpc/local_client.h"
#include "schedule/yaml_value.h"
#include "tools/cli.h"

namespace tombolo::tools {
namespace {

struct Options {
  std::string schedule;
  std::string controller;
  std::string multicast;
  std::string aggregation;
  std::string json;
};

const char* outcome_name(control::ChangeOutcome::Kind kind) {
  switch (kind) {
    case control::ChangeOutcome::Kind::kInstalled:
      return "installed";
    case control::ChangeOutcome::Kind::kUnconfirmed:
      return "unconfirmed";
    case control::ChangeOutcome::Kind::kAborted:
      return "aborted";
    case control::ChangeOutcome::Kind::kSuperseded:
      return "superseded";
  }
  return "unknown";
}

Result<control::InstallOrder> make_order(const Options& options) {
  control::InstallOrder order;
  if (options.schedule == "full" || options.schedule == "grid") {
    order.schedule_name = options.schedule;
  } else {
    auto text = schedule::read_file(options.schedule);
    if (!text) return std::move(text).error();
    order.schedule_yaml = std::move(text).value();
  }
  if (!options.multicast.empty()) order.multicast = options.multicast == "on";
  if (!options.aggregation.empty()) {
    order.edge_aggregation = options.aggregation != "none";
    order.tree_aggregation = options.aggregation == "tree";
  }
  return order;
}

int run_install(const Options& options) {
  auto order = make_order(options);
  if (!order) return report_error(order.error());
  const auto outcome = control::ask_install(options.controller, *order);
  if (!outcome) return report_error(outcome.error());
  nlohmann::ordered_json json = start_report("install");
  json["outcome"] = outcome_name(outcome->kind);
  json["epoch"] = outcome->epoch;
  json["activating_round"] = outcome->activating_round;
  json["problems"] = nlohmann::ordered_json::array();
  for (const control::EdgeProblem& problem : outcome->problems)
    json["problems"].push_back({{"edge", problem.edge.name}, {"reason", problem.reason}});
  if (prints_tables(options.json)) fmt::print("{}\n", control::to_string(*outcome));
  if (auto written = write_report(json, options.json); !written) return report_error(written.error());
  return outcome->kind == control::ChangeOutcome::Kind::kInstalled ? kExitOk : kExitFailed;
}

}  // namespace

void add_install_command(CLI::App& app, int& exit_code) {
  CLI::App* const install =
      app.add_subcommand("install", "Have a controller install a schedule, and wait for the outcome");
  auto options = std::make_shared<Options>();
  install->add_option("schedule", options->schedule, "full, grid, or a schedule file")->required();
  install->add_option("--controller", options->controller, "The controller's local socket")->required();
  install->add_option("--multicast", options->multicast, "on or off; left out: as it is")
      ->check(CLI::IsMember({"on", "off"}));
  install->add_option("--aggregation", options->aggregation, "none, edge or tree; left out: as it is")
      ->check(CLI::IsMember({"none", "edge", "tree"}));
  add_json(*install, options->json);
  install->callback([options, &exit_code] { exit_code = run_install(*options); });
}

}  // namespace tombolo::tools
