#include "tools/schedule/simulate_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "schedule/simulate/dataset.h"
#include "tests/unit/tools/run_verb.h"
#include "tools/cli.h"

namespace tombolo::tools {
namespace {

VerbRun simulate(std::vector<std::string> more) {
  std::vector<std::string> arguments{
      "simulate",       std::string(TOMBOLO_CONFIGS) + "/topologies/three-site.yaml",
      "--profile",      "even",
      "--bytes",        "1G",
      "--test-samples", "100"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_verb([](CLI::App& app, int& exit_code) { add_schedule_simulate(app, exit_code); },
                  std::move(arguments));
}

TEST(SimulateCommand, TableJsonAndPage) {
  if (!std::filesystem::exists(schedule::kFashionMnistFolder))
    GTEST_SKIP() << "the package " << schedule::kFashionMnistPackage << " is not installed";
  const std::string json = testing::TempDir() + "simulate_command_test.json";
  const std::string page = testing::TempDir() + "simulate_command_test.html";
  const std::vector<std::string> arguments{"--method",   "colocated", "--method",   "fedavg",
                                           "--schedule", "full",      "--duration", "5",
                                           "--json",     json,        "--report",   page};
  const VerbRun run = simulate(arguments);
  ASSERT_EQ(run.exit_code, kExitOk) << run.err;
  EXPECT_NE(run.out.find("schedule full"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("rank correlation"), std::string::npos);
  const auto read = [](const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  };
  const std::string first = read(json);
  const auto report = nlohmann::json::parse(first);
  EXPECT_EQ(report.at("command"), "schedule simulate");
  ASSERT_EQ(report.at("rows").size(), 3U);
  EXPECT_EQ(report.at("rows")[0].at("name"), "colocated");
  EXPECT_EQ(report.at("rows")[0].at("disagreement_s"), 0);
  EXPECT_EQ(report.at("rows")[0].at("steps"), 50);
  EXPECT_EQ(report.at("rows")[2].at("curve").at("time_s").size(), 101U);
  EXPECT_LT(report.at("rows")[0].at("late").at("islands_loss"),
            report.at("rows")[2].at("late").at("islands_loss"));
  const std::string html = read(page);
  EXPECT_NE(html.find("Loss over time"), std::string::npos);
  EXPECT_NE(html.find("<polyline"), std::string::npos);
  // Again: the same bytes.
  ASSERT_EQ(simulate(arguments).exit_code, kExitOk);
  EXPECT_EQ(read(json), first);
  std::remove(json.c_str());
  std::remove(page.c_str());
}

TEST(SimulateCommand, BadInputIsNamed) {
  EXPECT_EQ(simulate({"--method", "magic"}).exit_code, -1);
  EXPECT_EQ(simulate({"--skew", "2"}).exit_code, -1);
  const auto refused = [](std::vector<std::string> arguments, int exit_code, const char* named) {
    arguments.insert(arguments.end(), {"--method", "colocated"});
    const VerbRun run = simulate(std::move(arguments));
    EXPECT_EQ(run.exit_code, exit_code) << named;
    EXPECT_EQ(run.out, "");
    EXPECT_NE(run.err.find(named), std::string::npos) << run.err;
  };
  refused({"--schedule", "missing.yaml"}, kExitBadInput, "missing.yaml");
  refused({"--data", "/nonexistent"}, kExitFailed, "dataset-fashion-mnist");
}

}  // namespace
}  // namespace tombolo::tools
