#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/unit/tools/run_verb.h"
#include "tools/cli.h"
#include "tools/schedule/schedule_command.h"

namespace tombolo::tools {
namespace {

/// Runs `tombolo schedule compare` on four islands of one site with 8 Gbit/s each way.
VerbRun compare(std::vector<std::string> arguments) {
  const std::string path = testing::TempDir() + "compare_command_test.yaml";
  std::ofstream(path)
      << "sites: [{id: A}]\nlinks: []\nislands:\n"
         "  - {id: I0, site: A}\n  - {id: I1, site: A}\n  - {id: I2, site: A}\n  - {id: I3, site: A}\n"
         "profiles: {p: {egress_gbps: 8, ingress_gbps: 8}}\n";
  arguments.insert(arguments.begin(), {"schedule", "compare", path, "--profile", "p"});
  VerbRun outcome = run_verb(add_schedule_command, std::move(arguments));
  std::remove(path.c_str());
  return outcome;
}

/// With both capabilities no barriers beat one clique of 1 s: D = 1.5 (n-1)/n; DiLoCo's H steps by the closed
/// form.
TEST(CompareCommand, JsonHoldsEveryRowAgainstTheOptimum) {
  const VerbRun outcome =
      compare({"--bytes", "1G", "--multicast", "on", "--aggregation", "edge", "--step-time", "2",
               "--local-steps", "3", "--time-limit", "0.5", "--form", "barrier", "--json", "-"});
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  const auto report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report.at("command"), "schedule compare");
  const auto& rows = report.at("rows");
  ASSERT_EQ(rows.size(), 21U);
  EXPECT_EQ(rows[0].at("name"), "optimum with barriers");
  const double optimum_s = rows[0].at("disagreement_s");
  EXPECT_NEAR(optimum_s, 1.125, 1e-9);
  for (const auto& row : rows) {
    ASSERT_TRUE(row.at("disagreement_s").is_number()) << row;
    EXPECT_NEAR(row.at("ratio").get<double>(), row.at("disagreement_s").get<double>() / optimum_s, 1e-12);
    EXPECT_GT(row.at("cycle_s").get<double>(), 0);
    EXPECT_EQ(row.at("r_per_s").is_null(),
              row.at("name") == "HALoS-like" || row.at("name") == "asynchronous DiLoCo-like");
  }
  EXPECT_EQ(rows[1].at("name"), "full clique, direct");
  EXPECT_NEAR(rows[1].at("ratio").get<double>(), 1, 1e-9);
  EXPECT_EQ(rows[20].at("name"), "DiLoCo, every 3 steps");
  // 6 s of rest, 1 s of clique: see the hand-computed cycle of schedule/baselines.
  EXPECT_NEAR(rows[20].at("disagreement_s").get<double>(), 3 * (6 * (1 + 3.0) + 1 * (1 + 6 + 0.5)) / (4 * 7),
              1e-9);
}

/// Without barriers and in two fragments the full clique has 0.5 s of sending each second: D = (0.5 + 0.5)
/// 3/4.
TEST(CompareCommand, TheFormWithoutBarriersLeadsWhereItIsBetter) {
  const std::vector<std::string> both{"--bytes", "1G",           "--multicast", "on",     "--aggregation",
                                      "edge",    "--time-limit", "0.2",         "--json", "-"};
  const auto report = nlohmann::json::parse(compare(both).out);
  const auto& rows = report.at("rows");
  EXPECT_EQ(rows[0].at("name"), "no barrier (event), 2 fragments");
  EXPECT_EQ(rows[0].at("runs"), "one process");
  EXPECT_LE(rows[0].at("disagreement_s").get<double>(), 0.75 + 1e-6);
  EXPECT_EQ(rows[1].at("name"), "optimum with barriers");
  EXPECT_EQ(rows[1].at("runs"), "edges");
  EXPECT_NEAR(rows[1].at("disagreement_s").get<double>(), 1.125, 1e-9);
  for (const auto& row : rows) {
    const std::string name = row.at("name");
    if (name == "full clique, direct" || name == "geographic grid" || name == "static partition and full") {
      EXPECT_EQ(row.at("runs"), "edges") << name;
    }
    if (name == "full clique, sharded" || name == "ring all-reduce" || name == "one-peer exponential" ||
        name == "HALoS-like" || name == "DiLoCo, every 50 steps") {
      EXPECT_EQ(row.at("runs"), "no") << name;
    }
  }
  EXPECT_EQ(report.at("best_runnable").at("name"), rows[0].at("name"));
  EXPECT_EQ(report.at("best_runnable").at("better_than_all"), true);
  EXPECT_GT(report.at("best_runnable").at("factor").get<double>(), 1.125 / 0.75 - 1e-6);
  // The full clique is one of the others: with barriers nothing is better.
  EXPECT_EQ(report.at("best_installed").at("name"), "optimum with barriers");
  EXPECT_EQ(report.at("best_installed").at("better_than_all"), false);
  EXPECT_NEAR(report.at("best_installed").at("factor").get<double>(), 1, 1e-9);
}

TEST(CompareCommand, PrintsATable) {
  const VerbRun outcome = compare({"--bytes", "1G", "--time-limit", "0.1"});
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  EXPECT_NE(outcome.err.find("comparing: MATCHA"), std::string::npos) << outcome.err;
  for (const char* name : {"optimum with barriers", "no barrier", "best runnable schedule", "MATCHA",
                           "Base-(k+1)", "D-Cliques", "DiLoCo, every 500 steps"})
    EXPECT_NE(outcome.out.find(name), std::string::npos) << name;
}

TEST(CompareCommand, RefusesWrongOptions) {
  EXPECT_EQ(compare({"--bytes", "1G", "--step-time", "0"}).exit_code, -1);
  EXPECT_EQ(compare({"--bytes", "1G", "--local-steps", "0"}).exit_code, -1);
  EXPECT_EQ(compare({"--bytes", "0"}).exit_code, kExitBadInput);
}

}  // namespace
}  // namespace tombolo::tools
