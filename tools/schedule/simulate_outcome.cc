#include "tools/schedule/simulate_outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "schedule/simulate/order.h"

namespace tombolo::tools {
namespace {

using schedule::Curve;
using schedule::Method;
using schedule::Point;

/// Differences below are chance: of D, and of a loss.
constexpr double kDisagreementTolerance = 0.02;
constexpr double kLossTolerance = 0.02;
/// The last part of a run that stands for its end.
constexpr double kLateShare = 0.2;

void add(Point& sum, const Point& point) {
  sum.time_s += point.time_s;
  sum.mean_model.loss += point.mean_model.loss;
  sum.mean_model.accuracy += point.mean_model.accuracy;
  sum.islands.loss += point.islands.loss;
  sum.islands.accuracy += point.islands.accuracy;
  sum.distance += point.distance;
}

void divide(Point& point, double count) {
  point.time_s /= count;
  point.mean_model.loss /= count;
  point.mean_model.accuracy /= count;
  point.islands.loss /= count;
  point.islands.accuracy /= count;
  point.distance /= count;
}

Point late_point(const std::vector<Point>& points) {
  const double end_s = points.back().time_s;
  return mean_point(points, (1 - kLateShare) * end_s, end_s);
}

/// What D leaves out of a method, if something.
std::string left_out(const Outcome& outcome) {
  const auto* const outer = std::get_if<schedule::OuterOptions>(&outcome.method.how);
  if (outer == nullptr) return "";
  std::vector<std::string> reasons;
  const double idle = 1 - static_cast<double>(outcome.steps) / outcome.full_steps;
  if (outer->blocking) reasons.push_back(fmt::format("stands still {:.0f} % of the time", 100 * idle));
  if (outer->momentum > 0) reasons.push_back("has an outer optimizer with momentum");
  if (outer->kept > 0) reasons.push_back(fmt::format("keeps {:.0f} % of an island's own", 100 * outer->kept));
  return fmt::format("{} {}, which D does not see", outcome.method.name, fmt::join(reasons, " and "));
}

std::string explain(const Outcome& nearer, const Outcome& farther) {
  std::string why = left_out(nearer);
  const std::string other = left_out(farther);
  if (!why.empty() && !other.empty()) why += "; ";
  why += other;
  if (!why.empty()) return why;
  const auto a = nearer.steady_drift_s;
  const auto b = farther.steady_drift_s;
  if (a && b && *a > *b)
    return fmt::format(
        "skewed data pull steadily, and under steady drift the order is this one ({:.3f} s, {:.3f} s)", *a,
        *b);
  return "steady drift does not explain it either";
}

std::vector<double> column(const std::vector<Outcome>& outcomes, double (*value)(const Outcome&)) {
  std::vector<double> values;
  for (const Outcome& outcome : outcomes) values.push_back(value(outcome));
  return values;
}

double disagreement(const Outcome& outcome) { return outcome.method.disagreement_s; }
double islands_loss(const Outcome& outcome) { return outcome.late.islands.loss; }
double mean_loss(const Outcome& outcome) { return outcome.late.mean_model.loss; }
double distance(const Outcome& outcome) { return outcome.late.distance; }

/// JSON has no infinity and no NaN.
nlohmann::ordered_json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}

}  // namespace

Point mean_point(const std::vector<Point>& points, double from_s, double to_s) {
  Point sum;
  double count = 0;
  for (const Point& point : points) {
    // Times are whole nanoseconds; half of one takes care of rounding.
    if (point.time_s <= from_s + 5e-10 || point.time_s > to_s + 5e-10) continue;
    add(sum, point);
    ++count;
  }
  CHECK(count > 0);
  divide(sum, count);
  return sum;
}

Outcome summarize(Method method, const std::vector<Curve>& curves, double target) {
  Outcome outcome;
  outcome.method = std::move(method);
  outcome.steps = curves.front().steps;
  outcome.points.resize(curves.front().points.size());
  const double count = static_cast<double>(curves.size());
  double sum = 0;
  double squares = 0;
  for (const Curve& curve : curves) {
    CHECK(curve.points.size() == outcome.points.size());
    for (std::size_t i = 0; i < curve.points.size(); ++i) add(outcome.points[i], curve.points[i]);
    const double loss = late_point(curve.points).islands.loss;
    sum += loss;
    squares += loss * loss;
  }
  for (Point& point : outcome.points) divide(point, count);
  if (count > 1)
    outcome.islands_loss_spread = std::sqrt(std::max(0.0, (squares - sum * sum / count) / (count - 1)));
  outcome.late = late_point(outcome.points);
  const auto reached =
      std::ranges::find_if(outcome.points, [&](const Point& p) { return p.mean_model.accuracy >= target; });
  if (reached != outcome.points.end()) outcome.target_s = reached->time_s;
  return outcome;
}

OrderCheck check_order(const std::vector<Outcome>& outcomes, bool rounds_only) {
  std::vector<Outcome> chosen;
  for (const Outcome& outcome : outcomes)
    if (!rounds_only || outcome.method.keeps_to_rounds()) chosen.push_back(outcome);
  OrderCheck check;
  check.of = rounds_only ? "methods that keep to rounds" : "all methods";
  check.methods = chosen.size();
  check.islands_loss = check.mean_loss = check.distance = check.steady_drift =
      std::numeric_limits<double>::quiet_NaN();
  if (chosen.size() < 2) return check;
  const std::vector<double> d = column(chosen, disagreement);
  const std::vector<double> own = column(chosen, islands_loss);
  check.islands_loss = schedule::rank_correlation(d, own);
  check.mean_loss = schedule::rank_correlation(d, column(chosen, mean_loss));
  check.distance = schedule::rank_correlation(d, column(chosen, distance));
  if (std::ranges::all_of(chosen, [](const Outcome& outcome) { return outcome.steady_drift_s.has_value(); }))
    check.steady_drift = schedule::rank_correlation(
        column(chosen, [](const Outcome& outcome) { return outcome.steady_drift_s.value_or(0); }), own);
  return check;
}

std::vector<Reversal> find_reversals(const std::vector<Outcome>& outcomes) {
  std::vector<Reversal> reversals;
  const std::vector<double> d = column(outcomes, disagreement);
  const auto find = [&](const char* name, double (*loss)(const Outcome&)) {
    for (const auto& [nearer, farther] :
         schedule::reversed_pairs(d, column(outcomes, loss), kDisagreementTolerance, kLossTolerance))
      reversals.push_back({outcomes[nearer].method.name, outcomes[farther].method.name, name,
                           explain(outcomes[nearer], outcomes[farther])});
  };
  find("islands", islands_loss);
  find("mean model", mean_loss);
  return reversals;
}

void print_outcomes(const std::vector<Outcome>& outcomes, double target) {
  const double end_s = outcomes.front().points.back().time_s;
  std::size_t width = 6;
  for (const Outcome& outcome : outcomes) width = std::max(width, outcome.method.name.size());
  // A loss "at" a time is the mean over the tenth of the run before it: D, too, is a mean over time.
  const auto at = [&](const Outcome& outcome, double share) {
    return mean_point(outcome.points, (share - 0.1) * end_s, share * end_s).islands.loss;
  };
  fmt::print("{:<{}}  {:>7}  {:>6}  {:>8}  {:>8}  {:>16}  {:>8}  {:>9}  {:>8}  {:>7}\n", "", width, "", "",
             "loss of", "an", "island", "accuracy", "mean", "accuracy", "mean");
  fmt::print("{:<{}}  {:>7}  {:>6}  {:>8}  {:>8}  {:>16}  {:>8}  {:>9}  {:>8}  {:>7}\n", "method", width, "D",
             "steps", fmt::format("{:g} s", end_s / 4), fmt::format("{:g} s", end_s / 2), "end", "island",
             "model's", "of it", fmt::format("to {:g} %", 100 * target));
  for (const Outcome& outcome : outcomes) {
    const std::string end =
        outcome.islands_loss_spread > 0
            ? fmt::format("{:.4f} +- {:.4f}", islands_loss(outcome), outcome.islands_loss_spread)
            : fmt::format("{:.4f}", islands_loss(outcome));
    fmt::print(
        "{:<{}}  {:>7.3f}  {:>6}  {:>8.4f}  {:>8.4f}  {:>16}  {:>6.1f} %  {:>9.4f}  {:>6.1f} %  {:>7}\n",
        outcome.method.name, width, outcome.method.disagreement_s, outcome.steps, at(outcome, 0.25),
        at(outcome, 0.5), end, 100 * outcome.late.islands.accuracy, mean_loss(outcome),
        100 * outcome.late.mean_model.accuracy,
        outcome.target_s ? fmt::format("{:.1f} s", *outcome.target_s) : "never");
  }
  fmt::print("\nrank correlation of D with what came out (1: the same order)\n");
  for (const bool rounds_only : {true, false}) {
    const OrderCheck check = check_order(outcomes, rounds_only);
    if (check.methods < 2) continue;
    fmt::print(
        "  {:<28} {:>2}: loss of an island {:.3f}, of the mean model {:.3f}, distance of islands {:.3f}\n",
        check.of, check.methods, check.islands_loss, check.mean_loss, check.distance);
    if (std::isfinite(check.steady_drift))
      fmt::print("  {:<28}   : steady drift instead of D, with the loss of an island: {:.3f}\n", "",
                 check.steady_drift);
  }
  const std::vector<Reversal> reversals = find_reversals(outcomes);
  fmt::print("\n{}\n", reversals.empty() ? "every loss is in the order of D" : "not in the order of D:");
  // One line for all that a method is reversed with for the same reason.
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<std::string>> groups;
  for (const Reversal& reversal : reversals)
    groups[{reversal.farther, reversal.loss, reversal.why}].push_back(reversal.nearer);
  for (const auto& [key, nearer] : groups) {
    const auto& [farther, loss, why] = key;
    fmt::print("  {}: the loss of {} is below that of: {}. {}\n", farther,
               loss == "islands" ? "an island" : "the mean model", fmt::join(nearer, "; "), why);
  }
}

void report_outcomes(const std::vector<Outcome>& outcomes, nlohmann::ordered_json& report) {
  report["rows"] = nlohmann::ordered_json::array();
  for (const Outcome& outcome : outcomes) {
    nlohmann::ordered_json row;
    row["name"] = outcome.method.name;
    row["note"] = outcome.method.note;
    row["disagreement_s"] = number_or_null(outcome.method.disagreement_s);
    row["steady_drift_s"] = outcome.steady_drift_s ? number_or_null(*outcome.steady_drift_s) : nullptr;
    row["cycle_s"] = outcome.method.cycle_s;
    row["steps"] = outcome.steps;
    row["late"] = {{"islands_loss", outcome.late.islands.loss},
                   {"islands_loss_spread", outcome.islands_loss_spread},
                   {"islands_accuracy", outcome.late.islands.accuracy},
                   {"mean_model_loss", outcome.late.mean_model.loss},
                   {"mean_model_accuracy", outcome.late.mean_model.accuracy},
                   {"distance", outcome.late.distance}};
    row["target_s"] = outcome.target_s ? nlohmann::ordered_json(*outcome.target_s) : nullptr;
    nlohmann::ordered_json& curve = row["curve"];
    for (const Point& point : outcome.points) {
      curve["time_s"].push_back(point.time_s);
      curve["islands_loss"].push_back(point.islands.loss);
      curve["islands_accuracy"].push_back(point.islands.accuracy);
      curve["mean_model_loss"].push_back(point.mean_model.loss);
      curve["mean_model_accuracy"].push_back(point.mean_model.accuracy);
      curve["distance"].push_back(point.distance);
    }
    report["rows"].push_back(std::move(row));
  }
  report["rank_correlation"] = nlohmann::ordered_json::array();
  for (const bool rounds_only : {true, false}) {
    const OrderCheck check = check_order(outcomes, rounds_only);
    report["rank_correlation"].push_back({{"of", check.of},
                                          {"methods", check.methods},
                                          {"islands_loss", number_or_null(check.islands_loss)},
                                          {"mean_model_loss", number_or_null(check.mean_loss)},
                                          {"distance", number_or_null(check.distance)},
                                          {"steady_drift", number_or_null(check.steady_drift)}});
  }
  report["reversals"] = nlohmann::ordered_json::array();
  for (const Reversal& reversal : find_reversals(outcomes))
    report["reversals"].push_back({{"nearer", reversal.nearer},
                                   {"farther", reversal.farther},
                                   {"loss", reversal.loss},
                                   {"why", reversal.why}});
}

}  // namespace tombolo::tools
