#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "schedule/simulate/methods.h"

namespace tombolo::tools {

/// How one method did, the mean over all seeds.
struct Outcome {
  schedule::Method method;
  std::optional<double> steady_drift_s;
  std::uint64_t steps = 0;              ///< Of an island.
  double full_steps = 0;                ///< Of an island that trains all the time.
  std::vector<schedule::Point> points;  ///< The mean curve.
  schedule::Point late;                 ///< The mean over the last fifth of the time.
  double islands_loss_spread = 0;       ///< Standard deviation between seeds, of `late`; 0 for one seed.
  std::optional<double> target_s;       ///< When the mean model first had the wanted accuracy.
};

/// From one curve a seed. At least one; all have the same times. `target` is an accuracy, 0 to 1.
Outcome summarize(schedule::Method method, const std::vector<schedule::Curve>& curves, double target);

/// The mean of the points after `from_s` up to `to_s`; at least one must be there.
schedule::Point mean_point(const std::vector<schedule::Point>& points, double from_s, double to_s);

/// What D says about the order of losses, and what came out.
struct OrderCheck {
  std::string of;  ///< "methods that keep to rounds" or "all methods".
  std::size_t methods = 0;
  double islands_loss = 0;  ///< Rank correlations of D with these; NaN for fewer than two methods.
  double mean_loss = 0;
  double distance = 0;
  double steady_drift = 0;  ///< Of the steady drift with the islands' loss; NaN where a method has none.
};

/// Two methods whose losses are not in the order of D, and why.
struct Reversal {
  std::string nearer;   ///< Smaller D,
  std::string farther;  ///< larger D,
  std::string loss;     ///< "islands" or "mean model": whose loss is in the opposite order,
  std::string why;
};

OrderCheck check_order(const std::vector<Outcome>& outcomes, bool rounds_only);
std::vector<Reversal> find_reversals(const std::vector<Outcome>& outcomes);

/// For people, on standard output; for programs.
void print_outcomes(const std::vector<Outcome>& outcomes, double target);
void report_outcomes(const std::vector<Outcome>& outcomes, nlohmann::ordered_json& report);

}  // namespace tombolo::tools
