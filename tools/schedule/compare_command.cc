#include "tools/schedule/compare_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "tools/cli.h"
#include "tools/schedule/comparison.h"
#include "tools/schedule/event_solution.h"
#include "tools/schedule/network_options.h"
#include "tools/schedule/optimize_options.h"
#include "tools/schedule/schedule_score.h"

namespace tombolo::tools {
namespace {

using schedule::baselines::Baseline;

constexpr double kEqual = 1e-9;  // A relative difference that is rounding.

/// The command line of `schedule compare`, as written.
struct CompareOptions {
  NetworkOptions network;
  CompareWishes wishes{.local_steps = {50, 500}, .fragments = kUsualFragments};
  double time_limit_s = 0;  ///< 0: none.
  std::string json;
};

/// "0.967 s" or, of many, the first and how many more.
std::string round_times(const Baseline& row) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t r = 0; r < std::min(kShown, row.round_s.size()); ++r)
    text += fmt::format("{}{:.3f}", r == 0 ? "" : " ", row.round_s[r]);
  if (row.round_s.size() > kShown) text += fmt::format(" +{}", row.round_s.size() - kShown);
  return text;
}

/// "yes, by 1.297 (one-peer exponential, 1.7843 s)".
std::string standing_text(const Standing& standing) {
  if (standing.rival == nullptr) return "no other row has a value";
  // Values that differ by rounding are equal.
  const bool better = standing.factor > 1 + kEqual;
  const bool equal = !better && standing.factor > 1 - kEqual;
  return fmt::format("{} ({}, {:.4f} s)",
                     better  ? fmt::format("yes, by a factor of {:.3f}", standing.factor)
                     : equal ? "as good as the best"
                             : fmt::format("no, by a factor of {:.3f}", standing.factor),
                     standing.rival->score.name, standing.rival->score.disagreement_s);
}

void print_standing(const char* what, const std::optional<Standing>& standing) {
  if (!standing) {
    fmt::print("{}: none\n", what);
    return;
  }
  fmt::print("{}: {}, D {:.4f} s; better than every row of others: {}\n", what, standing->row->score.name,
             standing->row->score.disagreement_s, standing_text(*standing));
}

void print_table(const CompareOptions& options, const Comparison& result) {
  fmt::print("{}, a local step of {} s, seed {}\n\n", describe_network(options.network, result.input),
             options.wishes.step_s, options.wishes.seed);
  fmt::print("{:<32}  {:>10}  {:>7}  {:>9}  {:>10}  {:<11}  {:<27}  {}\n", "schedule", "D", "ratio", "R",
             "cycle", "runs", "round times, s", "choices");
  for (const CompareRow& row : result.rows) {
    const Baseline& score = row.score;
    if (!score.defined()) {
      fmt::print("{:<32}  {}\n", score.name, score.undefined);
      continue;
    }
    fmt::print("{:<32}  {:>8.4f} s  {:>7.3f}  {:>9}  {:>8.4f} s  {:<11}  {:<27}  {}\n", score.name,
               score.disagreement_s, result.ratio_of(row),
               std::isnan(score.r_per_s) ? "-" : fmt::format("{:.4f}/s", score.r_per_s), score.cycle_s,
               runs_text(row.runs), round_times(score), score.choices);
  }
  fmt::print("\n");
  print_standing("best runnable schedule", standing_of(result, Runs::kOneProcess));
  print_standing("best that the controller installs", standing_of(result, Runs::kEdges));
}

nlohmann::ordered_json report_standing(const std::optional<Standing>& standing) {
  if (!standing) return nullptr;
  nlohmann::ordered_json report{{"name", standing->row->score.name},
                                {"runs", runs_text(standing->row->runs)},
                                {"disagreement_s", standing->row->score.disagreement_s}};
  report["best_other"] = standing->rival == nullptr ? nlohmann::ordered_json(nullptr)
                                                    : nlohmann::ordered_json(standing->rival->score.name);
  report["better_than_all"] = standing->rival == nullptr || standing->factor > 1 + kEqual;
  report["factor"] =
      standing->rival == nullptr ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(standing->factor);
  return report;
}

nlohmann::ordered_json make_report(const CompareOptions& options, const Comparison& result) {
  nlohmann::ordered_json report = start_report("schedule compare");
  report_network(options.network, result.input, report);
  report["step_s"] = options.wishes.step_s;
  report["seed"] = options.wishes.seed;
  report["form"] = options.wishes.form;
  report["rows"] = nlohmann::ordered_json::array();
  for (const CompareRow& row : result.rows) {
    const Baseline& score = row.score;
    nlohmann::ordered_json entry;
    const double none = std::numeric_limits<double>::quiet_NaN();
    entry["name"] = score.name;
    entry["disagreement_s"] = finite_or_null(score.defined() ? score.disagreement_s : none);
    entry["r_per_s"] = finite_or_null(score.defined() ? score.r_per_s : none);
    entry["cycle_s"] = finite_or_null(score.defined() ? score.cycle_s : none);
    entry["ratio"] = finite_or_null(result.ratio_of(row));
    entry["runs"] = runs_text(row.runs);
    entry["ours"] = row.ours;
    entry["round_s"] = score.round_s;
    entry["choices"] = score.choices;
    entry["source"] = score.source;
    if (!score.defined()) entry["undefined"] = score.undefined;
    report["rows"].push_back(std::move(entry));
  }
  report["best_runnable"] = report_standing(standing_of(result, Runs::kOneProcess));
  report["best_installed"] = report_standing(standing_of(result, Runs::kEdges));
  return report;
}

int run_compare(CompareOptions options) {
  if (options.time_limit_s > 0) options.wishes.time_limit_s = options.time_limit_s;
  auto input = load_network(options.network);
  if (!input) return report_error(input.error());
  const auto tell = [](std::string_view text) { fmt::print(stderr, "{}\n", text); };
  const Result<Comparison> result = compare(std::move(*input), options.wishes, MonotonicClock(), tell);
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
      ->add_option("--step-time", options->wishes.step_s,
                   "Seconds of a local training step: what rests are made of")
      ->check(CLI::Range(1e-9, 1e6))
      ->capture_default_str();
  command
      ->add_option("--local-steps", options->wishes.local_steps,
                   "DiLoCo's steps between rounds; one row each")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--seed", options->wishes.seed, "Of searches and samples")->capture_default_str();
  add_form(*command, options->wishes.form, options->wishes.fragments);
  command
      ->add_option("--time-limit", options->time_limit_s,
                   "Seconds for each search of the optimizer; default: no limit")
      ->check(CLI::Range(1e-3, 1e6));
  add_json(*command, options->json);
  command->callback([options, &exit_code] { exit_code = run_compare(*options); });
}

}  // namespace tombolo::tools
