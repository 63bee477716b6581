#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "schedule/optimize/reoptimize.h"
#include "schedule/optimize/uncertainty.h"
#include "tools/schedule/event_score.h"
#include "tools/schedule/optimize_options.h"
#include "tools/schedule/schedule_score.h"

namespace tombolo::tools {

/// What `schedule optimize` found and all that it tells of it.
struct Solution {
  NetworkInput input;  ///< After a loss: what is left.
  ScheduleScore score;
  /// The least D of all cycles of one or two rounds, if it was determined.
  std::optional<double> two_rounds_s{};
  std::optional<EventScore> event{};  ///< The best without barriers, if it was asked for.
  bool chose_event = false;           ///< Whether `event` is the answer; else `score` is.
  bool stopped = false;               ///< By the time limit.
  std::optional<schedule::Reoptimized> after_loss{};
  std::vector<std::string> lost_islands{};  ///< The ids of those that the loss took.
  std::optional<double> uncertainty{};      ///< The share; `spread` is D under it.
  schedule::DisagreementSpread spread{};
  /// With --robust: that of the best schedule for the network as planned, over the draws of `spread`.
  std::optional<double> planned_worst_decile_s{};
};

/// Finds the schedule that the command line asks for. `tell` hears how far it is; `clock` measures, and stops
/// the search at a time limit.
/// Errors: those of the files, of read_wishes, and of the optimizer.
Result<Solution> solve(const OptimizeArguments& arguments, const Clock& clock,
                       const std::function<void(std::string_view)>& tell);

}  // namespace tombolo::tools
