#include "tools/report/cliques.h"

#include <gtest/gtest.h>

#include "tests/unit/tools/report/test_summary.h"

namespace tombolo::report {
namespace {

using Indices = std::vector<std::size_t>;

DrawnRounds drawn_of(const nlohmann::json& json) {
  const auto summary = parse_summary(json);
  EXPECT_TRUE(summary.ok());
  return draw_rounds(*summary);
}

TEST(DrawRounds, LinksAreThoseOfTheShortestRoutes) {
  const DrawnRounds drawn = drawn_of(full_summary());
  ASSERT_EQ(drawn.rounds, (std::vector<Indices>{{0, 1}, {2}}));
  // London to Tokyo: 67 + 68 + 99 ms over New York and Los Angeles, less than the direct 300 ms.
  EXPECT_EQ(drawn.cliques[0].links, (Indices{0, 1, 2}));
  EXPECT_EQ(drawn.cliques[0].sites, (Indices{0, 2}));
  // The island LAX-1 is at the site LAX.
  EXPECT_EQ(drawn.cliques[1].sites, (Indices{1, 3}));
  EXPECT_EQ(drawn.cliques[1].links, (Indices{1}));
  EXPECT_EQ(drawn.cliques[2].links, (Indices{0}));
}

TEST(DrawRounds, TheSameCliqueIsThereOnce) {
  nlohmann::json json = full_summary();
  json["rounds"].push_back(json["rounds"][0]);
  const DrawnRounds drawn = drawn_of(json);
  EXPECT_EQ(drawn.cliques.size(), 3u);
  EXPECT_EQ(drawn.rounds[2], drawn.rounds[0]);
}

TEST(DrawRounds, WithoutLatenciesOrRoutesThereAreNoLinks) {
  nlohmann::json json = full_summary();
  json["topology_links"][0].erase("rtt_ms");
  EXPECT_TRUE(drawn_of(json).cliques[0].links.empty());
  json = full_summary();
  json["topology_links"].erase(3);
  json["topology_links"].erase(0);  // London is cut off.
  EXPECT_TRUE(drawn_of(json).cliques[0].links.empty());
  EXPECT_EQ(drawn_of(json).cliques[1].links, (Indices{0}));
}

TEST(DrawRounds, AnIslandWithoutASiteIsOnlyAName) {
  nlohmann::json json = full_summary();
  json["rounds"][0]["cliques"][0] = {"LON", "nowhere"};
  const DrawnRounds drawn = drawn_of(json);
  EXPECT_EQ(drawn.cliques[0].members, (std::vector<std::string>{"LON", "nowhere"}));
  EXPECT_EQ(drawn.cliques[0].sites, Indices{0});
}

}  // namespace
}  // namespace tombolo::report
