#include "tools/schedule/compare_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "schedule/baselines/baselines.h"
#include "schedule/optimize/optimize.h"
#include "tools/cli.h"
#include "tools/schedule/network_options.h"

namespace tombolo::tools {
namespace {

using schedule::baselines::Baseline;

/// The command line of `schedule compare`, as written.
struct CompareOptions {
  NetworkOptions network;
  double step_s = 1;
  std::vector<unsigned> local_steps{50, 500};
  std::uint64_t seed = 1;
  double time_limit_s = 0;  ///< Of the optimizer; 0: none.
  std::string json;
};

struct Comparison {
  NetworkInput input;
  std::vector<Baseline> rows;  ///< The optimum first.
};

/// The optimizer's schedule as a row like the others.
Result<Baseline> optimum_row(const NetworkInput& input, const CompareOptions& options) {
  const schedule::Problem problem(input.network, input.capabilities, static_cast<double>(input.update_bytes));
  schedule::OptimizeOptions search;
  search.seed = options.seed;
  if (options.time_limit_s > 0) search.time_limit_s = options.time_limit_s;
  const MonotonicClock clock;
  const auto optimized = schedule::optimize(problem, search, clock);
  if (!optimized) return optimized.error();
  Baseline row;
  row.name = "optimum";
  row.source = "tombolo schedule optimize";
  row.choices = fmt::format("{} rounds, bound {:.4f} s", optimized->times.size(), optimized->bound_s);
  if (optimized->stopped) row.choices += ", stopped by the time limit";
  if (!optimized->certified.empty()) row.choices += ", certified: " + optimized->certified;
  for (const schedule::RoundTime& time : optimized->times) row.round_s.push_back(time.seconds);
  row.disagreement_s = optimized->mixing.disagreement_s;
  row.r_per_s = optimized->mixing.r_per_s;
  row.cycle_s = optimized->cycle_s;
  return row;
}

Result<Comparison> compare(const CompareOptions& options) {
  Comparison result;
  auto input = load_network(options.network);
  if (!input) return input.error();
  result.input = std::move(*input);
  const schedule::Routes routes(result.input.network);
  auto rows = schedule::baselines::all_baselines(
      {result.input.network, routes, result.input.capabilities,
       static_cast<double>(result.input.update_bytes), options.step_s, options.seed},
      options.local_steps);
  if (!rows) return rows.error();
  auto optimum = optimum_row(result.input, options);
  if (!optimum) return Error(optimum.error()).within("the optimum");
  result.rows.push_back(std::move(*optimum));
  std::move(rows->begin(), rows->end(), std::back_inserter(result.rows));
  return result;
}

/// How many times the optimum's D a row's is; NaN if it has none.
double ratio_of(const Comparison& result, const Baseline& row) {
  if (!row.defined()) return std::numeric_limits<double>::quiet_NaN();
  return row.disagreement_s / result.rows.front().disagreement_s;
}

/// "0.967 s" or, of many, the first and how many more.
std::string round_times(const Baseline& row) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t r = 0; r < std::min(kShown, row.round_s.size()); ++r)
    text += fmt::format("{}{:.3f}", r == 0 ? "" : " ", row.round_s[r]);
  if (row.round_s.size() > kShown) text += fmt::format(" +{}", row.round_s.size() - kShown);
  return text;
}

void print_table(const CompareOptions& options, const Comparison& result) {
  fmt::print("{}, a local step of {} s, seed {}\n\n", describe_network(options.network, result.input),
             options.step_s, options.seed);
  fmt::print("{:<28}  {:>10}  {:>7}  {:>9}  {:>10}  {:<27}  {}\n", "schedule", "D", "ratio", "R", "cycle",
             "round times, s", "choices");
  for (const Baseline& row : result.rows) {
    if (!row.defined()) {
      fmt::print("{:<28}  {}\n", row.name, row.undefined);
      continue;
    }
    fmt::print("{:<28}  {:>8.4f} s  {:>7.2f}  {:>9}  {:>8.4f} s  {:<27}  {}\n", row.name, row.disagreement_s,
               ratio_of(result, row), std::isnan(row.r_per_s) ? "-" : fmt::format("{:.4f}/s", row.r_per_s),
               row.cycle_s, round_times(row), row.choices);
  }
}

/// JSON has no infinity and no NaN: null says that there is no such value.
nlohmann::ordered_json finite(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

nlohmann::ordered_json make_report(const CompareOptions& options, const Comparison& result) {
  nlohmann::ordered_json report = start_report("schedule compare");
  report_network(options.network, result.input, report);
  report["step_s"] = options.step_s;
  report["seed"] = options.seed;
  report["rows"] = nlohmann::ordered_json::array();
  for (const Baseline& row : result.rows) {
    nlohmann::ordered_json entry;
    const double none = std::numeric_limits<double>::quiet_NaN();
    entry["name"] = row.name;
    entry["disagreement_s"] = finite(row.defined() ? row.disagreement_s : none);
    entry["r_per_s"] = finite(row.defined() ? row.r_per_s : none);
    entry["cycle_s"] = finite(row.defined() ? row.cycle_s : none);
    entry["ratio"] = finite(ratio_of(result, row));
    entry["round_s"] = row.round_s;
    entry["choices"] = row.choices;
    entry["source"] = row.source;
    if (!row.defined()) entry["undefined"] = row.undefined;
    report["rows"].push_back(std::move(entry));
  }
  return report;
}

int run_compare(const CompareOptions& options) {
  const Result<Comparison> result = compare(options);
  if (!result) return report_error(result.error());
  if (prints_tables(options.json)) print_table(options, *result);
  const Status written = write_report(make_report(options, *result), options.json);
  return written ? kExitOk : report_error(written.error());
}

}  // namespace

void add_schedule_compare(CLI::App& schedule, int& exit_code) {
  CLI::App* const command =
      schedule.add_subcommand("compare", "The optimum against what others would do on the same network");
  const auto options = std::make_shared<CompareOptions>();
  add_network_options(*command, options->network);
  command
      ->add_option("--step-time", options->step_s, "Seconds of a local training step: what rests are made of")
      ->check(CLI::Range(1e-9, 1e6))
      ->capture_default_str();
  command->add_option("--local-steps", options->local_steps, "DiLoCo's steps between rounds; one row each")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Of searches and samples")->capture_default_str();
  command->add_option("--time-limit", options->time_limit_s, "Seconds for the optimizer; default: no limit")
      ->check(CLI::Range(1e-3, 1e6));
  add_json(*command, options->json);
  command->callback([options, &exit_code] { exit_code = run_compare(*options); });
}

}  // namespace tombolo::tools
