// Cliques that fold on trees, in virtual time: right to the bit by a replay of the tree, in the time that the
// model says, with losses, changes of the schedule, and members that stop.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "tests/sim/run_config.h"
#include "tools/testbed/planned_order.h"

namespace tombolo::sim {
namespace {

using testbed::RunConfig;
using testbed::RunReport;

RunConfig tree_config(const std::string& profile, double scale) {
  RunConfig config;
  config.network = shipped("nine-city.yaml", profile, scale);
  config.schedule = full(config.network);
  config.update_bytes = static_cast<std::uint64_t>(1e9 * scale) / sizeof(float) * sizeof(float);
  config.tree_aggregation = true;
  return config;
}

/// Says that every clique of the schedule folds on a tree.
schedule::Schedule on_trees(schedule::Schedule schedule) {
  for (schedule::Round& round : schedule.rounds)
    round.modes.assign(round.cliques.size(), schedule::CliqueMode{schedule::Mode::kTree});
  return schedule;
}

TEST(Tree, TakesTheTimeOfTheModel) {
  // One gigabyte of fp32 on testnet10 in one clique of nine: 0.982 s on a tree, 6.567 s direct (test of Timing),
  // 8.967 s with nothing.
  RunConfig config = tree_config("testnet10", 0.005);
  const RunReport report = run_or_fail(config);
  EXPECT_EQ(complaints(report), "");
  ASSERT_EQ(report.rounds.size(), 1u);
  EXPECT_NEAR(report.rounds[0].model_s, 0.982, 0.001);
  EXPECT_GE(report.rounds[0].ratio(), 1.0);
  EXPECT_LE(report.rounds[0].ratio(), 1.10) << report.rounds[0].measured_s << " s, predicted "
                                            << report.rounds[0].predicted_s;
}

TEST(Tree, ExactInEveryRoundOfAGrid) {
  RunConfig config = tree_config("testnet10", 0.0002);
  config.schedule = on_trees(grid(config.network));
  for (const wire::Operation operation : {wire::Operation::kSum, wire::Operation::kMean}) {
    config.operation = operation;
    EXPECT_EQ(complaints(run_or_fail(config)), "");
  }
}

}  // namespace
}  // namespace tombolo::sim
