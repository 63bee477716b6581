#include "schedule/check_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "schedule/compile.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

/// The nine cities' grid: entry 0 {AMS,FRA,LON}{BAR,LAX,NYC}{SEO,SIN,TYO}.
EpochPlan good_plan(bool multicast = true, bool edge_aggregation = true) {
  const Network network = shipped_network("nine-city.yaml", "access-limited", 0.01);
  return *compile(network, *grid_schedule(network.islands),
                  {.job = 1,
                   .epoch = 1,
                   .chunk_elements = 256,
                   .lane_count = 4,
                   .deadline_ns = 1'000'000'000,
                   .update_bytes = 10'000'000,
                   .multicast = multicast,
                   .edge_aggregation = edge_aggregation});
}

TEST(CheckPlan, AcceptsWhatTheCompilerMakes) {
  for (const bool multicast : {false, true})
    for (const bool edge_aggregation : {false, true}) {
      const Status holds = check_plan(good_plan(multicast, edge_aggregation));
      EXPECT_TRUE(holds.ok()) << holds.error().message;
    }
}

struct Damage {
  const char* message;
  std::function<void(EpochPlan&)> apply;
};

PlannedClique& clique(EpochPlan& plan) { return plan.entries[0].cliques[0]; }

std::vector<Damage> damages_to_numbers_and_cliques() {
  return {
      {"the epoch is 0", [](EpochPlan& p) { p.epoch = 0; }},
      {"chunk_elements", [](EpochPlan& p) { p.chunk_elements = 100; }},
      {"chunk_elements", [](EpochPlan& p) { p.chunk_elements = 2080; }},
      {"chunk_elements", [](EpochPlan& p) { p.chunk_elements = 0x80000000; }},
      {"a number format", [](EpochPlan& p) { p.format = NumberFormat::kNone; }},
      {"a number format", [](EpochPlan& p) { p.result_format = static_cast<NumberFormat>(8); }},
      {"the policy", [](EpochPlan& p) { p.non_finite = static_cast<NonFinitePolicy>(3); }},
      {"2 weights for a clique of 3",
       [](EpochPlan& p) {
         clique(p).weights = {1, 1};
       }},
      {"a weight",
       [](EpochPlan& p) {
         clique(p).weights = {1, 0, 1};
       }},
      {"a weight",
       [](EpochPlan& p) {
         clique(p).weights = {1, -1, 1};
       }},
      {"a weight",
       [](EpochPlan& p) {
         clique(p).weights = {1, 1e-40f, 1};
       }},
      {"a weight",
       [](EpochPlan& p) {
         clique(p).weights = {1, 2e20f, 1};
       }},
      {"no lanes", [](EpochPlan& p) { p.lane_count = 0; }},
      {"deadline", [](EpochPlan& p) { p.deadline_ns = 0; }},
      {"no entries", [](EpochPlan& p) { p.entries.clear(); }},
      {"0 sites", [](EpochPlan& p) { p.site_names.clear(); }},
      {"0 islands", [](EpochPlan& p) { p.islands.clear(); }},
      {"has rank", [](EpochPlan& p) { std::swap(p.islands[1], p.islands[2]); }},
      {"at no site", [](EpochPlan& p) { p.islands[1].site = 9; }},
      {"does not join two sites", [](EpochPlan& p) { p.links[0].to = 99; }},
      {"does not join two sites", [](EpochPlan& p) { p.links[0].to = p.links[0].from; }},
      {"no round-trip time", [](EpochPlan& p) { p.links[0].rtt_ns = 0; }},
      {"appears twice", [](EpochPlan& p) { p.links.push_back(p.links[0]); }},
      {"link 0: its group is not in 224.0.1.0 to 239.255.255.255",
       [](EpochPlan& p) { p.links[0].group = 0xdfffffff; }},
      {"its group is not in", [](EpochPlan& p) { p.links[0].group = 0xe00000ff; }},
      {"its group is not in", [](EpochPlan& p) { p.links[0].group = 0xf0000000; }},
      {"link 1 has the group of another",
       [](EpochPlan& p) { p.links[0].group = p.links[1].group = 0xefc00000; }},
      {"no way back", [](EpochPlan& p) { p.links.erase(p.links.begin()); }},
      {"a clique of 1", [](EpochPlan& p) { clique(p).members.resize(1); }},
      {"a clique of 65", [](EpochPlan& p) { clique(p).members.resize(65); }},
      {"not in ascending rank", [](EpochPlan& p) { std::swap(clique(p).members[0], clique(p).members[1]); }},
      {"there is no rank 9", [](EpochPlan& p) { clique(p).members[2] = 9; }},
      {"is in two cliques", [](EpochPlan& p) { p.entries[0].cliques[1].members[0] = 2; }},
      {"a rate is 0", [](EpochPlan& p) { clique(p).stream_rate_bps = 0; }},
      {"a window of", [](EpochPlan& p) { clique(p).window_chunks += 1; }},
      {"a window of", [](EpochPlan& p) { clique(p).window_chunks = 0; }},
      {"tree tables do not fit", [](EpochPlan& p) { clique(p).send_trees.pop_back(); }},
      {"tree tables do not fit", [](EpochPlan& p) { clique(p).receive_trees.pop_back(); }},
      {"sends on 2 trees", [](EpochPlan& p) { clique(p).send_trees[0].push_back(1); }},
      {"does not list all sources", [](EpochPlan& p) { clique(p).receive_trees[1].pop_back(); }},
      {"is not one of rank", [](EpochPlan& p) { clique(p).send_trees[0][0] = 1; }},
      {"is not one of rank", [](EpochPlan& p) { clique(p).send_trees[0][0] = 60000; }},
  };
}

std::vector<Damage> damages_to_trees() {
  return {
      {"has id", [](EpochPlan& p) { p.trees[3].id = 4; }},
      {"nobody sends on it",
       [](EpochPlan& p) {
         p.trees.push_back(p.trees[0]);
         p.trees.back().id = static_cast<std::uint16_t>(p.trees.size() - 1);
       }},
      {"there is no entry",
       [](EpochPlan& p) {
         p.trees.push_back(p.trees[0]);
         p.trees.back().id = static_cast<std::uint16_t>(p.trees.size() - 1);
         p.trees.back().entry = 2;
       }},
      {"has no hops", [](EpochPlan& p) { p.trees[0].hops.clear(); }},
      {"does not start at its source", [](EpochPlan& p) { p.trees[0].hops[0].site = 3; }},
      {"comes before its parent",
       [](EpochPlan& p) {
         std::swap(p.trees[0].hops[1], p.trees[0].hops[2]);
         p.trees[0].hops[1].parent = p.trees[0].hops[2].site;
       }},
      {"no link from site", [](EpochPlan& p) { p.trees[0].hops[1].site = 7; }},
      {"there is no site", [](EpochPlan& p) { p.trees[0].hops[1].site = 77; }},
      {"appears twice", [](EpochPlan& p) { p.trees[0].hops.push_back(p.trees[0].hops[1]); }},
      {"are not its next hops", [](EpochPlan& p) { p.trees[0].hops[0].children.pop_back(); }},
      {"serves nobody", [](EpochPlan& p) { p.trees[0].hops.back().deliver.clear(); }},
      {"not in the clique", [](EpochPlan& p) { p.trees[0].hops[0].deliver.push_back(8); }},
      {"is not at site", [](EpochPlan& p) { p.trees[0].hops[0].deliver.push_back(2); }},
      {"deliveries at site", [](EpochPlan& p) { p.trees[0].hops[0].deliver.push_back(0); }},
      {"receives the chunks of rank 0 0 times", [](EpochPlan& p) { p.trees[0].hops[0].deliver.clear(); }},
      {"lists tree", [](EpochPlan& p) { clique(p).receive_trees[1][0] = kNoTreeId; }},
      {"receives its own chunks", [](EpochPlan& p) { p.edge_aggregation = false; }},
      {"lists a load", [](EpochPlan& p) { p.links[0].load_bps -= 1; }},
  };
}

void expect_each_refused(const std::vector<Damage>& damages) {
  const EpochPlan good = good_plan();
  ASSERT_EQ(good.trees[0].hops.size(), 3u);  // AMS to LON and FRA: the damages above rely on it.
  for (const Damage& damage : damages) {
    EpochPlan plan = good;
    damage.apply(plan);
    const Status holds = check_plan(plan);
    ASSERT_FALSE(holds.ok()) << damage.message;
    EXPECT_EQ(holds.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(holds.error().message.find(damage.message), std::string::npos)
        << holds.error().message << " instead of " << damage.message;
  }
}

TEST(CheckPlan, RefusesEachDamage) {
  expect_each_refused(damages_to_numbers_and_cliques());
  expect_each_refused(damages_to_trees());
}

TEST(CheckPlan, RefusesTreesOutOfOrder) {
  EpochPlan plan = good_plan(false, true);
  std::swap(clique(plan).send_trees[0][0], clique(plan).send_trees[0][1]);
  const Status holds = check_plan(plan);
  ASSERT_FALSE(holds.ok());
  EXPECT_NE(holds.error().message.find("trees of rank 0 are not ascending"), std::string::npos);
}

TEST(CheckPlan, RefusesTwoDeliveriesWithoutMulticast) {
  EpochPlan plan = good_plan(false, true);
  // The second tree of AMS brings its own chunks home once more.
  plan.trees[1].hops[0].deliver = {0};
  const Status holds = check_plan(plan);
  ASSERT_FALSE(holds.ok());
  EXPECT_NE(holds.error().message.find("rank 0 receives the chunks of rank 0 2 times"), std::string::npos);
}

}  // namespace
}  // namespace tombolo::schedule
