#include "tools/report/summary.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/tools/report/test_summary.h"

namespace tombolo::report {
namespace {

using nlohmann::json;

/// The one error that a changed summary gives.
template <typename Change>
std::string error_of(Change change) {
  json summary = full_summary();
  change(summary);
  const auto parsed = parse_summary(summary);
  if (parsed.ok()) return "accepted";
  EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidInput);
  return parsed.error().message;
}

TEST(ParseSummary, ReadsEveryKey) {
  const auto parsed = parse_summary(full_summary());
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->sites.size(), 4u);
  EXPECT_EQ(parsed->sites[0].islands, std::vector<std::string>{"LON"});
  EXPECT_EQ(parsed->sites[3].islands, (std::vector<std::string>{"LAX-1", "LAX-2"}));
  EXPECT_EQ(parsed->topology_links[2].a, 2u);
  EXPECT_EQ(parsed->topology_links[2].rtt_ms, 98.759);
  EXPECT_EQ(parsed->rounds[0].round, 20u);
  EXPECT_DOUBLE_EQ(*parsed->rounds[0].ratio(), 1.25);  // 0.5 / 0.4.
  EXPECT_FALSE(parsed->rounds[1].ratio().has_value());
  EXPECT_EQ(parsed->worker_times[0].name, "LON 5");
  EXPECT_EQ(parsed->drops->at("wire_loss"), 916);
  EXPECT_EQ(parsed->cpu_bound, true);
  // A count of workers is a fact, not a list of their times.
  EXPECT_EQ(parsed->facts.at("workers"), 3);
  EXPECT_FALSE(parsed->facts.contains("rounds"));
  EXPECT_TRUE(parsed->facts.contains("some_new_key"));
}

TEST(ParseSummary, EveryKeyMayBeMissingOrNull) {
  const json full = full_summary();
  for (const auto& [key, value] : full.items()) {
    json without = full;
    without.erase(key);
    if (key == "sites") without.erase("topology_links");
    EXPECT_TRUE(parse_summary(without).ok()) << key;
    without[key] = nullptr;
    EXPECT_TRUE(parse_summary(without).ok()) << key;
  }
  EXPECT_TRUE(parse_summary(json::object()).ok());
}

TEST(ParseSummary, ATimeThatIsNoNumberIsMissing) {
  json summary = full_summary();
  summary["rounds"][0]["measured_s"] = std::numeric_limits<double>::quiet_NaN();
  const auto parsed = parse_summary(summary);
  ASSERT_TRUE(parsed.ok());
  EXPECT_FALSE(parsed->rounds[0].measured_s.has_value());
}

TEST(ParseSummary, WorkersMayBeAListOfTimes) {
  json summary = full_summary();
  summary["workers"] = summary["worker_times"];
  summary.erase("worker_times");
  const auto parsed = parse_summary(summary);
  ASSERT_TRUE(parsed.ok());
  ASSERT_EQ(parsed->worker_times.size(), 1u);
  EXPECT_EQ(parsed->worker_times[0].stalled_s, 0.815);
  EXPECT_FALSE(parsed->facts.contains("workers"));
}

TEST(ParseSummary, NamesWhatIsWrong) {
  EXPECT_EQ(error_of([](json& s) { s["rounds"][1]["predicted_s"] = "soon"; }),
            "rounds[1].predicted_s: is not a number");
  EXPECT_EQ(error_of([](json& s) { s["rounds"][0]["cliques"][1][0] = 7; }),
            "rounds[0].cliques[1][0]: is not a string");
  EXPECT_EQ(error_of([](json& s) { s["rounds"] = "many"; }), "rounds: is not a list");
  EXPECT_EQ(error_of([](json& s) { s["rounds"][0] = 1; }), "rounds[0]: is not an object");
  EXPECT_EQ(error_of([](json& s) { s["rounds"][0]["exact"] = "yes"; }),
            "rounds[0].exact: is not true or false");
  EXPECT_EQ(error_of([](json& s) { s["rounds"][0]["measured_s"] = -1; }),
            "rounds[0].measured_s: -1 is out of range");
  EXPECT_EQ(error_of([](json& s) { s["sites"][2]["lat"] = 91; }), "sites[2].lat: 91 is out of range");
  EXPECT_EQ(error_of([](json& s) { s["sites"][1].erase("lon"); }),
            "sites[1].lat: latitude and longitude come together");
  EXPECT_EQ(error_of([](json& s) { s["sites"][1]["id"] = "LON"; }), "sites[1].id: is there twice");
  EXPECT_EQ(error_of([](json& s) { s["sites"][0].erase("id"); }), "sites[0].id: is missing");
  EXPECT_EQ(error_of([](json& s) { s["topology_links"][3]["b"] = "ZZZ"; }),
            "topology_links[3].b: is not the id of a site");
  EXPECT_EQ(error_of([](json& s) { s["topology_links"][3]["b"] = "LON"; }),
            "topology_links[3].b: is the same site as a");
  EXPECT_EQ(error_of([](json& s) { s["links"][0]["name"] = 3; }), "links[0].name: is not a string");
  EXPECT_EQ(error_of([](json& s) { s["drops"] = json::array(); }), "drops: is not an object");
  EXPECT_EQ(error_of([](json& s) { s["drops"]["wire_loss"] = "all"; }), "drops.wire_loss: is not a number");
  EXPECT_EQ(error_of([](json& s) { s["cpu_bound"] = 1; }), "cpu_bound: is not true or false");
  EXPECT_EQ(error_of([](json& s) { s = json::array(); }), "the summary is not a JSON object");
}

TEST(ParseSummary, RefusesMoreThanAPageCanHold) {
  EXPECT_EQ(error_of([](json& s) {
              s.erase("topology_links");
              for (int i = 0; i < 1001; ++i) s["sites"].push_back({{"id", std::to_string(i)}});
            }),
            "sites: has more than 1000 entries");
}

TEST(ParseJson, NamesTheFile) {
  EXPECT_TRUE(parse_json("{}", "s.json").ok());
  EXPECT_EQ(parse_json("{", "s.json").error().message, "s.json: is not JSON");
  EXPECT_EQ(parse_json("", "s.json").error().message, "s.json: is not JSON");
  EXPECT_EQ(parse_json("\"\xff\"", "s.json").error().message, "s.json: is not JSON");
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  EXPECT_EQ(parse_json(deep, "s.json").error().message, "s.json: nested more than 32 deep");
}

}  // namespace
}  // namespace tombolo::report
