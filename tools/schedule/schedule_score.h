#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "schedule/mixing.h"
#include "schedule/optimize/problem.h"
#include "schedule/round_model.h"
#include "schedule/routes.h"
#include "schedule/schedule_file.h"
#include "schedule/trees/packed_trees.h"
#include "tools/schedule/network_options.h"

namespace tombolo::tools {

/// A schedule and what it is worth on a network: what every verb prints, reports and writes alike.
struct ScheduleScore {
  schedule::Schedule schedule;
  std::vector<schedule::RoundTime> times;  ///< By round.
  double cycle_s = 0;
  schedule::Mixing mixing;
  double bound_s = 0;  ///< No schedule with barriers has less D.
  /// R of the best random schedule that was found, where it was looked for, and how far any other can be
  /// above it, as a share of it.
  std::optional<double> r_iid_per_s{};
  double r_iid_gap = 0;
  /// By round, if its trees were packed: what it takes otherwise.
  std::vector<schedule::PackedTime> packed{};
  double solve_s = 0;  ///< What it took to find or to score it.
  /// Of which class of schedules it is proven to be the best; empty: of none.
  std::string certified{};
};

/// The schedule's rounds have barriers, whatever form it says. With `packed_trees` first chooses trees for
/// its rounds. Errors: those of the model and of pack_schedule.
Result<ScheduleScore> score_schedule(const NetworkInput& input, schedule::Schedule schedule,
                                     bool packed_trees = false);

/// Adds the best random schedule's R if the problem has at most `most_islands`. Errors: those of
/// optimal_random.
Status add_best_random(const schedule::Problem& problem, std::size_t most_islands, ScheduleScore& score);

/// The table of rounds and the figures below it.
std::string score_text(const ScheduleScore& score, const schedule::Network& network);

/// Adds form, disagreement_s, bound_s, gap, r_per_s, r_iid_per_s, r_iid_gap, cycle_s, rounds, trees, solve_s
/// and certified; with packed trees also packed_gain, the share of the cycle that they save. What is infinite
/// or not known is null.
void report_score(const ScheduleScore& score, const schedule::Network& network,
                  nlohmann::ordered_json& report);

/// The comments of the schedule's file: what it is worth and for which network (`setting`), by round its time
/// and bottleneck, by clique its mode, the rate of a stream, and where at most 16 islands meet its trees.
schedule::ScheduleNotes score_notes(const ScheduleScore& score, const NetworkInput& input,
                                    const std::string& setting);

/// "{AMS,LON}", and its mode if it is not direct.
std::string clique_text(const schedule::Clique& clique, schedule::CliqueMode mode,
                        const schedule::Network& network);

/// "  LON: LON-NYC LON-AMS AMS-FRA": the links of each source's tree. Nothing of networks of many islands.
std::vector<std::string> tree_texts(const schedule::Routes& routes, const schedule::Network& network,
                                    const schedule::Clique& clique, schedule::CliqueMode mode);

/// `cliques` and `modes` of a round.
nlohmann::ordered_json report_cliques(const std::vector<schedule::Clique>& cliques,
                                      const std::vector<std::optional<schedule::CliqueMode>>& modes,
                                      const schedule::Network& network);

/// JSON has no infinity and no NaN: null says that there is no such value.
nlohmann::ordered_json finite_or_null(double value);

}  // namespace tombolo::tools
