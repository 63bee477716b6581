// Virtual time, no barriers: cycles and exchanges against the event model with the bytes on the wire.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/run_config.h"

namespace tombolo::sim {
namespace {

using testbed::RunConfig;
using testbed::RunReport;

// An update has to pass; but islands that are ready early send a window of it ahead.
constexpr double kQuickest = 0.85;
constexpr double kSlowest = 1.25;

RunReport run_without_barriers(RunConfig config, std::uint32_t fragments) {
  const auto dropped = testbed::drop_barriers(config, fragments);
  EXPECT_TRUE(dropped.ok());
  return run_or_fail(config);
}

void expect_in_time(const RunReport& report) {
  EXPECT_EQ(complaints(report), "");
  ASSERT_TRUE(report.cycle.has_value());
  EXPECT_GT(report.cycle->predicted_s, 0);
  EXPECT_GE(report.cycle->ratio(), kQuickest) << report.cycle->measured_s << " s";
  EXPECT_LE(report.cycle->ratio(), kSlowest) << report.cycle->measured_s << " s";
}

TEST(EventTiming, TheGridDoesWithoutBarriers) {
  RunConfig config = nine_city_config(0.002);
  config.schedule = grid(config.network);
  const RunReport report = run_without_barriers(config, 1);
  EXPECT_EQ(report.rounds.size(), 6u);  // Three periods.
  expect_in_time(report);
  // Exchanges take what a round takes: islands of a clique begin together, within their windows.
  for (const testbed::RoundReport& round : report.rounds) {
    EXPECT_GE(round.ratio(), kQuickest) << "round " << round.round;
    EXPECT_LE(round.ratio(), kSlowest) << "round " << round.round;
  }
}

/// Pairs that do not keep step, and overlap on the oceans.
TEST(EventTiming, UnevenPairsKeepToTheirCycle) {
  RunConfig config = nine_city_config(0.002);
  const auto pair = [&](const char* a, const char* b) {
    schedule::Clique members{rank_of(config.network, a), rank_of(config.network, b)};
    std::sort(members.begin(), members.end());
    return members;
  };
  config.schedule = {
      "pairs",
      {schedule::Round{{pair("AMS", "NYC"), pair("LAX", "TYO"), pair("SEO", "SIN")}},
       schedule::Round{{pair("FRA", "LON")}},
       schedule::Round{{pair("FRA", "SEO"), pair("LAX", "NYC"), pair("BAR", "LON"), pair("AMS", "SIN")}},
       schedule::Round{{pair("FRA", "NYC"), pair("AMS", "LON"), pair("BAR", "LAX"), pair("SEO", "TYO")}}}};
  expect_in_time(run_without_barriers(config, 1));
}

/// Two fragments take turns: 0.8 s of sending a cycle, where one waits for its result: 0.967 s.
TEST(EventTiming, TwoFragmentsHideTheLatency) {
  const RunConfig config = nine_city_config(0.002);
  const RunReport one = run_without_barriers(config, 1);
  const RunReport two = run_without_barriers(config, 2);
  expect_in_time(one);
  expect_in_time(two);
  EXPECT_LT(two.cycle->measured_s, 0.95 * one.cycle->measured_s);
}

TEST(EventTiming, TheSameSeedGivesTheSameRun) {
  RunConfig config = nine_city_config(0.001);
  config.schedule = grid(config.network);
  const RunReport first = run_without_barriers(config, 2);
  const RunReport second = run_without_barriers(config, 2);
  EXPECT_EQ(complaints(first), "");
  ASSERT_EQ(first.rounds.size(), second.rounds.size());
  for (std::size_t i = 0; i < first.rounds.size(); ++i)
    EXPECT_EQ(first.rounds[i].measured_s, second.rounds[i].measured_s);
}

TEST(EventTiming, RefusesMoreFragmentsThanAnEndpointCanHave) {
  RunConfig config = nine_city_config(0.001);
  EXPECT_FALSE(testbed::drop_barriers(config, 0).ok());
  EXPECT_FALSE(testbed::drop_barriers(config, 3).ok());
}

}  // namespace
}  // namespace tombolo::sim
