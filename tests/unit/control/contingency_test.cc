#include "control/contingency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "control/epoch_tables.h"
#include "schedule/check_plan.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::control {
namespace {

using schedule::EpochPlan;
using schedule::Network;
using schedule::Rank;
using schedule::SiteId;

Nominal nominal_of(const Network& network) {
  Nominal nominal;
  nominal.schedule = *schedule::full_schedule(network.islands);
  nominal.options.chunk_elements = 320;
  nominal.options.lane_count = 2;
  nominal.options.deadline_ns = 1'000'000'000;
  nominal.options.update_bytes = 1'000'000;
  return nominal;
}

std::set<Rank> members_of(const EpochPlan& plan) {
  std::set<Rank> members;
  for (const schedule::PlannedEntry& entry : plan.entries)
    for (const schedule::PlannedClique& clique : entry.cliques)
      members.insert(clique.members.begin(), clique.members.end());
  return members;
}

TEST(ContingencyTest, APlanForEverySingleLoss) {
  const Network network = schedule::shipped_network("nine-city.yaml", "access-limited");
  const auto plans = contingency_plans(network, nominal_of(network));
  ASSERT_TRUE(plans.ok()) << plans.error().message;
  // The nominal one, nine sites, eleven links, nine islands.
  ASSERT_EQ(plans->size(), 1u + 9u + 11u + 9u);
  EXPECT_TRUE(plans->front().lost_links.empty() && plans->front().lost_ranks.empty());
  for (std::size_t i = 0; i < plans->size(); ++i) {
    const EpochPlan& plan = (*plans)[i];
    SCOPED_TRACE(i);
    EXPECT_TRUE(schedule::check_plan(plan).ok());
    EXPECT_EQ(members_of(plan).size() + plan.lost_ranks.size(), 9u) << "everybody else takes part";
    EXPECT_EQ(plan.lost_links.empty() && plan.lost_ranks.empty(), i == 0);
  }
}

/// A schedule that edges cannot run is refused by name, not run as something else.
TEST(ContingencyTest, ModesThatEdgesCannotRunAreNamed) {
  const Network network = schedule::shipped_network("nine-city.yaml", "access-limited");
  for (const char* mode : {"sharded", "tree"}) {
    Nominal nominal = nominal_of(network);
    nominal.schedule = *schedule::parse_schedule(
        std::string("rounds:\n  - - [AMS, FRA]\n    - {members: [LON, NYC, TYO], mode: ") + mode + "}\n",
        "modes", network.islands);
    const auto whole = plan_without(network, nominal, {}, 1);
    ASSERT_FALSE(whole.ok());
    // Sites fold where they are asked to: then the mode tree runs.
    EXPECT_EQ(whole.error().code, ErrorCode::kNotSupported);
    EXPECT_NE(whole.error().message.find(std::string("the mode ") + mode), std::string::npos)
        << whole.error().message;
    Survivors survivors;
    survivors.lost_islands = {0};  // AMS: its clique goes, the other keeps its mode.
    const auto smaller = plan_without(network, nominal, survivors, 2);
    ASSERT_FALSE(smaller.ok());
    EXPECT_NE(smaller.error().message.find(mode), std::string::npos) << smaller.error().message;
  }
}

/// Chosen trees stay while they can; who has lost a link or a member goes the shortest way again.
TEST(ContingencyTest, ChosenTreesGoWithWhatTheyNeed) {
  const Network network = schedule::ring_of_four();
  Nominal nominal = nominal_of(network);
  nominal.schedule = {"crossed", {schedule::crossed_round()}};
  const auto sites_of = [](const EpochPlan& plan, std::size_t tree) {
    std::vector<SiteId> sites;
    for (const schedule::TreeHop& hop : plan.trees[tree].hops) sites.push_back(hop.site);
    return sites;
  };
  const auto whole = plan_without(network, nominal, {}, 1);
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  EXPECT_EQ(sites_of(*whole, 1), (std::vector<SiteId>{2, 3, 0}));
  EXPECT_EQ(sites_of(*whole, 2), (std::vector<SiteId>{1, 0, 3}));
  Survivors survivors;
  survivors.lost_links = {{0, 1}};  // P-Q: both cliques have a tree over it.
  const auto cut = plan_without(network, nominal, survivors, 2);
  ASSERT_TRUE(cut.ok()) << cut.error().message;
  EXPECT_EQ(sites_of(*cut, 0), (std::vector<SiteId>{0, 3, 2}));
  EXPECT_EQ(sites_of(*cut, 2), (std::vector<SiteId>{1, 2, 3}));
  survivors = {};
  survivors.lost_islands = {3};  // S: the clique of Q is gone, the other has lost nothing.
  const auto fewer = plan_without(network, nominal, survivors, 2);
  ASSERT_TRUE(fewer.ok()) << fewer.error().message;
  ASSERT_EQ(fewer->trees.size(), 2u);
  EXPECT_EQ(sites_of(*fewer, 1), (std::vector<SiteId>{2, 3, 0}));
}

TEST(ContingencyTest, ASiteThatIsLostTakesItsLinksAndWhoeverHangsOnIt) {
  const Network network = schedule::shipped_network("nine-city.yaml", "access-limited");
  const auto plans = contingency_plans(network, nominal_of(network));
  ASSERT_TRUE(plans.ok());
  const auto site_of = [&](const char* name) {
    return static_cast<SiteId>(std::find(network.site_names.begin(), network.site_names.end(), name) -
                               network.site_names.begin());
  };
  // Tokyo's loss cuts Seoul off too; the plan of site i is plan 1 + i.
  const EpochPlan& plan = (*plans)[1 + site_of("TYO")];
  EXPECT_EQ(plan.lost_ranks, (std::vector<Rank>{site_of("SEO"), site_of("TYO")}));
  EXPECT_EQ(plan.lost_links.size(), 3u) << "to Los Angeles, Singapore and Seoul";
}

TEST(ContingencyTest, WhatIsReservedCoversEverySinglePlan) {
  const Network network = schedule::shipped_network("nine-city.yaml", "testnet10");
  const auto plans = contingency_plans(network, nominal_of(network));
  ASSERT_TRUE(plans.ok());
  EdgePlace place{0, {}};
  for (const schedule::DirectedLink& link : network.links)
    if (link.from == 0) place.links.push_back({false, link.to});
  place.links.push_back({true, 0});
  EdgeNeeds most;
  for (const EpochPlan& plan : *plans) widen(most, edge_needs(plan, place));
  for (const EpochPlan& plan : *plans) {
    const EdgeNeeds needs = edge_needs(plan, place);
    EXPECT_LE(needs.buffers(), most.buffers());
    for (std::size_t i = 0; i < place.links.size(); ++i)
      EXPECT_LE(needs.link_windows[i], most.link_windows[i]);
  }
}

}  // namespace
}  // namespace tombolo::control
