#include "tools/schedule/optimize_command.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "schedule/optimize/optimize.h"
#include "tools/cli.h"
#include "tools/schedule/network_options.h"
#include "tools/schedule/optimize_page.h"
#include "tools/schedule/optimize_studies.h"

namespace tombolo::tools {
namespace {

/// The command line of `schedule optimize`, as written.
struct OptimizeArguments {
  NetworkOptions network;
  std::size_t max_rounds = schedule::OptimizeOptions{}.max_rounds;
  double time_limit_s = 0;  ///< 0: none.
  std::uint64_t seed = schedule::OptimizeOptions{}.seed;
  std::string out;
  std::string report;  ///< A page to look at; empty: none.
  std::string json;
};

struct Solution {
  NetworkInput input;
  schedule::Optimized best;
};

Result<Solution> solve(const OptimizeArguments& arguments) {
  Solution solution;
  auto input = load_network(arguments.network);
  if (!input) return std::move(input).error();
  solution.input = std::move(*input);
  schedule::OptimizeOptions options;
  options.max_rounds = arguments.max_rounds;
  options.seed = arguments.seed;
  if (arguments.time_limit_s != 0) options.time_limit_s = arguments.time_limit_s;
  options.progress = [](std::string_view text) { fmt::print(stderr, "{}\n", text); };
  const schedule::Problem problem(solution.input.network, solution.input.capabilities,
                                  static_cast<double>(solution.input.update_bytes));
  auto best = schedule::optimize(problem, options, MonotonicClock());
  if (!best) return std::move(best).error();
  solution.best = std::move(*best);
  return solution;
}

/// "{AMS,LON} sharded {NYC,BAR}": a mode is named where it is not direct.
std::string name_cliques(const Solution& solution, std::size_t round) {
  const std::vector<schedule::Clique>& cliques = solution.best.schedule.rounds[round].cliques;
  const std::vector<schedule::CliqueMode>& modes = solution.best.times[round].modes;
  std::string text;
  for (std::size_t c = 0; c < cliques.size(); ++c) {
    text += fmt::format("{{{}}}", fmt::join(island_names(cliques[c], solution.input.network), ","));
    if (modes[c].mode != schedule::Mode::kDirect)
      text += fmt::format(" {}{}", schedule::mode_name(modes[c].mode), c + 1 < cliques.size() ? " " : "");
  }
  return text;
}

std::string certified_text(const schedule::Optimized& best) {
  return best.certified.empty() ? "no: the best that was found" : "the best of " + best.certified;
}

void print_table(const OptimizeArguments& arguments, const Solution& solution) {
  const schedule::Optimized& best = solution.best;
  fmt::print("{}\n\n", describe_network(arguments.network, solution.input));
  fmt::print("{:>5}  {:>12}  {:<20}  {:>7}  {}\n", "round", "time", "bottleneck", "updates", "cliques");
  for (std::size_t r = 0; r < best.times.size(); ++r)
    fmt::print("{:>5}  {:>10.6f} s  {:<20}  {:>7.4g}  {}\n", r, best.times[r].seconds,
               best.times[r].bottleneck, best.times[r].bottleneck_updates, name_cliques(solution, r));
  fmt::print("\ncycle           {:.6f} s\n", best.cycle_s);
  fmt::print("disagreement D  {:.6f} s\n", best.mixing.disagreement_s);
  fmt::print("lower bound     {:.6f} s, gap {:.1f} %\n", best.bound_s, 100 * best.gap);
  if (best.two_rounds_s) fmt::print("two rounds      {:.6f} s at least, certified\n", *best.two_rounds_s);
  fmt::print("contraction R   {:.6f} per s\n", best.mixing.r_per_s);
  fmt::print("certified       {}\n", certified_text(best));
  fmt::print("solved in       {:.2f} s{}\n", best.solve_s,
             best.stopped ? ", stopped by the time limit: another run may find another schedule" : "");
}

nlohmann::ordered_json make_report(const OptimizeArguments& arguments, const Solution& solution) {
  const schedule::Optimized& best = solution.best;
  nlohmann::ordered_json report = start_report("schedule optimize");
  report_network(arguments.network, solution.input, report);
  report["seed"] = arguments.seed;
  report["disagreement_s"] = best.mixing.disagreement_s;
  report["bound_s"] = best.bound_s;
  report["gap"] = best.gap;
  report["r_per_s"] = best.mixing.r_per_s;
  report["r_iid_per_s"] = nullptr;
  report["cycle_s"] = best.cycle_s;
  report["rounds"] = nlohmann::ordered_json::array();
  for (std::size_t r = 0; r < best.times.size(); ++r) {
    const schedule::RoundTime& time = best.times[r];
    nlohmann::ordered_json round;
    round["cliques"] = nlohmann::ordered_json::array();
    round["modes"] = nlohmann::ordered_json::array();
    for (const schedule::Clique& clique : best.schedule.rounds[r].cliques)
      round["cliques"].push_back(island_names(clique, solution.input.network));
    for (const schedule::CliqueMode& mode : time.modes)
      round["modes"].push_back(std::string(schedule::mode_name(mode.mode)));
    round["time_s"] = time.seconds;
    round["bottleneck"] = {{"resource", time.bottleneck}, {"load", time.bottleneck_updates}};
    report["rounds"].push_back(std::move(round));
  }
  report["solve_s"] = best.solve_s;
  report["stopped"] = best.stopped;
  if (best.two_rounds_s)
    report["two_rounds_s"] = *best.two_rounds_s;
  else
    report["two_rounds_s"] = nullptr;
  if (best.certified.empty())
    report["certified"] = false;
  else
    report["certified"] = best.certified;
  return report;
}

/// A schedule file, with what it is worth as comments. Modes are comments too: whoever runs or prices a file
/// chooses them.
std::string file_text(const OptimizeArguments& arguments, const Solution& solution) {
  const schedule::Optimized& best = solution.best;
  std::string text = fmt::format(
      "# {}\n# disagreement D {:.6f} s, lower bound {:.6f} s, cycle {:.6f} s\n# certified: {}\nname: "
      "{}\nrounds:\n",
      describe_network(arguments.network, solution.input), best.mixing.disagreement_s, best.bound_s,
      best.cycle_s, certified_text(best), best.schedule.name);
  for (std::size_t r = 0; r < best.times.size(); ++r) {
    text += fmt::format("  # {:.6f} s, bottleneck {}: {}\n  -\n", best.times[r].seconds,
                        best.times[r].bottleneck, name_cliques(solution, r));
    for (const schedule::Clique& clique : best.schedule.rounds[r].cliques) {
      text += "    - [";
      for (const std::string& island : island_names(clique, solution.input.network))
        // As JSON writes it: an id may be anything that YAML would read otherwise.
        text += nlohmann::json(island).dump() +
                (island == solution.input.network.islands[clique.back()].id ? "]\n" : ", ");
    }
  }
  return text;
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
  line += fmt::format(" --max-rounds {} --seed {}", arguments.max_rounds, arguments.seed);
  if (arguments.time_limit_s != 0) line += fmt::format(" --time-limit {}", arguments.time_limit_s);
  return line + fmt::format(" --out {} --report {}", quoted(arguments.out), quoted(arguments.report));
}

Status write_page(const OptimizeArguments& arguments, const Solution& solution) {
  const auto topology = schedule::load_topology(arguments.network.topology);
  if (!topology) return topology.error();
  const schedule::Problem problem(solution.input.network, solution.input.capabilities,
                                  static_cast<double>(solution.input.update_bytes));
  StudyOptions options;
  options.seed = arguments.seed;
  options.max_rounds = arguments.max_rounds;
  options.progress = [](std::string_view text) { fmt::print(stderr, "{}\n", text); };
  const auto studies = make_studies(problem, solution.best, options);
  if (!studies) return Error(studies.error()).within("--report");
  const OptimizePage page{*topology,
                          problem,
                          solution.best,
                          *studies,
                          describe_network(arguments.network, solution.input),
                          command_line(arguments),
                          arguments.seed};
  return optimize_page(page).write(arguments.report);
}

int run_optimize(const OptimizeArguments& arguments) {
  const Result<Solution> solution = solve(arguments);
  if (!solution) return report_error(solution.error());
  if (const Status written = write_whole(file_text(arguments, *solution), arguments.out); !written)
    return report_error(written.error());
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
  add_network_options(*command, arguments->network);
  command->add_option("--max-rounds", arguments->max_rounds, "Most rounds of the cycle")
      ->check(CLI::Range(std::size_t{1}, schedule::kMaxRounds))
      ->capture_default_str();
  command->add_option("--time-limit", arguments->time_limit_s, "Stop the search after so many seconds")
      ->check(CLI::PositiveNumber);
  command->add_option("--seed", arguments->seed, "Of the search; the same seed gives the same schedule")
      ->capture_default_str();
  command->add_option("--out", arguments->out, "Schedule file to write")->required()->type_name("FILE");
  command->add_option("--report", arguments->report, "Page to look at: maps, times, loads, comparison")
      ->type_name("FILE");
  add_json(*command, arguments->json);
  command->callback([arguments, &exit_code] { exit_code = run_optimize(*arguments); });
}

}  // namespace tombolo::tools
