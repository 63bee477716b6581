#include "tools/schedule/simulate_outcome.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tombolo::tools {
namespace {

using schedule::Curve;
using schedule::Point;

/// A curve over 10 s whose island loss is `loss` throughout, and whose mean model has half of it.
Curve flat_curve(double loss) {
  Curve curve;
  for (int second = 0; second <= 10; ++second) {
    Point point;
    point.time_s = second;
    point.islands = {loss, 0.1};
    point.mean_model = {loss / 2, 0.09 * second};
    point.distance = loss * loss;
    curve.points.push_back(point);
  }
  curve.steps = 100;
  return curve;
}

Outcome outcome_of(const char* name, double disagreement_s, double loss, std::optional<double> steady = {}) {
  schedule::Method method = schedule::exact_method(name, 1, 3);
  method.disagreement_s = disagreement_s;
  Outcome outcome = summarize(method, {flat_curve(loss)}, 0.5);
  outcome.full_steps = 100;
  outcome.steady_drift_s = steady;
  return outcome;
}

TEST(SimulateOutcome, SummaryIsTheMeanOverSeeds) {
  const Outcome outcome = summarize(schedule::colocated_method(), {flat_curve(1), flat_curve(3)}, 0.5);
  EXPECT_EQ(outcome.steps, 100U);
  ASSERT_EQ(outcome.points.size(), 11U);
  EXPECT_DOUBLE_EQ(outcome.points[4].islands.loss, 2);
  EXPECT_DOUBLE_EQ(outcome.late.islands.loss, 2);
  // Seconds 9 and 10 are the last fifth: 0.81 and 0.9.
  EXPECT_DOUBLE_EQ(outcome.late.mean_model.accuracy, 0.855);
  EXPECT_DOUBLE_EQ(outcome.islands_loss_spread, std::sqrt(2.0));
  ASSERT_TRUE(outcome.target_s.has_value());
  EXPECT_EQ(*outcome.target_s, 6);  // 0.54, after 0.45.
  EXPECT_FALSE(summarize(schedule::colocated_method(), {flat_curve(1)}, 0.95).target_s.has_value());
}

TEST(SimulateOutcome, OrderAsPredicted) {
  const std::vector<Outcome> outcomes{outcome_of("a", 1, 0.5, 1), outcome_of("b", 2, 0.6, 2),
                                      outcome_of("c", 3, 0.9, 3)};
  const OrderCheck check = check_order(outcomes, true);
  EXPECT_EQ(check.methods, 3U);
  EXPECT_DOUBLE_EQ(check.islands_loss, 1);
  EXPECT_DOUBLE_EQ(check.mean_loss, 1);
  EXPECT_DOUBLE_EQ(check.distance, 1);
  EXPECT_DOUBLE_EQ(check.steady_drift, 1);
  EXPECT_TRUE(find_reversals(outcomes).empty());
}

TEST(SimulateOutcome, ReversalsAreNamedAndExplained) {
  // Steady drift tells a from b; c is 1 % off, which is chance.
  const std::vector<Outcome> outcomes{outcome_of("a", 1, 0.8, 3), outcome_of("b", 2, 0.6, 2),
                                      outcome_of("c", 3, 0.595, 1)};
  const std::vector<Reversal> reversals = find_reversals(outcomes);
  ASSERT_EQ(reversals.size(), 4U);  // a before b and before c, by both losses.
  EXPECT_EQ(reversals[0].nearer, "a");
  EXPECT_EQ(reversals[0].farther, "b");
  EXPECT_EQ(reversals[0].loss, "islands");
  EXPECT_NE(reversals[0].why.find("steady"), std::string::npos);
  EXPECT_EQ(reversals[3].loss, "mean model");
  EXPECT_DOUBLE_EQ(check_order(outcomes, false).islands_loss, -1);

  Outcome blocking = outcome_of("x", 1, 2);
  blocking.method = schedule::diloco_method({50, 0.1, 3}, 5);
  blocking.method.disagreement_s = 1;
  blocking.steps = 50;
  const std::vector<Reversal> outer = find_reversals({blocking, outcome_of("b", 2, 1, 2)});
  ASSERT_FALSE(outer.empty());
  EXPECT_NE(outer[0].why.find("DiLoCo stands still 50 % of the time and has an outer optimizer"),
            std::string::npos)
      << outer[0].why;
  EXPECT_EQ(check_order({blocking, outcome_of("b", 2, 1, 2)}, true).methods, 1U);
}

TEST(SimulateOutcome, ReportHasCurvesAndNoNumberThatIsNone) {
  nlohmann::ordered_json report;
  report_outcomes({outcome_of("a", std::numeric_limits<double>::infinity(), 1)}, report);
  const auto& row = report.at("rows")[0];
  EXPECT_TRUE(row.at("disagreement_s").is_null());
  EXPECT_TRUE(row.at("steady_drift_s").is_null());
  EXPECT_EQ(row.at("curve").at("time_s").size(), 11U);
  EXPECT_EQ(row.at("curve").at("islands_loss")[3], 1);
  EXPECT_TRUE(report.at("rank_correlation")[0].at("islands_loss").is_null());
}

}  // namespace
}  // namespace tombolo::tools
