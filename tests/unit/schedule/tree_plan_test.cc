#include "schedule/tree_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "schedule/check_plan.h"
#include "schedule/compile.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

CompileOptions tree_options() {
  return {.job = 1,
          .epoch = 1,
          .chunk_elements = 256,
          .lane_count = 4,
          .deadline_ns = 1'000'000'000,
          .update_bytes = 10'000'000,
          .tree_aggregation = true};
}

Schedule one_tree(const Network& network, SiteId root = kCentralRoot) {
  Schedule schedule = *full_schedule(network.islands);
  schedule.rounds[0].modes = {CliqueMode{Mode::kTree, root}};
  return schedule;
}

EpochPlan plan_of(const Network& network, const Schedule& schedule) {
  const auto plan = compile(network, schedule, tree_options());
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  return *plan;
}

/// How a clique folds: "[[0,1],2]".
std::string order_of(const EpochPlan& plan, const PlannedClique& clique) {
  std::map<std::uint16_t, std::string> streams;
  for (const auto& trees : clique.send_trees) streams[trees[0]] = std::to_string(plan.trees[trees[0]].source);
  std::string order;
  for (auto fold = clique.folds.rbegin(); fold != clique.folds.rend(); ++fold) {
    order.clear();
    for (const std::uint16_t tree : fold->inputs) order += (order.empty() ? "[" : ",") + streams.at(tree);
    streams[fold->tree] = order += "]";
  }
  return order;
}

std::string shown(const PlannedTree& tree) {
  std::string text = fmt::format("{}:", static_cast<int>(tree.use));
  for (const TreeHop& hop : tree.hops)
    text += fmt::format(" {}<{}[{}]", hop.site, hop.parent, fmt::join(hop.deliver, ","));
  return text;
}

TEST(TreePlan, FoldsWhereWaysMeetAndPassesOnWhereTheyDoNot) {
  // Islands 0 and 1 at site P meet there; that of R (2) meets them at the root Q, which has none.
  const Network network = shipped_network("shared-site.yaml", "standard");
  const EpochPlan plan = plan_of(network, one_tree(network));
  EXPECT_TRUE(check_plan(plan).ok()) << check_plan(plan).error().message;
  const PlannedClique& clique = plan.entries[0].cliques[0];
  EXPECT_EQ(clique.folds, (std::vector<PlannedFold>{{1, 3, {4, 2}}, {0, 4, {0, 1}}}));
  EXPECT_EQ(order_of(plan, clique), "[[0,1],2]");
  std::vector<std::string> trees;
  for (const PlannedTree& tree : plan.trees) trees.push_back(shown(tree));
  EXPECT_EQ(trees, (std::vector<std::string>{"1: 0<0[]", "1: 0<0[]", "1: 2<2[] 1<2[]",
                                             "3: 1<1[] 0<1[0,1] 2<1[2]", "2: 0<0[] 1<0[]"}));
  EXPECT_EQ(clique.latency_ns, 20'000'000u);  // R to Q 10 ms, Q to R 10 ms.
  // Links, in the file's order, P to Q first: a stream each way on each.
  for (const PlannedLink& link : plan.links) EXPECT_EQ(link.load_bps, clique.stream_rate_bps);
}

TEST(TreePlan, NineCitiesByHand) {
  // The site of least radius is Los Angeles: 90.9 ms to Buenos Aires. London folds Europe, New York that and
  // Buenos Aires, Tokyo East Asia.
  const Network network = shipped_network("nine-city.yaml", "testnet10");
  Schedule schedule = *full_schedule(network.islands);
  const EpochPlan plan = plan_of(network, schedule);
  const PlannedClique& clique = plan.entries[0].cliques[0];
  ASSERT_TRUE(clique.on_tree()) << "a mode that is left open is the quicker one: 0.982 s against 6.567 s";
  EXPECT_EQ(network.site_names[clique.folds[0].site], "LAX");
  EXPECT_EQ(order_of(plan, clique), "[[[0,2,4],1,5],3,[6,7,8]]");
  for (const PlannedLink& link : plan.links)
    EXPECT_LE(static_cast<double>(link.load_bps), kStreamShare * 10e9 + 1);
}

TEST(TreePlan, ARootThatOnlyPassesOnIsKept) {
  // Both ways come to New York by way of London.
  const Network network = shipped_network("nine-city.yaml", "testnet10");
  const auto site = [&](const char* name) {
    return static_cast<SiteId>(std::find(network.site_names.begin(), network.site_names.end(), name) -
                               network.site_names.begin());
  };
  Schedule schedule{"pair", {Round{{{0, 2}}, {CliqueMode{Mode::kTree, site("NYC")}}}}};
  const EpochPlan plan = plan_of(network, schedule);
  const PlannedClique& clique = plan.entries[0].cliques[0];
  EXPECT_EQ(order_of(plan, clique), "[[0,2]]");
  EXPECT_EQ(clique.folds[0].site, site("NYC"));
  EXPECT_EQ(clique.folds[1].site, site("LON"));
  EXPECT_TRUE(check_plan(plan).ok());
}

TEST(TreePlan, ASiteThatDoesNotAggregatePassesOn) {
  Network network = shipped_network("nine-city.yaml", "testnet10");
  network.site_aggregates.assign(9, true);
  network.site_aggregates[4] = false;  // London.
  Routes routes(network);
  PlannedClique clique;
  clique.members = full_schedule(network.islands)->rounds[0].cliques[0];
  std::vector<PlannedTree> trees;
  add_tree_folds(network, routes, 3, 0, clique, trees);
  EpochPlan plan;
  plan.trees = trees;
  EXPECT_EQ(order_of(plan, clique), "[[0,1,2,4,5],3,[6,7,8]]");
}

TEST(TreePlan, RandomNetworksGiveSoundPlans) {
  constexpr std::uint64_t kSeed = 20261130;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  for (int i = 0; i < 200; ++i) {
    const Network network = random_network(random);
    const SiteId root = static_cast<SiteId>(random.below(network.site_names.size()));
    const auto plan =
        compile(network, one_tree(network, random.chance(0.5) ? root : kCentralRoot), tree_options());
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    const Status holds = check_plan(*plan);
    ASSERT_TRUE(holds.ok()) << holds.error().message;
    for (std::size_t link = 0; link < plan->links.size(); ++link)
      EXPECT_LE(static_cast<double>(plan->links[link].load_bps),
                kStreamShare * static_cast<double>(network.links[link].capacity_bps) + 1);
  }
}

TEST(TreePlan, RefusesWhatCannotBe) {
  const Network network = shipped_network("nine-city.yaml", "testnet10");
  const auto refusal = [&](const std::function<void(CompileOptions&)>& change, const Schedule& schedule) {
    CompileOptions options = tree_options();
    change(options);
    const auto plan = compile(network, schedule, options);
    return plan.ok() ? std::string("none") : plan.error().message;
  };
  const Schedule full = *full_schedule(network.islands);
  EXPECT_EQ(refusal([](CompileOptions& o) { o.multicast = false; }, full),
            "compile: aggregation tree without multicast: its results come down by multicast");
  EXPECT_EQ(refusal([](CompileOptions& o) { o.edge_aggregation = false; }, full),
            "compile: tree_aggregation: needs edge_aggregation");
  EXPECT_EQ(refusal([](CompileOptions& o) { o.tree_aggregation = false; }, one_tree(network)),
            "compile: round 0: the mode tree needs aggregation tree");
}

struct Damage {
  const char* message;
  std::function<void(EpochPlan&, PlannedClique&)> apply;
};

TEST(CheckFolds, RefusesEachDamage) {
  // Trees 0, 1, 2 are the members', 3 the results of Q (site 1), 4 the partials of P (site 0).
  const Network network = shipped_network("shared-site.yaml", "standard");
  const EpochPlan good = plan_of(network, one_tree(network));
  const std::vector<Damage> damages{
      {"without multicast or aggregation", [](EpochPlan& p, PlannedClique&) { p.edge_aggregation = false; }},
      {"no such format of partials",
       [](EpochPlan& p, PlannedClique&) { p.partial_format = static_cast<PartialFormat>(2); }},
      {"nobody receives from members", [](EpochPlan&, PlannedClique& c) { c.receive_trees[0][1] = 0; }},
      {"is not one of rank", [](EpochPlan& p, PlannedClique&) { p.trees[0].use = TreeUse::kDirect; }},
      {"is not one of rank", [](EpochPlan&, PlannedClique& c) { c.folds.clear(); }},
      {"there is no site 9 to fold", [](EpochPlan&, PlannedClique& c) { c.folds[1].site = 9; }},
      {"has no tree", [](EpochPlan&, PlannedClique& c) { c.folds[0].tree = 4; }},
      {"which is not of its clique",
       [](EpochPlan& p, PlannedClique&) { p.trees[4].use = TreeUse::kResults; }},
      {"folds twice", [](EpochPlan&, PlannedClique& c) { c.folds[1].site = 1; }},
      {"has nothing to fold", [](EpochPlan&, PlannedClique& c) { c.folds[1].inputs.pop_back(); }},
      {"folds 0 inputs", [](EpochPlan&, PlannedClique& c) { c.folds[0].inputs.clear(); }},
      {"which is not of its clique", [](EpochPlan&, PlannedClique& c) { c.folds[0].inputs[0] = 3; }},
      {"which is not of this entry", [](EpochPlan&, PlannedClique& c) { c.folds[0].inputs[0] = 99; }},
      {"nobody sends on it",
       [](EpochPlan& p, PlannedClique&) {
         p.trees.push_back(p.trees[4]);
         p.trees.back().id = 5;
       }},
      {"rank 0 is not its source", [](EpochPlan& p, PlannedClique&) { p.trees[4].source = 0; }},
      {"twice, or before it is there",
       [](EpochPlan&, PlannedClique& c) {
         c.folds[0].inputs = {2, 2};
       }},
      {"twice, or before it is there",
       [](EpochPlan&, PlannedClique& c) {
         c.folds[1].inputs = {0, 4};
       }},
      {"out of order",
       [](EpochPlan&, PlannedClique& c) { std::swap(c.folds[1].inputs[0], c.folds[1].inputs[1]); }},
      {"does not end at site 1",
       [](EpochPlan& p, PlannedClique&) {
         p.trees[2].hops.pop_back();
         p.trees[2].hops[0].children.clear();
       }},
      {"is not a path", [](EpochPlan& p, PlannedClique&) { p.trees[0].hops[0].deliver = {0}; }},
      {"does not start at site 0", [](EpochPlan& p, PlannedClique&) { p.trees[4].hops = p.trees[2].hops; }},
      {"streams of a clique are not folded", [](EpochPlan&, PlannedClique& c) { c.folds[0].inputs = {4}; }},
      {"do not reach every member once",
       [](EpochPlan& p, PlannedClique&) { p.trees[3].hops[1].deliver = {0}; }},
      {"serves nobody", [](EpochPlan& p, PlannedClique&) { p.trees[3].hops[1].deliver = {}; }},
      {"nothing is known to use it so",
       [](EpochPlan& p, PlannedClique&) {
         p.trees.push_back(p.trees[4]);
         p.trees.back().id = 5;
         p.trees.back().use = static_cast<TreeUse>(4);
       }},
      {"lists a load", [](EpochPlan& p, PlannedClique&) { p.links[0].load_bps -= 1; }},
  };
  for (const Damage& damage : damages) {
    EpochPlan plan = good;
    damage.apply(plan, plan.entries[0].cliques[0]);
    const Status holds = check_plan(plan);
    ASSERT_FALSE(holds.ok()) << damage.message;
    EXPECT_NE(holds.error().message.find(damage.message), std::string::npos)
        << holds.error().message << " instead of " << damage.message;
  }
}

}  // namespace
}  // namespace tombolo::schedule
