#include "tools/report/run_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>

#include "tests/unit/tools/report/html_reader.h"
#include "tests/unit/tools/report/test_summary.h"

namespace tombolo::report {
namespace {

using nlohmann::json;

std::string page_of(const json& summary) {
  const auto page = run_page(summary);
  EXPECT_TRUE(page.ok()) << page.error().message;
  return page.ok() ? page->html() : std::string();
}

/// What must hold for every page, whatever the summary says.
void expect_sound(const std::string& html, std::size_t scripts) {
  const HtmlReader reader(html);
  EXPECT_EQ(reader.error, "");
  EXPECT_EQ(reader.count("script"), scripts);
  EXPECT_EQ(reader.count("style"), 1u);
  for (const char* name :
       {"img", "iframe", "link", "object", "embed", "base", "form", "image", "use", "foreignObject"})
    EXPECT_EQ(reader.count(name), 0u) << name;
  for (const auto& element : reader.elements)
    for (const auto& [name, value] : element.attributes) {
      EXPECT_FALSE(name.starts_with("on")) << element.name << ' ' << name;
      EXPECT_NE(name, "src");
      EXPECT_NE(name, "style");
      if (name == "href") {
        EXPECT_TRUE(value.starts_with('#')) << value;
      }
    }
  // What the style and the scripts might load; the one address that is a name is that of SVG elements.
  for (const char* name : {"style", "script"})
    for (const std::string& text : reader.texts.at(name)) {
      std::size_t addresses = 0;
      for (std::size_t at = text.find("://"); at != text.npos; at = text.find("://", at + 1)) ++addresses;
      const bool names_svg = text.find("http://www.w3.org/2000/svg") != text.npos;
      EXPECT_EQ(addresses, names_svg ? 1u : 0u);
      for (const char* loader : {"@import", "fetch(", "XMLHttpRequest", "import(", "WebSocket", "innerHTML"})
        EXPECT_EQ(text.find(loader), text.npos) << loader;
    }
  EXPECT_TRUE(json::accept(reader.texts.at("script").front()));
}

void expect_visible(const HtmlReader& reader, const std::vector<std::string>& texts) {
  for (const std::string& text : texts)
    EXPECT_NE(reader.visible.find(text + '\n'), std::string::npos) << text;
}

TEST(RunReport, IsSelfContainedAndWellFormed) {
  const std::string html = page_of(full_summary());
  expect_sound(html, 2);
  const HtmlReader reader(html);
  for (const char* title : {"Map", "Rounds", "Bytes per island", "Calibration", "Facts"}) {
    const auto& titles = reader.texts.at("h2");
    EXPECT_EQ(std::count(titles.begin(), titles.end(), title), 1) << title;
  }
}

TEST(RunReport, ShowsEveryNumber) {
  const HtmlReader reader(page_of(full_summary()));
  const std::string narrow = "\u202f";
  const auto grouped = [&](const char* a, const char* b, const char* c = nullptr) {
    return std::string(a) + narrow + b + (c == nullptr ? "" : narrow + c);
  };
  // Rounds.
  expect_visible(reader, {"20", "21", "0.400 s", "0.433 s", "0.500 s", "1.25", "0.311 s", "0.322 s",
                          grouped("1", "361", "111"), grouped("1", "362", "222"), grouped("1", "363", "333"),
                          grouped("1", "364", "444"), "{LON,TYO}", "{NYC,LAX-1}", "{LON,NYC}",
                          "island NYC: 12 chunks missing from LON"});
  // The mean is over the rounds that have a time: here one of the two.
  expect_visible(reader, {"0.500 s on average"});
  // Islands: 2722222 / 2500000 = 1.0889, 2755555 / 2500000 = 1.1022, 2633333 / 2400000 = 1.0972, 1.1019.
  expect_visible(reader, {grouped("2", "500", "000"), grouped("2", "722", "222"), grouped("2", "755", "555"),
                          "1.089", "1.102", "1.097", grouped("2", "633", "333"), grouped("2", "644", "444")});
  // Links: 68.1 / 67.296 = 1.01195, 75.5 / 68.42 = 1.10348, 97 / 100, 21.1 / 25 = 0.844.
  expect_visible(reader, {"67.296 ms", "68.100 ms", "+1.2 %", "100 Mbit/s", "97 Mbit/s", "-3.0 %",
                          "68.420 ms", "75.500 ms", "+10.3 %", "25 Mbit/s", "21.1 Mbit/s", "-15.6 %",
                          "98.759 ms", "RTT and rate are off", "holds", "not measured"});
  // Capabilities.
  expect_visible(reader, {"1.09 updates", "1.13 updates", "8.72 updates", "8.84 updates",
                          "measured, this run", "computed"});
  // Facts, drops and workers.
  expect_visible(reader, {"tombolo testbed run four.yaml --scale 0.00125",
                          "0.00125",
                          grouped("1", "250", "000"),
                          grouped("2", "048"),
                          "3",
                          grouped("4", "711"),
                          "dpdk 22.11.4, tombolo 0.1.7",
                          "2 x Test CPU",
                          "2026-03-14T15:09:26Z",
                          "916",
                          "17",
                          "933",
                          grouped("4", "242", "424"),
                          grouped("135", "792", "468"),
                          "1.512 s",
                          "0.613 s",
                          "2.714 s",
                          "0.815 s",
                          "LON 5",
                          "inner (86.25, word)"});
  EXPECT_NE(reader.visible.find("edge LON was stalled for 31 % of the time"), std::string::npos);
}

TEST(RunReport, TheMapHasSitesLinksAndRounds) {
  const std::string html = page_of(full_summary());
  const HtmlReader reader(html);
  std::vector<std::string> tips;
  std::size_t sites = 0;
  for (const auto& element : reader.elements) {
    if (const auto tip = element.attributes.find("data-tip"); tip != element.attributes.end())
      tips.push_back(tip->second);
    sites += element.attributes.contains("data-site") ? 1 : 0;
  }
  EXPECT_EQ(sites, 4u);
  const auto has_tip = [&](const std::string& tip) { return std::count(tips.begin(), tips.end(), tip) >= 1; };
  EXPECT_TRUE(has_tip("NYC \u2013 LON\nRTT 67.296 ms\n100 Mbit/s"));
  EXPECT_TRUE(has_tip("LAX \u2013 NYC\nRTT 68.420 ms\n25 Mbit/s"));
  expect_visible(reader, {"LON", " London", "NYC", " New York"});
  const json data = json::parse(reader.texts.at("script").front()).at("map");
  EXPECT_EQ(data.at("rounds").size(), 2u);
  EXPECT_EQ(data.at("rounds")[0].at("number"), 20);
  EXPECT_EQ(data.at("cliques")[0].at("members"), (std::vector<std::string>{"LON", "TYO"}));
  // Tokyo - Los Angeles leaves the map on one side and comes in on the other.
  EXPECT_EQ(data.at("views")[0].at("2").size(), 2u);
  EXPECT_EQ(data.at("views")[0].at("0").size(), 1u);
}

TEST(RunReport, HostileNamesStayText) {
  const std::string hostile =
      "</script></style><script>alert(1)</script>\"'&<img src=x onerror=alert(1)>{0}{} <!-- ";
  json summary = full_summary();
  const std::function<void(json&)> poison = [&](json& value) {
    if (value.is_string()) value = hostile + value.get<std::string>();
    for (auto& item : value)
      if (value.is_structured()) poison(item);
  };
  poison(summary);
  summary["drops"][hostile] = 1;
  summary[hostile] = hostile;
  summary["versions"][hostile] = hostile;
  const std::string html = page_of(summary);
  expect_sound(html, 2);
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(html.find("<script>alert"), std::string::npos);
  // They are shown, not lost: in the page's title, and as a member of a clique for the script.
  const HtmlReader reader(html);
  EXPECT_TRUE(reader.texts.at("title").front().starts_with(hostile));
  const json data = json::parse(reader.texts.at("script").front());
  EXPECT_EQ(data.at("map").at("cliques")[0].at("members")[0], hostile + "LON");
}

TEST(RunReport, BytesThatAreNotUtf8DoNotThrow) {
  json summary = full_summary();
  summary["topology"] = "a\xff";
  summary["rounds"][0]["cliques"][0][0] = "\xc3";
  expect_sound(page_of(summary), 2);
}

TEST(RunReport, WhatIsMissingIsSaid) {
  const std::string html = page_of(json::object());
  expect_sound(html, 2);
  const HtmlReader reader(html);
  expect_visible(
      reader,
      {"The summary of this run has no sites with latitude and longitude, so there is no map.",
       "The summary of this run has no rounds.", "The summary of this run has no traffic of islands.",
       "The links were not measured in this run.", "The summary of this run does not say what was dropped."});
}

TEST(RunReport, AnyKeyMayBeMissing) {
  const json full = full_summary();
  for (const auto& [key, value] : full.items()) {
    SCOPED_TRACE(key);
    json without = full;
    without.erase(key);
    if (key == "sites") without.erase("topology_links");
    expect_sound(page_of(without), 2);
  }
  for (const char* list :
       {"sites", "topology_links", "rounds", "islands", "links", "capabilities", "worker_times"})
    for (const auto& [key, value] : full.at(list)[0].items()) {
      if ((std::string(list) == "sites" && key != "city") || key == "a" || key == "b") continue;
      SCOPED_TRACE(std::string(list) + "." + key);
      json without = full;
      without[list][0].erase(key);
      expect_sound(page_of(without), 2);
    }
}

TEST(RunReport, SaysWhoseTimesTheyAre) {
  json summary = full_summary();
  const auto says = [&](const std::string& words) {
    return HtmlReader(page_of(summary)).visible.find(words) != std::string::npos;
  };
  EXPECT_TRUE(says("CPU-bound: the processors of this machine were the bottleneck"));
  summary["cpu_bound"] = false;
  EXPECT_TRUE(says("Not CPU-bound: the processors had time to spare"));
  summary["backend"] = "inproc";
  summary["real_time"] = false;
  EXPECT_TRUE(says("Virtual time"));
  EXPECT_FALSE(says("time to spare"));
}

TEST(RunReport, ASiteWithoutCoordinatesIsNamed) {
  json summary = full_summary();
  summary["sites"][1].erase("lat");
  summary["sites"][1].erase("lon");
  const HtmlReader reader(page_of(summary));
  expect_visible(reader, {"Not on the map, for want of coordinates: NYC."});
}

TEST(RunReport, WritesAFileOrSaysWhyNot) {
  const std::string path = testing::TempDir() + "run_report_test.html";
  ASSERT_TRUE(write_run_report(full_summary(), path).ok());
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(text, page_of(full_summary()));
  std::remove(path.c_str());

  const auto failed = write_run_report(full_summary(), "/nowhere/report.html");
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(failed.error().message.find("/nowhere/report.html"), std::string::npos);

  json summary = full_summary();
  summary["rounds"] = 1;
  const auto refused = write_run_report(summary, path);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace tombolo::report
