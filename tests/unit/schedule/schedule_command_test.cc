#include "tools/schedule/schedule_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/unit/schedule/test_networks.h"
#include "tools/cli.h"

namespace tombolo::tools {
namespace {

struct Outcome {
  int exit_code = -1;  ///< -1: the command line was refused.
  std::string out;
  std::string err;
};

/// Runs `tombolo schedule evaluate` on the nine cities' file with the arguments given.
Outcome evaluate(std::vector<std::string> arguments,
                 const std::string& topology = "topologies/nine-city.yaml") {
  CLI::App app;
  Outcome outcome;
  add_schedule_command(app, outcome.exit_code);
  arguments.insert(arguments.begin(), {"schedule", "evaluate", schedule::config_path(topology)});
  std::reverse(arguments.begin(), arguments.end());  // As CLI11 takes a vector.
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError&) {
    outcome.exit_code = -1;
  }
  outcome.out = testing::internal::GetCapturedStdout();
  outcome.err = testing::internal::GetCapturedStderr();
  return outcome;
}

TEST(ScheduleCommand, JsonOnStandardOutputIsTheWholeOutput) {
  const Outcome outcome =
      evaluate({"--profile", "access-limited", "--schedule", "grid", "--bytes", "1G", "--json", "-"});
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  const auto report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report.at("schema"), kReportSchema);
  EXPECT_EQ(report.at("command"), "schedule evaluate");
  EXPECT_NEAR(report.at("disagreement_s").get<double>(), 1.4300, 5e-5);
  ASSERT_EQ(report.at("rounds").size(), 2u);
  const auto& round = report.at("rounds")[0];
  EXPECT_EQ(round.at("cliques")[0], (std::vector<std::string>{"AMS", "FRA", "LON"}));
  EXPECT_EQ(round.at("bottleneck").at("resource"), "egress BAR");
  EXPECT_EQ(round.at("bottleneck").at("load"), 1);
  EXPECT_NEAR(report.at("cycle_s").get<double>(),
              round.at("time_s").get<double>() + report.at("rounds")[1].at("time_s").get<double>(), 1e-15);
}

TEST(ScheduleCommand, TableAndJsonFile) {
  const std::string path = testing::TempDir() + "schedule_command_test.json";
  const Outcome outcome = evaluate({"--profile", "access-limited", "--schedule", "full", "--bytes", "1G",
                                    "--multicast", "off", "--aggregation", "none", "--json", path});
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  EXPECT_NE(outcome.out.find("6.566992 s"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("8.755989 s"), std::string::npos) << outcome.out;
  std::ifstream file(path);
  EXPECT_NEAR(nlohmann::json::parse(file).at("disagreement_s").get<double>(), 8.7560, 5e-5);
  std::remove(path.c_str());
}

TEST(ScheduleCommand, ExitCodes) {
  const std::vector<std::string> good{"--profile", "even", "--schedule", "full", "--bytes", "1G"};
  const auto with = [&](std::initializer_list<std::string> more) {
    std::vector<std::string> all = good;
    all.insert(all.end(), more);
    return evaluate(all, "topologies/three-site.yaml");
  };
  EXPECT_EQ(with({}).exit_code, kExitOk);
  EXPECT_EQ(with({"--aggregation", "tree"}).exit_code, kExitOk);
  EXPECT_EQ(with({"--family", "sharded"}).exit_code, kExitOk);
  EXPECT_EQ(with({"--family", "best"}).exit_code, kExitOk);
  EXPECT_EQ(with({"--multicast", "maybe"}).exit_code, -1);
  EXPECT_EQ(with({"--aggregation", "some"}).exit_code, -1);
  const Outcome unwritable = with({"--json", "/nonexistent/report.json"});
  EXPECT_EQ(unwritable.exit_code, kExitFailed);
  EXPECT_NE(unwritable.err.find("/nonexistent/report.json"), std::string::npos);
  const auto refused = [](std::vector<std::string> arguments, const char* topology, const char* named) {
    const Outcome outcome = evaluate(std::move(arguments), topology);
    EXPECT_EQ(outcome.exit_code, kExitBadInput);
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(named), std::string::npos) << outcome.err;
  };
  const char* const three = "topologies/three-site.yaml";
  refused({"--profile", "odd", "--schedule", "full", "--bytes", "1G"}, three, "odd");
  refused({"--profile", "even", "--schedule", "grid", "--bytes", "1G"}, three, "grid");
  refused({"--profile", "even", "--schedule", "full", "--bytes", "much"}, three, "much");
  refused({"--profile", "even", "--schedule", "full", "--bytes", "0"}, three, "0 bytes");
  refused(good, "topologies/missing.yaml", "missing.yaml");
}

TEST(ScheduleCommand, UnboundedDisagreementIsNull) {
  const std::string path = testing::TempDir() + "schedule_command_test.yaml";
  std::ofstream(path) << "rounds:\n  - [[A, B]]\n";
  const std::vector<std::string> arguments{"--profile", "even", "--schedule", path, "--bytes", "1G"};
  std::vector<std::string> json = arguments;
  json.insert(json.end(), {"--json", "-"});
  EXPECT_TRUE(
      nlohmann::json::parse(evaluate(json, "topologies/three-site.yaml").out).at("disagreement_s").is_null());
  EXPECT_NE(evaluate(arguments, "topologies/three-site.yaml").out.find("unbounded"), std::string::npos);
  std::remove(path.c_str());
}

}  // namespace
}  // namespace tombolo::tools
