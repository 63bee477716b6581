#include "tools/schedule/simulate_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schedule/simulate/dataset.h"
#include "schedule/simulate/islands.h"
#include "tools/cli.h"
#include "tools/schedule/network_options.h"
#include "tools/schedule/simulate_methods.h"
#include "tools/schedule/simulate_outcome.h"
#include "tools/schedule/simulate_page.h"

namespace tombolo::tools {
namespace {

constexpr double kPoints = 100;  ///< Measurements of a run.

/// The command line, as written.
struct SimulateOptions {
  NetworkOptions network;
  MethodChoice choice;
  schedule::TrainingOptions training;
  unsigned seeds = 1;  ///< Runs of each method, with as many seeds from --seed on.
  double target = 0.7;
  std::string data = schedule::kFashionMnistFolder;
  std::string report;
  std::string json;
};

struct Simulation {
  NetworkInput input;
  std::vector<Outcome> outcomes;
};

Result<Outcome> simulate_seeds(const SimulateOptions& options, const schedule::Dataset& dataset,
                               const schedule::Method& method, std::size_t count) {
  const schedule::Course course{options.choice.step_s, options.choice.duration_s,
                                options.choice.duration_s / kPoints};
  std::vector<schedule::Curve> curves;
  for (unsigned run = 0; run < options.seeds; ++run) {
    schedule::TrainingOptions training = options.training;
    training.seed = options.choice.seed + run;
    auto islands = schedule::Islands::create(dataset, count, training);
    if (!islands) return islands.error();
    Random random(training.seed);
    auto curve = schedule::simulate_method(*islands, method, course, random);
    if (!curve) return Error(curve.error()).within(method.name);
    curves.push_back(std::move(*curve));
  }
  Outcome outcome = summarize(method, curves, options.target);
  outcome.full_steps = course.duration_s / course.step_s;
  Random random(options.choice.seed);
  outcome.steady_drift_s = schedule::method_steady_drift_s(method, count, course.duration_s, random);
  return outcome;
}

Result<Simulation> simulate(const SimulateOptions& options) {
  Simulation simulation;
  auto input = load_network(options.network);
  if (!input) return input.error();
  simulation.input = std::move(*input);
  const auto methods = make_methods(simulation.input, options.choice,
                                    [](std::string_view text) { fmt::print(stderr, "{}\n", text); });
  if (!methods) return methods.error();
  if (methods->empty()) return invalid_input("nothing to simulate: no method and no schedule");
  const auto dataset = schedule::load_fashion_mnist(options.data);
  if (!dataset) return dataset.error();
  for (const schedule::Method& method : *methods) {
    fmt::print(stderr, "simulating {}\n", method.name);
    auto outcome = simulate_seeds(options, *dataset, method, simulation.input.network.islands.size());
    if (!outcome) return outcome.error();
    simulation.outcomes.push_back(std::move(*outcome));
  }
  return simulation;
}

void print_table(const SimulateOptions& options, const Simulation& simulation) {
  fmt::print("{}\n", describe_network(options.network, simulation.input));
  fmt::print("a step every {:g} s for {:g} s, skew {:g}, batch {}, learning rate {:g}, seeds {} to {}\n\n",
             options.choice.step_s, options.choice.duration_s, options.training.skew, options.training.batch,
             options.training.learning_rate, options.choice.seed, options.choice.seed + options.seeds - 1);
  print_outcomes(simulation.outcomes, options.target);
  fmt::print("\n");
  for (const Outcome& outcome : simulation.outcomes)
    fmt::print("{}: {}\n", outcome.method.name, outcome.method.note);
}

nlohmann::ordered_json make_report(const SimulateOptions& options, const Simulation& simulation) {
  nlohmann::ordered_json report = start_report("schedule simulate");
  report_network(options.network, simulation.input, report);
  report["step_s"] = options.choice.step_s;
  report["duration_s"] = options.choice.duration_s;
  report["seed"] = options.choice.seed;
  report["seeds"] = options.seeds;
  report["skew"] = options.training.skew;
  report["batch"] = options.training.batch;
  report["hidden"] = options.training.hidden;
  report["learning_rate"] = options.training.learning_rate;
  report["target_accuracy"] = options.target;
  report_outcomes(simulation.outcomes, report);
  return report;
}

int run_simulate(const SimulateOptions& options) {
  const Result<Simulation> simulation = simulate(options);
  if (!simulation) return report_error(simulation.error());
  if (prints_tables(options.json)) print_table(options, *simulation);
  if (!options.report.empty()) {
    const std::string lead =
        fmt::format("{}; a local step every {:g} s", describe_network(options.network, simulation->input),
                    options.choice.step_s);
    if (auto page = write_simulation_page(simulation->outcomes, lead, options.report); !page)
      return report_error(page.error());
  }
  const Status written = write_report(make_report(options, *simulation), options.json);
  return written ? kExitOk : report_error(written.error());
}

void add_training_options(CLI::App& command, SimulateOptions& options) {
  command
      .add_option("--skew", options.training.skew,
                  "How different islands' data are: 0 alike, 1 a label or two each")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command.add_option("--learning-rate", options.training.learning_rate, "Of the local steps")
      ->capture_default_str();
  command.add_option("--batch", options.training.batch, "Samples of a local step")->capture_default_str();
  command.add_option("--hidden", options.training.hidden, "Units of the hidden layer")->capture_default_str();
  command.add_option("--test-samples", options.training.test_samples, "Samples that islands are judged by")
      ->capture_default_str();
  command.add_option("--data", options.data, "Folder of the data set")
      ->type_name("FOLDER")
      ->capture_default_str();
}

}  // namespace

void add_schedule_simulate(CLI::App& schedule, int& exit_code) {
  CLI::App* const command = schedule.add_subcommand(
      "simulate", "Train on Fashion-MNIST in simulated time: loss and accuracy under methods and schedules");
  const auto options = std::make_shared<SimulateOptions>();
  add_network_options(*command, options->network);
  command->add_option("--schedule", options->choice.schedules,
                      "Also full, grid or a schedule file, with the capabilities given; may be repeated");
  command->add_option("--method", options->choice.names, "Only these; may be repeated. Default: all")
      ->check(CLI::IsMember(kMethodNames));
  command->add_option("--duration", options->choice.duration_s, "Simulated seconds")->capture_default_str();
  command->add_option("--step-time", options->choice.step_s, "Seconds of a local step")
      ->capture_default_str();
  command
      ->add_option("--local-steps", options->choice.local_steps,
                   "Steps between exchanges of FedAvg and DiLoCo")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--fragments", options->choice.fragments, "Parts of the model in Streaming DiLoCo")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--seed", options->choice.seed, "Of data, batches and drawn rounds")
      ->capture_default_str();
  command
      ->add_option("--seeds", options->seeds,
                   "Run each method with so many seeds, from --seed on; show the mean")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command->add_option("--target", options->target, "Accuracy of the mean model whose time is shown")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  add_training_options(*command, *options);
  command->add_option("--report", options->report, "Also write a page to look at")->type_name("FILE");
  add_json(*command, options->json);
  command->callback([options, &exit_code] { exit_code = run_simulate(*options); });
}

}  // namespace tombolo::tools
