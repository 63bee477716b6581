// The files of configs/prometheus as they are shipped.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "control/observe/controller_metrics.h"
#include "control/observe/edge_metrics.h"
#include "control/observe/island_metrics.h"
#include "tests/unit/control/observe/full_sample.h"
#include "tests/unit/control/observe/scrape.h"

namespace tombolo::control {
namespace {

const std::string kRoot = TOMBOLO_SOURCE;
const std::string kFolder = kRoot + "/configs/prometheus/";

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

/// All series that a program may export.
std::set<std::string> exported_names() {
  std::set<std::string> names;
  for (const auto& families :
       {edge_families(full_edge_sample()), controller_families(full_controller_status()),
        island_families(full_island_sample())})
    for (const prometheus::MetricFamily& family : families) {
      names.insert(family.name);
      if (family.type == prometheus::MetricType::Histogram) names.insert(family.name + "_bucket");
      if (family.type == prometheus::MetricType::Histogram || family.type == prometheus::MetricType::Summary)
        for (const char* const suffix : {"_sum", "_count"}) names.insert(family.name + suffix);
    }
  return names;
}

/// Every name in the text that has "tombolo_" in it, whole: with colons, those of recorded series.
std::set<std::string> names_in(const std::string& text) {
  static const std::regex word(R"([A-Za-z_:][A-Za-z0-9_:]*)");
  std::set<std::string> names;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), word); at != std::sregex_iterator(); ++at)
    if (at->str().find("tombolo_") != std::string::npos) names.insert(at->str());
  return names;
}

std::set<std::string> recorded_names() {
  static const std::regex record(R"(record: (\S+))");
  const std::string text = text_of(kFolder + "rules.yaml");
  std::set<std::string> names;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), record); at != std::sregex_iterator(); ++at)
    names.insert((*at)[1]);
  return names;
}

TEST(PrometheusConfigsTest, WhatTheyNameIsExported) {
  const std::set<std::string> exported = exported_names();
  const std::set<std::string> recorded = recorded_names();
  ASSERT_FALSE(recorded.empty());
  for (const char* const file : {"rules.yaml", "alerts.yaml", "dashboard.json"}) {
    const std::set<std::string> names = names_in(text_of(kFolder + file));
    EXPECT_GT(names.size(), 5U) << file;
    for (const std::string& name : names)
      EXPECT_TRUE(exported.count(name) + recorded.count(name) > 0) << file << " names " << name;
  }
  EXPECT_EQ(exported.count("tombolo_edge_no_such_total"), 0U) << "not everything passes";
}

TEST(PrometheusConfigsTest, TheDashboardIsWhole) {
  const nlohmann::json board = nlohmann::json::parse(text_of(kFolder + "dashboard.json"));
  EXPECT_EQ(board["title"], "Tombolo");
  std::set<int> ids;
  std::size_t charts = 0;
  for (const nlohmann::json& panel : board["panels"]) {
    EXPECT_TRUE(ids.insert(panel["id"].get<int>()).second) << panel["title"];
    const nlohmann::json& place = panel["gridPos"];
    EXPECT_LE(place["x"].get<int>() + place["w"].get<int>(), 24) << panel["title"];
    if (panel["type"] == "row") continue;
    ++charts;
    EXPECT_FALSE(panel["description"].get<std::string>().empty()) << panel["title"];
    ASSERT_FALSE(panel["targets"].empty()) << panel["title"];
    for (const nlohmann::json& target : panel["targets"])
      EXPECT_NE(target["expr"].get<std::string>().find("tombolo_"), std::string::npos) << panel["title"];
  }
  EXPECT_GT(charts, 10U);
}

TEST(PrometheusConfigsTest, PromtoolTakesThem) {
  if (!have_promtool()) GTEST_SKIP() << "promtool is not installed (Debian package prometheus)";
  for (const std::string& arguments :
       {"check config '" + kFolder + "prometheus.yaml'",
        "check rules '" + kFolder + "rules.yaml' '" + kFolder + "alerts.yaml'"}) {
    const ToolAnswer answer = promtool(arguments);
    EXPECT_EQ(answer.exit_code, 0) << answer.output;
  }
}

TEST(PrometheusConfigsTest, EveryExpressionOfTheDashboardParses) {
  if (!have_promtool()) GTEST_SKIP() << "promtool is not installed (Debian package prometheus)";
  const nlohmann::json board = nlohmann::json::parse(text_of(kFolder + "dashboard.json"));
  nlohmann::json rules = nlohmann::json::array();
  for (const nlohmann::json& panel : board["panels"])
    for (const nlohmann::json& target : panel.value("targets", nlohmann::json::array()))
      rules.push_back({{"record", "r:" + std::to_string(rules.size())}, {"expr", target["expr"]}});
  // JSON is YAML: the expressions as a file of rules.
  const nlohmann::json file{{"groups", {{{"name", "dashboard"}, {"rules", rules}}}}};
  const ToolAnswer answer = promtool("check rules /dev/stdin", file.dump());
  EXPECT_EQ(answer.exit_code, 0) << answer.output;
  EXPECT_NE(answer.output.find(std::to_string(rules.size()) + " rules found"), std::string::npos)
      << answer.output;
}

TEST(PrometheusConfigsTest, TheRulesCompute) {
  if (!have_promtool()) GTEST_SKIP() << "promtool is not installed (Debian package prometheus)";
  const std::string place = "RULES_FOLDER";
  std::string text = text_of(kRoot + "/tests/unit/control/observe/rules_test.yaml");
  for (std::size_t at = 0; (at = text.find(place)) != std::string::npos;)
    text.replace(at, place.size(), kRoot + "/configs/prometheus");
  std::string path = testing::TempDir() + "rules_test_XXXXXX";
  ::close(::mkstemp(path.data()));
  std::ofstream(path) << text;
  const ToolAnswer answer = promtool("test rules '" + path + "'");
  ::unlink(path.c_str());
  EXPECT_EQ(answer.exit_code, 0) << answer.output;
}

}  // namespace
}  // namespace tombolo::control
