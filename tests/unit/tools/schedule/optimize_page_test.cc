#include "tools/schedule/optimize_page.h"

#include <gtest/gtest.h>

#include <limits>

#include "schedule/bounds.h"
#include "tests/unit/schedule/test_networks.h"
#include "tests/unit/tools/report/html_reader.h"

namespace tombolo::tools {
namespace {

using report::HtmlReader;
using schedule::Aggregation;
using schedule::baselines::Baseline;

/// The full clique as if it had been optimized; its figures by the formulas of schedule/README.md.
schedule::Optimized full_clique(const schedule::Problem& problem) {
  schedule::Optimized best;
  best.schedule = *schedule::full_schedule(problem.network().islands);
  best.times = {*problem.model().time(best.schedule.rounds.front(), problem.update_bytes())};
  best.cycle_s = best.times.front().seconds;
  const auto n = static_cast<double>(problem.islands());
  best.mixing.disagreement_s = 1.5 * best.cycle_s * (n - 1) / n;
  best.bound_s = schedule::disagreement_bound(problem.network(), problem.routes(), problem.update_bytes(),
                                              schedule::allows_any_mode(problem.capabilities()))
                     ->seconds;
  best.gap = schedule::optimality_gap(best.mixing.disagreement_s, best.bound_s);
  return best;
}

Studies some_studies(const std::string& name, const schedule::Schedule& schedule) {
  Studies studies;
  studies.by_rounds = {{1, 8.756, true}, {2, 2.3573, true}, {3, 2.25, false}};
  Baseline row;
  row.name = name;
  row.source = name;
  row.disagreement_s = 17.512;
  row.r_per_s = std::numeric_limits<double>::quiet_NaN();
  studies.baselines = {row, schedule::baselines::undefined_baseline("other", name, "has no hosts")};
  row.name = "never";
  row.disagreement_s = std::numeric_limits<double>::infinity();
  studies.baselines.push_back(row);
  studies.grids = {{"Egress at 100 %",
                    {name},
                    {"1 GB", "10 GB"},
                    {{Variant{schedule, 3.125, true, ""}, Variant{{}, 0, false, name}}}}};
  studies.left_out = {"A sentence."};
  return studies;
}

std::string page_of(const schedule::Topology& topology, const std::string& profile, const std::string& name) {
  const schedule::Network network = *schedule::resolve(topology, profile);
  const schedule::Problem problem(network, {false, Aggregation::kNone}, 1e9);
  const schedule::Optimized best = full_clique(problem);
  const Studies studies = some_studies(name, best.schedule);
  return optimize_page({topology, problem, best, studies, "setting " + name, "tombolo schedule " + name, 42})
      .html();
}

void expect_visible(const HtmlReader& reader, const std::vector<std::string>& texts) {
  for (const std::string& text : texts)
    EXPECT_NE(reader.visible.find(text), std::string::npos) << text << " is not on the page";
}

/// The nine cities' full clique in two fragments: every 0.8 s, D = (0.4 + 0.166992 + 0.8 / 2) 8 / 9.
TEST(OptimizePage, ShowsTheFormWithoutBarriers) {
  const auto topology = *schedule::load_topology(schedule::config_path("topologies/nine-city.yaml"));
  NetworkInput input{*schedule::resolve(topology, "access-limited"), 1'000'000'000, {}};
  const schedule::Problem problem(input.network, input.capabilities, 1e9);
  schedule::Schedule full = *schedule::full_schedule(input.network.islands);
  full.form = schedule::Form::kEvent;
  full.fragments = 2;
  const auto event = score_event(input, full);
  ASSERT_TRUE(event.ok()) << event.error().message;
  const schedule::Optimized best = full_clique(problem);
  const Studies studies = some_studies("name", best.schedule);
  OptimizePage data{topology, problem, best, studies, "setting", "command", 42};
  EXPECT_EQ(optimize_page(data).html().find("no-barriers"), std::string::npos);
  data.event = &*event;
  const HtmlReader reader(optimize_page(data).html());
  ASSERT_EQ(reader.error, "");
  expect_visible(reader, {"Without barriers", "D without barriers", "0.8595 s", "2 fragments",
                          "time in the steady state, s"});
}

TEST(OptimizePage, HasEverySectionWithItsFigures) {
  const auto topology = *schedule::load_topology(schedule::config_path("topologies/nine-city.yaml"));
  const std::string html = page_of(topology, "access-limited", "RowName");
  const HtmlReader reader(html);
  ASSERT_EQ(reader.error, "");
  // T, D and the bound are the reference table's: 6.5670, 8.7560, 1.1036; eight updates leave every island.
  expect_visible(reader, {"8.7560 s",
                          "6.567 s",
                          "1.1036 s",
                          "Rounds on the map",
                          "The cycle over time",
                          "Loads",
                          "D against the number of rounds",
                          "Compared with others",
                          "How the optimum moves",
                          "Facts",
                          "tombolo schedule RowName",
                          "RowName",
                          "17.51 s, \u00d72.00",
                          "never joins all islands",
                          "other: has no hosts",
                          "3.125 s",
                          "2.3573",
                          "A sentence.",
                          "42",
                          "versions"});
  const auto data = nlohmann::json::parse(reader.texts.at("script").front()).at("map");
  ASSERT_EQ(data.at("rounds").size(), 1u);
  EXPECT_NE(
      data.at("rounds")[0].at("site_notes").at("0").get<std::string>().find("egress AMS: 100 %, 8 updates"),
      std::string::npos);
  EXPECT_LT(html.size(), 400'000u);
  EXPECT_EQ(html, page_of(topology, "access-limited", "RowName"));
}

TEST(OptimizePage, NamesCannotBecomeMarkup) {
  auto topology = *schedule::load_topology(schedule::config_path("topologies/nine-city.yaml"));
  const std::string hostile = "\"></script><img src=x onerror=alert(1)>&amp;";
  topology.name = hostile;
  for (schedule::Site& site : topology.sites) {
    site.id += hostile;
    site.city = hostile;
  }
  for (schedule::Island& island : topology.islands) island.id += hostile;
  const HtmlReader reader(page_of(topology, "access-limited", hostile));
  EXPECT_EQ(reader.error, "");
  EXPECT_EQ(reader.count("img"), 0u);
  EXPECT_EQ(reader.count("script"), 2u);
}

TEST(OptimizePage, WithoutCoordinatesTheMapIsACircle) {
  const auto topology = *schedule::load_topology(schedule::config_path("topologies/three-site.yaml"));
  const HtmlReader reader(page_of(topology, "even", "name"));
  EXPECT_EQ(reader.error, "");
  std::size_t sites = 0;
  for (const auto& element : reader.elements) sites += element.attributes.contains("data-site") ? 1 : 0;
  EXPECT_EQ(sites, 3u);
  const auto data = nlohmann::json::parse(reader.texts.at("script").front()).at("map");
  EXPECT_EQ(data.at("views").size(), 1u);
  EXPECT_EQ(data.at("views")[0].size(), 2u);
}

}  // namespace
}  // namespace tombolo::tools
