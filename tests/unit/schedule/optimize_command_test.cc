#include "tools/schedule/optimize_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "schedule/schedule_file.h"
#include "tests/unit/schedule/test_networks.h"
#include "tests/unit/tools/run_verb.h"
#include "tools/cli.h"
#include "tools/schedule/schedule_command.h"

namespace tombolo::tools {
namespace {

VerbRun run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "schedule");
  return run_verb(add_schedule_command, std::move(arguments));
}

/// The file that `optimize` writes is one that `evaluate` reads, and both tell the same D.
TEST(OptimizeCommand, WritesAFileThatEvaluateConfirms) {
  const std::string topology = schedule::config_path("topologies/three-site.yaml");
  const std::string out = testing::TempDir() + "/optimized.yaml";
  const VerbRun optimized = run({"optimize", topology, "--profile", "slow-core", "--bytes", "1G",
                                 "--max-rounds", "2", "--out", out, "--json", "-"});
  ASSERT_EQ(optimized.exit_code, kExitOk);
  EXPECT_FALSE(std::filesystem::exists(out + ".new"));
  const auto report = nlohmann::json::parse(optimized.out);
  EXPECT_EQ(report.at("command"), "schedule optimize");
  for (const char* key :
       {"bound_s", "gap", "r_per_s", "r_iid_per_s", "cycle_s", "rounds", "solve_s", "certified"})
    EXPECT_TRUE(report.contains(key)) << key;
  const VerbRun evaluated = run(
      {"evaluate", topology, "--profile", "slow-core", "--bytes", "1G", "--schedule", out, "--json", "-"});
  ASSERT_EQ(evaluated.exit_code, kExitOk);
  EXPECT_NEAR(nlohmann::json::parse(evaluated.out).at("disagreement_s").get<double>(),
              report.at("disagreement_s").get<double>(), 1e-9);
  std::filesystem::remove(out);
}

/// So it is with trees: the file says them.
TEST(OptimizeCommand, WritesPackedTrees) {
  const std::string topology = testing::TempDir() + "/ring.yaml";
  std::ofstream(topology) << schedule::kRingOfFour;
  const std::string out = testing::TempDir() + "/packed.yaml";
  const VerbRun optimized = run({"optimize", topology, "--profile", "p", "--bytes", "125M", "--max-rounds",
                                 "2", "--effort", "0.01", "--trees", "packed", "--out", out, "--json", "-"});
  ASSERT_EQ(optimized.exit_code, kExitOk) << optimized.err;
  const auto report = nlohmann::json::parse(optimized.out);
  EXPECT_EQ(report.at("trees"), "packed");
  const VerbRun evaluated =
      run({"evaluate", topology, "--profile", "p", "--bytes", "125M", "--schedule", out, "--json", "-"});
  ASSERT_EQ(evaluated.exit_code, kExitOk) << evaluated.err;
  const auto again = nlohmann::json::parse(evaluated.out);
  EXPECT_NEAR(again.at("disagreement_s").get<double>(), report.at("disagreement_s").get<double>(), 1e-9);
  // Whatever the search found, trees in a file count.
  const schedule::Network network = schedule::ring_of_four();
  std::ofstream(out) << schedule::write_schedule({"crossed", {schedule::crossed_round()}}, network, {});
  const VerbRun crossed =
      run({"evaluate", topology, "--profile", "p", "--bytes", "125M", "--schedule", out, "--json", "-"});
  ASSERT_EQ(crossed.exit_code, kExitOk) << crossed.err;
  EXPECT_NEAR(nlohmann::json::parse(crossed.out).at("cycle_s").get<double>(), 1.003, 1e-9);
  std::filesystem::remove(out);
  std::filesystem::remove(topology);
}

/// Trees are installed once and stay, whatever the network turns out to be. D is at most as far off as
/// capacities and latencies are off by: D is a square of times over a time, each at most 1 / 0.9 as long.
TEST(OptimizeCommand, PackedTreesUnderUncertainty) {
  const std::string topology = testing::TempDir() + "/uncertain-ring.yaml";
  std::ofstream(topology) << schedule::kRingOfFour;
  const std::string out = testing::TempDir() + "/uncertain.yaml";
  const auto optimize = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"optimize", topology, "--profile", "p", "--bytes", "125M", "--max-rounds", "2",
                               "--effort", "0.01", "--trees", "packed", "--out", out, "--json", "-"});
    const VerbRun done = run(more);
    EXPECT_EQ(done.exit_code, kExitOk) << done.err;
    return nlohmann::json::parse(done.out);
  };
  const auto certain = optimize({"--uncertainty", "0%"});
  const double planned_s = certain.at("disagreement_s");
  for (const char* name : {"p10_s", "p90_s", "worst_decile_s"})
    EXPECT_NEAR(certain.at("uncertainty").at(name).get<double>(), planned_s, 1e-9 * planned_s);
  const auto uncertain = optimize({"--uncertainty", "10%"});
  EXPECT_EQ(uncertain.at("rounds"), certain.at("rounds"));
  const double worst_s = uncertain.at("uncertainty").at("worst_decile_s");
  EXPECT_GT(worst_s, planned_s);
  EXPECT_LT(worst_s, planned_s / (0.9 * 0.9));
  const auto robust = optimize({"--uncertainty", "10%", "--robust"}).at("uncertainty");
  EXPECT_EQ(robust.at("planned_worst_decile_s").get<double>(), worst_s);
  EXPECT_LE(robust.at("worst_decile_s").get<double>(), worst_s);
  std::filesystem::remove(out);
  std::filesystem::remove(topology);
}

/// All of it ends with the time limit: the search as planned, its rivals, and that for the worst tenth.
/// Without the limit this effort takes hours.
TEST(OptimizeCommand, RobustWithinTheTimeLimit) {
  const std::string topology = schedule::config_path("topologies/three-site.yaml");
  const std::string out = testing::TempDir() + "/limited.yaml";
  const VerbRun done =
      run({"optimize", topology, "--profile", "slow-core", "--bytes", "1G", "--effort", "10000",
           "--time-limit", "1", "--uncertainty", "20%", "--robust", "--out", out, "--json", "-"});
  ASSERT_EQ(done.exit_code, kExitOk) << done.err;
  const auto report = nlohmann::json::parse(done.out);
  EXPECT_EQ(report.at("stopped"), true);
  EXPECT_LT(report.at("solve_s").get<double>(), 5);  // Room for a busy machine.
  EXPECT_LE(report.at("uncertainty").at("worst_decile_s").get<double>(),
            report.at("uncertainty").at("planned_worst_decile_s").get<double>());
  std::filesystem::remove(out);
}

/// Three sites: the best without barriers is no worse, its file says its form, and `evaluate` tells the same.
TEST(OptimizeCommand, WithoutBarriers) {
  const std::string topology = schedule::config_path("topologies/three-site.yaml");
  const std::string out = testing::TempDir() + "/event.yaml";
  const VerbRun found = run({"optimize", topology, "--profile", "slow-core", "--bytes", "1G", "--max-rounds",
                             "2", "--effort", "0.01", "--form", "event", "--out", out, "--json", "-"});
  ASSERT_EQ(found.exit_code, kExitOk) << found.err;
  const auto report = nlohmann::json::parse(found.out);
  EXPECT_EQ(report.at("form"), "event");
  const auto& forms = report.at("forms");
  const double barrier_s = forms.at("barrier").at("disagreement_s");
  const double event_s = forms.at("event").at("disagreement_s");
  EXPECT_LE(event_s, barrier_s * (1 + 1e-6));
  EXPECT_NEAR(forms.at("ratio").get<double>(), barrier_s / event_s, 1e-12);
  EXPECT_EQ(report.at("disagreement_s").get<double>(), event_s);
  EXPECT_LE(report.at("bound_s").get<double>(), event_s);
  EXPECT_TRUE(report.at("r_iid_per_s").is_null());
  const VerbRun evaluated = run(
      {"evaluate", topology, "--profile", "slow-core", "--bytes", "1G", "--schedule", out, "--json", "-"});
  ASSERT_EQ(evaluated.exit_code, kExitOk) << evaluated.err;
  const auto again = nlohmann::json::parse(evaluated.out);
  EXPECT_EQ(again.at("rounds"), report.at("rounds"));
  EXPECT_NEAR(again.at("disagreement_s").get<double>(), event_s, 1e-12);
  // It is a start for both forms; with barriers its rounds are what they were.
  const VerbRun from = run({"optimize", topology, "--profile", "slow-core", "--bytes", "1G", "--max-rounds",
                            "2", "--effort", "0.01", "--from", out, "--out", out, "--json", "-"});
  ASSERT_EQ(from.exit_code, kExitOk) << from.err;
  EXPECT_EQ(nlohmann::json::parse(from.out).at("form"), "barrier");
  std::filesystem::remove(out);
}

TEST(OptimizeCommand, RefusesWhatIsForBarriersOnly) {
  const std::string topology = schedule::config_path("topologies/three-site.yaml");
  const std::vector<std::string> sound{"optimize", topology, "--profile", "even",  "--bytes",
                                       "1M",       "--out",  "x.yaml",    "--form"};
  for (const auto& more : {std::vector<std::string>{"event", "--uncertainty", "20%"},
                           {"best", "--from", "full", "--lost-link", "A-B"}}) {
    std::vector<std::string> arguments = sound;
    arguments.insert(arguments.end(), more.begin(), more.end());
    const VerbRun refused = run(arguments);
    EXPECT_EQ(refused.exit_code, kExitBadInput);
    const std::string named = more.size() == 3 ? "--uncertainty: is for" : "--lost-link: is for";
    EXPECT_NE(refused.err.find(named), std::string::npos) << refused.err;
  }
  for (const char* fragments : {"0", "65"}) {
    std::vector<std::string> arguments = sound;
    arguments.insert(arguments.end(), {"event", "--fragments", fragments});
    EXPECT_EQ(run(arguments).exit_code, -1);
  }
}

TEST(OptimizeCommand, BadInputWritesNothing) {
  const std::string topology = schedule::config_path("topologies/three-site.yaml");
  const std::string out = testing::TempDir() + "/refused.yaml";
  const std::vector<std::string> sound{"optimize", topology, "--profile", "even",
                                       "--bytes",  "1M",     "--out",     out};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), sound.begin(), sound.end());
    return run(more).exit_code;
  };
  EXPECT_EQ(with({"--max-rounds", "0"}), -1);
  EXPECT_EQ(with({"--time-limit", "-1"}), -1);
  EXPECT_EQ(with({"--family", "fast"}), -1);
  EXPECT_EQ(run({"optimize", topology, "--profile", "no", "--bytes", "1M", "--out", out}).exit_code,
            kExitBadInput);
  EXPECT_EQ(run({"optimize", topology, "--profile", "even", "--bytes", "0", "--out", out}).exit_code,
            kExitBadInput);
  EXPECT_FALSE(std::filesystem::exists(out));
  EXPECT_NE(run({"optimize", topology, "--profile", "even", "--bytes", "1M", "--max-rounds", "1", "--out",
                 "/nowhere/file.yaml"})
                .exit_code,
            kExitOk);
}

}  // namespace
}  // namespace tombolo::tools
