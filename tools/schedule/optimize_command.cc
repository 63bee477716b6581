#include "tools/schedule/optimize_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "schedule/bounds.h"
#include "schedule/schedule_file.h"
#include "tools/cli.h"
#include "tools/schedule/network_options.h"
#include "tools/schedule/optimize_page.h"
#include "tools/schedule/optimize_solution.h"
#include "tools/schedule/optimize_studies.h"

namespace tombolo::tools {
namespace {

using Json = nlohmann::ordered_json;

/// Progress goes to standard error, whatever standard output carries.
void tell(std::string_view text) { fmt::print(stderr, "{}\n", text); }

/// How much more D the best with barriers has than the best without.
double barrier_ratio(const Solution& solution) {
  return solution.score.mixing.disagreement_s / solution.event->disagreement_s;
}

void print_table(const OptimizeArguments& arguments, const Solution& solution) {
  const ScheduleScore& score = solution.score;
  const schedule::Network& network = solution.input.network;
  fmt::print("{}\n\n{}", describe_network(arguments.network, solution.input),
             solution.chose_event ? event_text(*solution.event, network) : score_text(score, network));
  if (solution.two_rounds_s && !solution.chose_event)
    fmt::print("two rounds      D {:.6f} s at best{}, certified\n", *solution.two_rounds_s,
               arguments.packed_trees ? " along shortest routes" : "");
  const std::string& certified = solution.chose_event ? solution.event->certified : score.certified;
  fmt::print("certified       {}\n",
             certified.empty() ? "no: the best that was found" : "the best of " + certified);
  if (solution.event) {
    fmt::print("with barriers   D {:.6f} s, {} rounds, a cycle of {:.6f} s\n", score.mixing.disagreement_s,
               score.times.size(), score.cycle_s);
    fmt::print("without         D {:.6f} s, {} fragment{}: the barriers' is {:.3f} times as much\n",
               solution.event->disagreement_s, solution.event->timetable.fragments,
               solution.event->timetable.fragments == 1 ? "" : "s", barrier_ratio(solution));
  }
  if (solution.uncertainty) {
    const schedule::DisagreementSpread& spread = solution.spread;
    fmt::print(
        "off by {:3.0f} %    D {:.6f} s (p10), {:.6f} s (p50), {:.6f} s (p90), worst tenth {:.6f} s{}\n",
        100 * *solution.uncertainty, spread.p10_s, spread.p50_s, spread.p90_s, spread.worst_decile_s,
        solution.planned_worst_decile_s
            ? fmt::format("; that of the best as planned {:.6f} s", *solution.planned_worst_decile_s)
            : "");
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

Json report_forms(const Solution& solution) {
  const ScheduleScore& barrier = solution.score;
  const EventScore& event = *solution.event;
  return {{"barrier",
           {{"disagreement_s", barrier.mixing.disagreement_s},
            {"bound_s", barrier.bound_s},
            {"cycle_s", barrier.cycle_s}}},
          {"event",
           {{"disagreement_s", event.disagreement_s},
            {"bound_s", event.bound_s},
            {"cycle_s", event.timetable.cycle_s},
            {"fragments", event.timetable.fragments}}},
          {"ratio", barrier_ratio(solution)}};
}

Json make_report(const OptimizeArguments& arguments, const Solution& solution) {
  Json report = start_report("schedule optimize");
  report_network(arguments.network, solution.input, report);
  report["seed"] = arguments.seed;
  if (solution.chose_event)
    report_event(*solution.event, solution.input.network, report);
  else
    report_score(solution.score, solution.input.network, report);
  if (solution.event) report["forms"] = report_forms(solution);
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
    if (solution.planned_worst_decile_s)
      report["uncertainty"]["planned_worst_decile_s"] = *solution.planned_worst_decile_s;
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

/// A word as a shell wants it.
std::string quoted(const std::string& word) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// The command line that gives the same schedule and page.
std::string command_line(const OptimizeArguments& arguments) {
  std::string line = fmt::format(
      "tombolo schedule optimize {} --profile {} --bytes {} --multicast {} --aggregation {} --family {}",
      quoted(arguments.network.topology), quoted(arguments.network.profile), quoted(arguments.network.bytes),
      arguments.network.multicast ? "on" : "off", arguments.network.aggregation, arguments.network.family);
  if (arguments.max_rounds != 0) line += fmt::format(" --max-rounds {}", arguments.max_rounds);
  line += fmt::format(" --effort {} --seed {}", arguments.effort, arguments.seed);
  if (arguments.time_limit_s != 0) line += fmt::format(" --time-limit {}", arguments.time_limit_s);
  if (arguments.packed_trees) line += " --trees packed";
  if (arguments.wants_event())
    line += fmt::format(" --form {} --fragments {}", arguments.form, arguments.fragments);
  if (!arguments.uncertainty.empty()) line += fmt::format(" --uncertainty {}", arguments.uncertainty);
  if (arguments.robust) line += " --robust";
  if (!arguments.from.empty()) line += fmt::format(" --from {}", quoted(arguments.from));
  for (const std::string& site : arguments.lost_sites) line += fmt::format(" --lost-site {}", quoted(site));
  for (const std::string& link : arguments.lost_links) line += fmt::format(" --lost-link {}", quoted(link));
  return line + fmt::format(" --out {} --report {}", quoted(arguments.out), quoted(arguments.report));
}

/// What the page shows of the schedule, as the optimizer would have told it.
schedule::Optimized as_optimized(const Solution& solution) {
  const ScheduleScore& score = solution.score;
  return {.schedule = score.schedule,
          .times = score.times,
          .cycle_s = score.cycle_s,
          .mixing = score.mixing,
          .bound_s = score.bound_s,
          .gap = schedule::optimality_gap(score.mixing.disagreement_s, score.bound_s),
          .certified = score.certified,
          .two_rounds_s = solution.two_rounds_s,
          .packed = score.packed,
          .stopped = solution.stopped,
          .solve_s = score.solve_s};
}

Status write_page(const OptimizeArguments& arguments, const Solution& solution) {
  const schedule::Optimized best = as_optimized(solution);
  const auto topology = schedule::load_topology(arguments.network.topology);
  if (!topology) return topology.error();
  const schedule::Problem problem(solution.input.network, solution.input.capabilities,
                                  static_cast<double>(solution.input.update_bytes));
  StudyOptions options;
  options.seed = arguments.seed;
  if (arguments.max_rounds != 0) options.max_rounds = arguments.max_rounds;
  options.progress = [](std::string_view text) { fmt::print(stderr, "{}\n", text); };
  const auto studies = make_studies(problem, best, options);
  if (!studies) return Error(studies.error()).within("--report");
  const OptimizePage page{*topology,
                          problem,
                          best,
                          *studies,
                          describe_network(arguments.network, solution.input),
                          command_line(arguments),
                          arguments.seed,
                          solution.event ? &*solution.event : nullptr};
  return optimize_page(page).write(arguments.report);
}

int run_optimize(const OptimizeArguments& arguments) {
  const Result<Solution> solution = solve(arguments, MonotonicClock(), tell);
  if (!solution) return report_error(solution.error());
  const NetworkInput& input = solution->input;
  const std::string setting = describe_network(arguments.network, input);
  const std::string file = solution->chose_event
                               ? schedule::write_schedule(solution->event->schedule, input.network,
                                                          event_notes(*solution->event, input, setting))
                               : schedule::write_schedule(solution->score.schedule, input.network,
                                                          score_notes(solution->score, input, setting));
  if (const Status written = write_whole(file, arguments.out); !written) return report_error(written.error());
  if (prints_tables(arguments.json)) print_table(arguments, *solution);
  if (!arguments.report.empty())
    if (const Status page = write_page(arguments, *solution); !page) return report_error(page.error());
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
