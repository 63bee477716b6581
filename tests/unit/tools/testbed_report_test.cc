#include "tools/testbed_report.h"

#include <gtest/gtest.h>

#include "schedule/schedule.h"

namespace tombolo::tools {
namespace {

constexpr const char* kTopology = R"(name: line
sites: [{id: A, city: Here, lat: 1.5, lon: -2.5}, {id: B}]
links: [{a: A, b: B, rtt_ms: 10}]
islands: [{id: X, site: A}, {id: Y, site: B}, {id: Z, site: B}]
profiles: {p: {core_gbps: 8, egress_gbps: 4, ingress_gbps: 4}}
)";

/// A round of three and a round of two.
struct Sample {
  Sample() {
    words.topology = *schedule::parse_topology(kTopology, "t");
    words.command_line = "tombolo testbed run 'a b'";
    words.aggregation = "edge";
    config.network = *schedule::resolve(words.topology, "p", 0.001);
    config.schedule =
        *schedule::parse_schedule("rounds: [[[X, Y, Z]], [[X, Y]]]", "s", config.network.islands);
    config.update_bytes = 12'800;  // Ten standard chunks: 10 x 106 bytes come on top.
    report.islands = {
        {"X", 30'000, 31'000, 25'600}, {"Y", 30'000, 31'000, 25'600}, {"Z", 15'000, 15'500, 12'800}};
    report.backend = "netns";
    report.links = {{"A-B", 10, 10.5, 8e6, 7.9e6}};
    report.workers = {{"A", 0, 1, 2, 3, 0.5}};
    report.cpu_bound = true;
    report.cpu_reason = "because";
  }
  RunWords words;
  testbed::RunConfig config;
  testbed::RunReport report;
};

TEST(TestbedReport, HasTheSettingTheLinksAndTheMachine) {
  const Sample sample;
  const auto json = run_json(sample.words, sample.config, sample.report);
  EXPECT_EQ(json["command"], "testbed run");
  EXPECT_EQ(json["command_line"], "tombolo testbed run 'a b'");
  EXPECT_EQ(json["backend"], "netns");
  EXPECT_EQ(json["cpu_bound"], true);
  EXPECT_EQ(json["cpu_bound_reason"], "because");
  EXPECT_EQ(json["links"][0]["name"], "A-B");
  EXPECT_EQ(json["links"][0]["measured_rtt_ms"], 10.5);
  EXPECT_EQ(json["worker_times"][0]["stalled_s"], 0.5);
  ASSERT_EQ(json["sites"].size(), 2U);
  EXPECT_EQ(json["sites"][0]["lat"], 1.5);
  EXPECT_EQ(json["sites"][1]["islands"], (std::vector<std::string>{"Y", "Z"}));
  EXPECT_FALSE(json["sites"][1].contains("lat"));
  EXPECT_EQ(json["topology_links"][0]["rtt_ms"], 10.0);
  EXPECT_EQ(json["topology_links"][0]["bps"], 8'000'000);
}

TEST(TestbedReport, CapabilitiesAreMeasuredForWhatRanAndComputedForTheRest) {
  const Sample sample;
  const auto rows = run_json(sample.words, sample.config, sample.report)["capabilities"];
  ASSERT_EQ(rows.size(), 4U);
  const double wire = (12'800.0 + 10 * 106) / 12'800;
  // Five members in all; three of them have two others, two have one: 8 copies for 5 updates.
  const double copies = 8.0 / 5;
  for (const auto& row : rows) {
    const bool multicast = row["multicast"];
    const bool edge = row["aggregation"] == "edge";
    EXPECT_EQ(row["measured"], multicast && edge);
    if (multicast && edge) {
      EXPECT_DOUBLE_EQ(row["bytes_out_per_update"], 75'000.0 / 64'000);
      EXPECT_DOUBLE_EQ(row["bytes_in_per_update"], 77'500.0 / 64'000);
    } else {
      EXPECT_DOUBLE_EQ(row["bytes_out_per_update"], wire * (multicast ? 1 : copies));
      EXPECT_DOUBLE_EQ(row["bytes_in_per_update"], wire * (edge ? 1 : copies));
    }
  }
}

}  // namespace
}  // namespace tombolo::tools
