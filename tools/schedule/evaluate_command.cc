#include "tools/schedule/evaluate_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "schedule/optimize/problem.h"
#include "schedule/schedule.h"
#include "tools/cli.h"
#include "tools/schedule/event_score.h"
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

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// What a schedule is worth, as text and as a report.
struct Verdict {
  std::string text;
  nlohmann::ordered_json report;
};

Result<Verdict> judge_event(const EvaluateOptions& options, const NetworkInput& input,
                            schedule::Schedule chosen) {
  const auto start = std::chrono::steady_clock::now();
  Verdict verdict{{}, start_report("schedule evaluate")};
  report_network(options.network, input, verdict.report);
  verdict.report["schedule"] = chosen.name;
  auto score = score_event(input, std::move(chosen));
  if (!score) return std::move(score).error();
  score->solve_s = seconds_since(start);
  verdict.text = event_text(*score, input.network);
  report_event(*score, input.network, verdict.report);
  return verdict;
}

Result<Verdict> judge_barrier(const EvaluateOptions& options, const NetworkInput& input,
                              schedule::Schedule chosen) {
  const auto start = std::chrono::steady_clock::now();
  Verdict verdict{{}, start_report("schedule evaluate")};
  report_network(options.network, input, verdict.report);
  verdict.report["schedule"] = chosen.name;
  auto score = score_schedule(input, std::move(chosen), options.packed_trees);
  if (!score) return std::move(score).error();
  const schedule::Problem problem(input.network, input.capabilities, static_cast<double>(input.update_bytes));
  if (auto added = add_best_random(problem, kMostComparedIslands, *score); !added)
    return std::move(added).error();
  score->solve_s = seconds_since(start);
  verdict.text = score_text(*score, input.network);
  report_score(*score, input.network, verdict.report);
  return verdict;
}

int run_evaluate(const EvaluateOptions& options) {
  const auto input = load_network(options.network);
  if (!input) return report_error(input.error());
  const schedule::Network& network = input->network;
  auto chosen = schedule::load_schedule(options.schedule, network.islands, network.site_names);
  if (!chosen) return report_error(chosen.error());
  if (options.step_time_s > 0)
    for (schedule::Round& round : chosen->rounds)
      if (round.cliques.empty()) round.rest_s = options.step_time_s;
  if (options.packed_trees && chosen->form == schedule::Form::kEvent)
    return report_error({ErrorCode::kNotSupported, "--trees packed: only for schedules of form barrier"});
  const std::string name = chosen->name;
  const auto verdict = chosen->form == schedule::Form::kEvent
                           ? judge_event(options, *input, std::move(*chosen))
                           : judge_barrier(options, *input, std::move(*chosen));
  if (!verdict) return report_error(verdict.error());
  if (prints_tables(options.json))
    fmt::print("{}, schedule {}\n\n{}", describe_network(options.network, *input), name, verdict->text);
  const Status written = write_report(verdict->report, options.json);
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
