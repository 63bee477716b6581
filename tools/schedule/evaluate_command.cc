#include "tools/schedule/evaluate_command.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "schedule/optimize/problem.h"
#include "schedule/schedule.h"
#include "tools/cli.h"
#include "tools/schedule/network_options.h"
#include "tools/schedule/schedule_score.h"

namespace tombolo::tools {
namespace {

/// Up to so many islands the best random schedule is found in the blink of an eye, and told for comparison.
constexpr std::size_t kMostComparedIslands = 9;

/// The command line of `schedule evaluate`, as written.
struct EvaluateOptions {
  NetworkOptions network;
  std::string schedule;
  bool packed_trees = false;
  double step_time_s = 0;  ///< 0: rests last as long as the file says.
  std::string json;
};

int run_evaluate(const EvaluateOptions& options) {
  const auto input = load_network(options.network);
  if (!input) return report_error(input.error());
  const schedule::Network& network = input->network;
  auto chosen = schedule::load_schedule(options.schedule, network.islands, network.site_names);
  if (!chosen) return report_error(chosen.error());
  if (options.step_time_s > 0)
    for (schedule::Round& round : chosen->rounds)
      if (round.cliques.empty()) round.rest_s = options.step_time_s;

  const auto start = std::chrono::steady_clock::now();
  auto score = score_schedule(*input, std::move(*chosen), options.packed_trees);
  if (!score) return report_error(score.error());
  const schedule::Problem problem(network, input->capabilities, static_cast<double>(input->update_bytes));
  if (auto added = add_best_random(problem, kMostComparedIslands, *score); !added)
    return report_error(added.error());
  score->solve_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (prints_tables(options.json))
    fmt::print("{}, schedule {}\n\n{}", describe_network(options.network, *input), score->schedule.name,
               score_text(*score, network));
  nlohmann::ordered_json report = start_report("schedule evaluate");
  report_network(options.network, *input, report);
  report["schedule"] = score->schedule.name;
  report_score(*score, network, report);
  const Status written = write_report(report, options.json);
  return written ? kExitOk : report_error(written.error());
}

}  // namespace

void add_schedule_evaluate(CLI::App& schedule, int& exit_code) {
  CLI::App* const command =
      schedule.add_subcommand("evaluate", "Round times, bottlenecks and disagreement of a schedule");
  const auto options = std::make_shared<EvaluateOptions>();
  add_network_options(*command, options->network);
  command->add_option("--schedule", options->schedule, "full, grid or a schedule file")->required();
  command
      ->add_option("--step-time", options->step_time_s,
                   "Seconds that every rest round lasts, instead of what the file says")
      ->check(CLI::Range(1e-9, 1e7));
  add_trees(*command, options->packed_trees);
  add_json(*command, options->json);
  command->callback([options, &exit_code] { exit_code = run_evaluate(*options); });
}

}  // namespace tombolo::tools
