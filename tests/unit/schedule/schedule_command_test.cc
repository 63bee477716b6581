#include "tools/schedule/schedule_command.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/unit/schedule/test_networks.h"
#include "tests/unit/tools/run_verb.h"
#include "tools/cli.h"
#include "tools/schedule/schedule_score.h"

namespace tombolo::tools {
namespace {

/// Runs `tombolo schedule evaluate` on the nine cities' file with the arguments given.
VerbRun evaluate(std::vector<std::string> arguments,
                 const std::string& topology = "topologies/nine-city.yaml") {
  arguments.insert(arguments.begin(), {"schedule", "evaluate", schedule::config_path(topology)});
  return run_verb(add_schedule_command, std::move(arguments));
}

TEST(ScheduleCommand, JsonOnStandardOutputIsTheWholeOutput) {
  const VerbRun outcome =
      evaluate({"--profile", "access-limited", "--schedule", "grid", "--bytes", "1G", "--json", "-"});
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  const auto report = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(report.at("schema"), kReportSchema);
  EXPECT_EQ(report.at("command"), "schedule evaluate");
  EXPECT_NEAR(report.at("disagreement_s").get<double>(), 1.4300, 5e-5);
  // The published best random schedule, as near as the proven gap says.
  const double gap = report.at("r_iid_gap").get<double>();
  EXPECT_LT(gap, 0.005);
  EXPECT_NEAR(report.at("r_iid_per_s").get<double>(), 1.03413, 1.03413 * gap + 5e-6);
  ASSERT_EQ(report.at("rounds").size(), 2u);
  const auto& round = report.at("rounds")[0];
  EXPECT_EQ(round.at("cliques")[0], (std::vector<std::string>{"AMS", "FRA", "LON"}));
  EXPECT_EQ(round.at("bottleneck").at("resource"), "egress BAR");
  EXPECT_EQ(round.at("bottleneck").at("load"), 1);
  EXPECT_NEAR(report.at("cycle_s").get<double>(),
              round.at("time_s").get<double>() + report.at("rounds")[1].at("time_s").get<double>(), 1e-15);
}

TEST(ScheduleCommand, PacksTrees) {
  std::vector<std::string> arguments{"--profile", "mixed", "--schedule", "grid",
                                     "--bytes",   "1G",    "--json",     "-"};
  const auto shortest = nlohmann::json::parse(evaluate(arguments).out);
  EXPECT_EQ(shortest.at("trees"), "shortest");
  EXPECT_FALSE(shortest.contains("packed_gain"));
  arguments.insert(arguments.end(), {"--trees", "packed"});
  const VerbRun outcome = evaluate(arguments);
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  const auto packed = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(packed.at("trees"), "packed");
  const double cycle_s = packed.at("cycle_s").get<double>();
  EXPECT_NEAR(packed.at("packed_gain").get<double>(), 1 - cycle_s / shortest.at("cycle_s").get<double>(),
              1e-12);
  // Of the slow links into Seoul, Singapore and Tokyo three cliques need two updates on each: 1.6 s at least.
  const auto& round = packed.at("rounds")[1];
  EXPECT_GE(round.at("time_s").get<double>(), 1.6);
  EXPECT_LT(round.at("time_s").get<double>(), 1.8);
  EXPECT_GE(round.at("time_s").get<double>(), round.at("packed").at("bound_s").get<double>());
  EXPECT_EQ(round.at("packed").at("shortest_s"), shortest.at("rounds")[1].at("time_s"));
  EXPECT_FALSE(round.at("trees").empty());
  EXPECT_LT(packed.at("disagreement_s").get<double>(), shortest.at("disagreement_s").get<double>());
  // BAR hangs on one cable: two updates for it, whatever the trees.
  EXPECT_EQ(packed.at("rounds")[0].at("time_s"), shortest.at("rounds")[0].at("time_s"));
  EXPECT_TRUE(packed.at("rounds")[0].at("trees").empty());
  EXPECT_EQ(
      evaluate({"--profile", "mixed", "--schedule", "grid", "--bytes", "1G", "--trees", "tall"}).exit_code,
      -1);
}

TEST(ScheduleCommand, ReportsBoundModesAndRests) {
  const std::string path = testing::TempDir() + "schedule_command_rest.yaml";
  std::ofstream(path)
      << "rounds:\n  - [{members: [AMS, BAR, FRA, LAX, LON, NYC, SEO, SIN, TYO], mode: tree}]\n"
         "  - {rest_s: 5}\n";
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"--profile", "testnet10", "--schedule",    path,
                                       "--bytes",   "1G",        "--aggregation", "tree"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return evaluate(arguments);
  };
  const VerbRun outcome = run({"--step-time", "2", "--json", "-"});
  ASSERT_EQ(outcome.exit_code, kExitOk) << outcome.err;
  const auto report = nlohmann::json::parse(outcome.out);
  // Between the published bound, which is by the least spanning tree alone, and the best D known.
  EXPECT_GE(report.at("bound_s").get<double>(), 1.104 - 5e-4);
  EXPECT_LE(report.at("bound_s").get<double>(), 1.309);
  const double d = report.at("disagreement_s").get<double>();
  const double t = report.at("rounds")[0].at("time_s").get<double>();
  EXPECT_NEAR(t, 0.982, 5e-4);
  EXPECT_NEAR(d, 8.0 / 9 * (t * (t + 2 + t / 2) + 2 * (t + 1)) / (t + 2), 1e-9);
  EXPECT_NEAR(report.at("gap").get<double>(), 1 - report.at("bound_s").get<double>() / d, 1e-12);
  EXPECT_EQ(report.at("rounds")[0].at("modes")[0].at("mode"), "tree");
  EXPECT_TRUE(report.at("rounds")[0].at("modes")[0].contains("root"));
  EXPECT_EQ(report.at("rounds")[1].at("time_s"), 2);
  EXPECT_EQ(report.at("certified"), false);
  EXPECT_GT(report.at("r_iid_per_s").get<double>(), 0);
  EXPECT_GT(report.at("r_per_s").get<double>(), 0);
  EXPECT_GE(report.at("solve_s").get<double>(), 0);
  const VerbRun table = run({});
  EXPECT_NE(table.out.find("all rest"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find(" tree at "), std::string::npos) << table.out;
  EXPECT_EQ(run({"--step-time", "-1"}).exit_code, -1);
  std::ofstream(path) << "form: event\nrounds:\n  - [[AMS, BAR]]\n";
  const VerbRun apart = run({});
  EXPECT_EQ(apart.exit_code, kExitBadInput);
  EXPECT_NE(apart.err.find("never meets"), std::string::npos) << apart.err;
  std::remove(path.c_str());
}

/// What a verb writes reads back as the same schedule, with the same worth.
TEST(ScheduleCommand, NotesDoNotDisturbTheFile) {
  NetworkOptions options;
  options.topology = schedule::config_path("topologies/nine-city.yaml");
  options.profile = "testnet10";
  options.bytes = "1G";
  options.aggregation = "tree";
  const auto input = load_network(options);
  ASSERT_TRUE(input.ok());
  const auto score = score_schedule(*input, *schedule::grid_schedule(input->network.islands));
  ASSERT_TRUE(score.ok());
  schedule::Schedule chosen = score->schedule;
  for (std::size_t r = 0; r < chosen.rounds.size(); ++r)
    chosen.rounds[r].modes.assign(score->times[r].modes.begin(), score->times[r].modes.end());
  const std::string text =
      write_schedule(chosen, input->network, score_notes(*score, *input, describe_network(options, *input)));
  EXPECT_NE(text.find("# disagreement D "), std::string::npos) << text;
  EXPECT_NE(text.find("Gbit/s"), std::string::npos) << text;
  const auto again =
      schedule::parse_schedule(text, "written", input->network.islands, input->network.site_names);
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(score_schedule(*input, *again)->mixing.disagreement_s, score->mixing.disagreement_s);
}

TEST(ScheduleCommand, FewAndManyIslands) {
  const std::string path = testing::TempDir() + "schedule_command_many.yaml";
  const auto run = [&](int islands) {
    std::ofstream file(path);
    file << "sites: [{id: A}]\nlinks: []\nprofiles: {p: {egress_gbps: 1, ingress_gbps: 1}}\nislands:\n";
    for (int i = 0; i < islands; ++i) file << "  - {id: i" << i << ", site: A}\n";
    file.close();
    NetworkOptions options;
    options.topology = path;
    options.profile = "p";
    options.bytes = "1M";
    const auto input = load_network(options);
    EXPECT_TRUE(input.ok());
    return schedule::full_schedule(input->network.islands).ok();
  };
  EXPECT_FALSE(run(1));
  EXPECT_TRUE(run(2));
  EXPECT_FALSE(run(1000));
  std::remove(path.c_str());
}

TEST(ScheduleCommand, TableAndJsonFile) {
  const std::string path = testing::TempDir() + "schedule_command_test.json";
  const VerbRun outcome = evaluate({"--profile", "access-limited", "--schedule", "full", "--bytes", "1G",
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
  const VerbRun unwritable = with({"--json", "/nonexistent/report.json"});
  EXPECT_EQ(unwritable.exit_code, kExitFailed);
  EXPECT_NE(unwritable.err.find("/nonexistent/report.json"), std::string::npos);
  const auto refused = [](std::vector<std::string> arguments, const char* topology, const char* named) {
    const VerbRun outcome = evaluate(std::move(arguments), topology);
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
