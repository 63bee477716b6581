#include "tools/schedule/optimize_command.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "schedule/schedule_file.h"
#include "tools/cli.h"
#include "tools/schedule/optimize_solution.h"

namespace tombolo::tools {
namespace {

using Json = nlohmann::ordered_json;

/// Progress goes to standard error, whatever standard output carries.
void tell(std::string_view text) { fmt::print(stderr, "{}\n", text); }

void print_table(const OptimizeArguments& arguments, const Solution& solution) {
  const ScheduleScore& score = solution.score;
  fmt::print("{}\n\n{}", describe_network(arguments.network, solution.input),
             score_text(score, solution.input.network));
  if (solution.two_rounds_s)
    fmt::print("two rounds      D {:.6f} s at best, certified\n", *solution.two_rounds_s);
  fmt::print("certified       {}\n",
             score.certified.empty() ? "no: the best that was found" : "the best of " + score.certified);
  if (solution.uncertainty) {
    const schedule::DisagreementSpread& spread = solution.spread;
    fmt::print(
        "off by {:3.0f} %    D {:.6f} s (p10), {:.6f} s (p50), {:.6f} s (p90), worst tenth {:.6f} s{}\n",
        100 * *solution.uncertainty, spread.p10_s, spread.p50_s, spread.p90_s, spread.worst_decile_s,
        arguments.robust ? fmt::format(": the least of {} schedules", solution.candidates) : "");
  }
  if (const auto& loss = solution.after_loss)
    fmt::print("after the loss  {} of {} cliques changed, D {:.6f} s; unchanged {:.6f} s, afresh {:.6f} s\n",
               loss->changed_cliques, loss->cliques, loss->disagreement_s, loss->unchanged_disagreement_s,
               loss->fresh_disagreement_s);
  fmt::print("solved in       {:.2f} s{}\n", score.solve_s,
             solution.stopped ? ", stopped by the time limit: another run may find another schedule" : "");
  fmt::print("written to      {}\n", arguments.out);
}

Json report_loss(const schedule::Reoptimized& loss, const std::vector<std::string>& lost_islands) {
  // JSON has no infinity: null says that the running schedule, unchanged, no longer joins all islands.
  const double unchanged_s = loss.unchanged_disagreement_s;
  return {{"lost_islands", lost_islands},
          {"cliques", loss.cliques},
          {"changed_cliques", loss.changed_cliques},
          {"unchanged_disagreement_s", std::isfinite(unchanged_s) ? Json(unchanged_s) : Json(nullptr)},
          {"fresh_disagreement_s", loss.fresh_disagreement_s}};
}

Json make_report(const OptimizeArguments& arguments, const Solution& solution) {
  Json report = start_report("schedule optimize");
  report_network(arguments.network, solution.input, report);
  report["seed"] = arguments.seed;
  report_score(solution.score, solution.input.network, report);
  report["two_rounds_s"] = solution.two_rounds_s ? Json(*solution.two_rounds_s) : Json(nullptr);
  report["stopped"] = solution.stopped;
  if (solution.uncertainty) {
    const schedule::DisagreementSpread& spread = solution.spread;
    report["uncertainty"] = {{"share", *solution.uncertainty},
                             {"robust", arguments.robust},
                             {"draws", spread.ascending_s.size()},
                             {"p10_s", spread.p10_s},
                             {"p50_s", spread.p50_s},
                             {"p90_s", spread.p90_s},
                             {"worst_decile_s", spread.worst_decile_s}};
  }
  if (solution.after_loss) report["after_loss"] = report_loss(*solution.after_loss, solution.lost_islands);
  return report;
}

/// A reader sees the file that was there or the whole new one, never a part.
Status write_whole(const std::string& text, const std::string& path) {
  const auto failure = [&](const std::string& what) {
    return Error{ErrorCode::kUnavailable, "--out: cannot " + what + " " + path};
  };
  const std::string new_path = path + ".new";
  std::FILE* const file = std::fopen(new_path.c_str(), "wb");
  if (file == nullptr) return failure("write");
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  std::error_code code;
  if (written && closed) std::filesystem::rename(new_path, path, code);
  if (written && closed && !code) return ok_status();
  std::filesystem::remove(new_path, code);
  return failure("write");
}

int run_optimize(const OptimizeArguments& arguments) {
  const Result<Solution> solution = solve(arguments, MonotonicClock(), tell);
  if (!solution) return report_error(solution.error());
  const NetworkInput& input = solution->input;
  const std::string file = schedule::write_schedule(
      solution->score.schedule, input.network,
      score_notes(solution->score, input, describe_network(arguments.network, input)));
  if (const Status written = write_whole(file, arguments.out); !written) return report_error(written.error());
  if (prints_tables(arguments.json)) print_table(arguments, *solution);
  const Status written = write_report(make_report(arguments, *solution), arguments.json);
  return written ? kExitOk : report_error(written.error());
}

}  // namespace

void add_schedule_optimize(CLI::App& schedule, int& exit_code) {
  CLI::App* const command =
      schedule.add_subcommand("optimize", "Find the schedule that keeps islands together best");
  const auto arguments = std::make_shared<OptimizeArguments>();
  add_optimize_options(*command, *arguments);
  command->callback([arguments, &exit_code] { exit_code = run_optimize(*arguments); });
}

}  // namespace tombolo::tools
