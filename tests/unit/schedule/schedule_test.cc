#include "schedule/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

std::vector<Island> islands_named(const std::vector<std::string>& ids) {
  std::vector<Island> islands;
  for (const std::string& id : ids) islands.push_back({id, 0});
  return islands;
}

std::vector<Island> many_islands(std::size_t count) {
  std::vector<Island> islands;
  for (std::size_t i = 0; i < count; ++i) islands.push_back({fmt::format("i{}", i), 0});
  return islands;
}

const std::vector<std::string> kNine{"AMS", "BAR", "FRA", "LAX", "LON", "NYC", "SEO", "SIN", "TYO"};

TEST(Schedule, FullHoldsEverybody) {
  const auto schedule = full_schedule(many_islands(64));
  ASSERT_TRUE(schedule.ok());
  ASSERT_EQ(schedule->rounds.size(), 1u);
  ASSERT_EQ(schedule->rounds[0].cliques.size(), 1u);
  ASSERT_EQ(schedule->rounds[0].cliques[0].size(), 64u);
  EXPECT_EQ(schedule->rounds[0].cliques[0][63], 63u);
  EXPECT_FALSE(full_schedule(many_islands(1)).ok());
  EXPECT_FALSE(full_schedule(many_islands(65)).ok());
}

TEST(Schedule, GridMeetsEveryPairOfLinesOnce) {
  const auto schedule = grid_schedule(islands_named(kNine));
  ASSERT_TRUE(schedule.ok());
  ASSERT_EQ(schedule->rounds.size(), 2u);
  for (const Clique& row : schedule->rounds[0].cliques)
    for (const Clique& column : schedule->rounds[1].cliques) {
      Clique common;
      std::set_intersection(row.begin(), row.end(), column.begin(), column.end(), std::back_inserter(common));
      EXPECT_EQ(common.size(), 1u);
    }
  EXPECT_EQ(schedule->rounds[0].cliques[1], (Clique{1, 3, 5}));  // LAX NYC BAR, by rank
  EXPECT_EQ(schedule->rounds[1].cliques[0], (Clique{4, 5, 8}));  // LON NYC TYO
}

TEST(Schedule, GridIsOnlyOfTheNineCities) {
  std::vector<std::string> other = kNine;
  other[3] = "SFO";
  EXPECT_FALSE(grid_schedule(islands_named(other)).ok());
  EXPECT_FALSE(grid_schedule(many_islands(9)).ok());
  EXPECT_FALSE(grid_schedule(islands_named({"AMS", "FRA", "LON"})).ok());
}

TEST(Schedule, ShippedFiles) {
  const auto nine = islands_named(kNine);
  const auto file = load_schedule(config_path("schedules/nine-city-grid.yaml"), nine);
  ASSERT_TRUE(file.ok()) << file.error().message;
  const auto built_in = load_schedule("grid", nine);
  ASSERT_EQ(file->rounds.size(), built_in->rounds.size());
  for (std::size_t r = 0; r < file->rounds.size(); ++r)
    EXPECT_EQ(file->rounds[r].cliques, built_in->rounds[r].cliques);
  EXPECT_EQ(file->name, "nine-city-grid");

  const auto rest = load_schedule(config_path("schedules/nine-city-rest.yaml"), nine);
  ASSERT_TRUE(rest.ok()) << rest.error().message;
  ASSERT_EQ(rest->rounds.size(), 3u);
  EXPECT_EQ(rest->rounds[0].cliques, (std::vector<Clique>{{0, 2, 4}, {3, 5}}));
  EXPECT_EQ(rest->rounds[1].cliques, (std::vector<Clique>{{4, 5}, {6, 8}, {2, 7}}));  // BAR alone rests
  EXPECT_TRUE(load_schedule(config_path("schedules/nine-city-two-cliques.yaml"), nine).ok());
  const auto missing = load_schedule("gird", nine);
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("gird"), std::string::npos);
}

TEST(Schedule, BadFilesNameFileLineAndKey) {
  std::string large_clique = "rounds:\n  - [[i0";
  for (int i = 1; i < 65; ++i) large_clique += fmt::format(", i{}", i);
  large_clique += "]]\n";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "bad:1: the file is empty"},
      {"name: x\n", "bad:1: the key 'rounds' is missing"},
      {"rounds: []\n", "bad:1: rounds: there must be at least one round"},
      {"rounds: 3\n", "bad:1: rounds: must be a list"},
      {"rounds:\n  - [[i0, i1]]\nround: 2\n", "bad:3: round: unknown key"},
      {"rounds:\n  - [[i0, i1]]\n  - [i0, i1]\n", "bad:3: rounds[1][0]: must be a list"},
      {"rounds:\n  - [[i0, i1], []]\n", "bad:2: rounds[0][1]: a clique must have members"},
      {"rounds:\n  - []\n", "bad:2: rounds[0]: a round must have a clique of at least two islands"},
      {"rounds:\n  - [[i0], [i1]]\n", "bad:2: rounds[0]: a round must have a clique of at least two islands"},
      {"rounds:\n  - [[i0, who]]\n", "bad:2: rounds[0][0][1]: there is no island 'who'"},
      {"rounds:\n  - - [i0,\n       who]\n", "bad:3: rounds[0][0][1]: there is no island 'who'"},
      {"rounds:\n  - [[i0, {a: b}]]\n", "bad:2: rounds[0][0][1]: must be a text"},
      {"rounds:\n  - [[i0, i1, i0]]\n",
       "bad:2: rounds[0][0][2]: the island 'i0' is already rounds[0][0][0] in this round"},
      {"rounds:\n  - [[i0, i1], [i2, i1]]\n",
       "bad:2: rounds[0][1][1]: the island 'i1' is already rounds[0][0][1] in this round"},
      {"form: open\nrounds:\n  - [[i0, i1]]\n", "bad:1: form: must be barrier or event"},
      {"fragments: 2\nrounds:\n  - [[i0, i1]]\n",
       "bad:1: fragments: only a schedule of the form event has fragments"},
      {"form: event\nfragments: 1.5\nrounds:\n  - [[i0, i1]]\n", "bad:2: fragments: must be a whole number"},
      {"rounds:\n  - {rest_s: 0}\n", "bad:2: rounds[0].rest_s: must be above 0"},
      {"rounds:\n  - {rest: 1}\n", "bad:2: rounds[0].rest: unknown key"},
      {"rounds:\n  - {}\n", "bad:2: rounds[0]: the key 'rest_s' is missing"},
      {"rounds:\n  - [{mode: tree}]\n", "bad:2: rounds[0][0]: the key 'members' is missing"},
      {"rounds:\n  - [{members: [i0, i1], mode: ring}]\n",
       "bad:2: rounds[0][0].mode: must be direct, sharded or tree"},
      {"rounds:\n  - [{members: [i0, i1], root: P}]\n", "bad:2: rounds[0][0]: the key 'mode' is missing"},
      {"rounds:\n  - - members: [i0, i1]\n      mode: direct\n      root: P\n",
       "bad:4: rounds[0][0].root: only a clique of mode tree has a root"},
      {"rounds:\n  - [{members: [i0, i1], mode: tree, root: Z}]\n",
       "bad:2: rounds[0][0].root: there is no site 'Z'"},
      {"rounds:\n  - [[i0, i1], {members: [i1, i2]}]\n",
       "bad:2: rounds[0][1].members[0]: the island 'i1' is already rounds[0][0][1] in this round"},
      {large_clique, "bad:2: rounds[0][0]: a clique of 65; at most 64 islands can meet"},
  };
  const auto islands = many_islands(70);
  for (const auto& [text, expected] : cases) {
    const auto schedule = parse_schedule(text, "bad", islands, {"P", "Q"});
    ASSERT_FALSE(schedule.ok()) << text;
    EXPECT_EQ(schedule.error().code, ErrorCode::kInvalidInput);
    EXPECT_EQ(schedule.error().message.substr(0, expected.size()), expected);
  }
}

}  // namespace
}  // namespace tombolo::schedule
