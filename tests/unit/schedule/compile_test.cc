#include "schedule/compile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "protocol/port.h"
#include "schedule/check_plan.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

static_assert(kPacketOverheadBytes == kHeaderBytes + kFramingBytes);
static_assert(kLargestPayloadBytes == kMaxPayloadBytes);

CompileOptions options(bool multicast, bool edge_aggregation) {
  return {.job = 3,
          .epoch = 7,
          .chunk_elements = 256,
          .lane_count = 4,
          .deadline_ns = 1'000'000'000,
          .update_bytes = 10'000'000,
          .multicast = multicast,
          .edge_aggregation = edge_aggregation};
}

/// A tree as "source: site<parent[deliver] ...", to compare at a glance.
std::string shown(const PlannedTree& tree) {
  std::string text = fmt::format("{}:", tree.source);
  for (const TreeHop& hop : tree.hops)
    text += fmt::format(" {}<{}[{}]", hop.site, hop.parent, fmt::join(hop.deliver, ","));
  return text;
}

std::vector<std::string> shown(const EpochPlan& plan) {
  std::vector<std::string> trees;
  for (const PlannedTree& tree : plan.trees) trees.push_back(shown(tree));
  return trees;
}

/// Islands 0 and 1 at site P, island 2 at R behind the forwarding site Q.
EpochPlan shared_site_plan(bool multicast, bool edge_aggregation) {
  const Network network = shipped_network("shared-site.yaml", "standard");
  const auto plan = compile(network, *full_schedule(network.islands), options(multicast, edge_aggregation));
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  return *plan;
}

using Trees = std::vector<std::string>;
using Table = std::vector<std::vector<std::uint16_t>>;

TEST(Compile, TreesWithMulticastAndAggregation) {
  const EpochPlan plan = shared_site_plan(true, true);
  EXPECT_EQ(shown(plan),
            (Trees{"0: 0<0[0,1] 1<0[] 2<1[2]", "1: 0<0[0,1] 1<0[] 2<1[2]", "2: 2<2[2] 1<2[] 0<1[0,1]"}));
  const PlannedClique& clique = plan.entries[0].cliques[0];
  EXPECT_EQ(clique.send_trees, (Table{{0}, {1}, {2}}));
  EXPECT_EQ(clique.receive_trees, (Table{{0, 1, 2}, {0, 1, 2}, {0, 1, 2}}));
}

TEST(Compile, TreesWithMulticastOnly) {
  const EpochPlan plan = shared_site_plan(true, false);
  EXPECT_EQ(shown(plan),
            (Trees{"0: 0<0[1] 1<0[] 2<1[2]", "1: 0<0[0] 1<0[] 2<1[2]", "2: 2<2[] 1<2[] 0<1[0,1]"}));
  EXPECT_EQ(plan.entries[0].cliques[0].receive_trees,
            (Table{{kNoTreeId, 1, 2}, {0, kNoTreeId, 2}, {0, 1, kNoTreeId}}));
}

TEST(Compile, TreesWithoutMulticast) {
  // The first of a source's trees also reaches its own edge, which folds.
  const EpochPlan edge = shared_site_plan(false, true);
  EXPECT_EQ(shown(edge), (Trees{"0: 0<0[0,1]", "0: 0<0[] 1<0[] 2<1[2]", "1: 0<0[0,1]",
                                "1: 0<0[] 1<0[] 2<1[2]", "2: 2<2[2] 1<2[] 0<1[0]", "2: 2<2[] 1<2[] 0<1[1]"}));
  EXPECT_EQ(edge.entries[0].cliques[0].send_trees, (Table{{0, 1}, {2, 3}, {4, 5}}));
  EXPECT_EQ(edge.entries[0].cliques[0].receive_trees, (Table{{0, 2, 4}, {0, 2, 5}, {1, 3, 4}}));

  const EpochPlan none = shared_site_plan(false, false);
  EXPECT_EQ(shown(none), (Trees{"0: 0<0[1]", "0: 0<0[] 1<0[] 2<1[2]", "1: 0<0[0]", "1: 0<0[] 1<0[] 2<1[2]",
                                "2: 2<2[] 1<2[] 0<1[0]", "2: 2<2[] 1<2[] 0<1[1]"}));
}

TEST(Compile, GoesByChosenTrees) {
  const Network network = ring_of_four();
  for (const bool multicast : {true, false}) {
    const auto plan = compile(network, {"crossed", {crossed_round()}}, options(multicast, false));
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    EXPECT_TRUE(check_plan(*plan).ok());
    EXPECT_EQ(shown(*plan), (Trees{"0: 0<0[] 1<0[] 2<1[2]", "2: 2<2[] 3<2[] 0<3[0]", "1: 1<1[] 0<1[] 3<0[3]",
                                   "3: 3<3[] 2<3[] 1<2[1]"}));
    // Both cliques have one way over R-S: 2 + 1 ms. Every link carries one stream at 0.97 of its capacity.
    for (const PlannedClique& clique : plan->entries[0].cliques) EXPECT_EQ(clique.latency_ns, 3'000'000u);
    for (const PlannedLink& link : plan->links)
      EXPECT_NEAR(static_cast<double>(link.load_bps), 0.97e9, 2) << link.from << "-" << link.to;
  }
}

TEST(Compile, WithoutMulticastATreeIsPaths) {
  const Network network = ring_of_four();
  const Round round{.cliques = {{0, 1, 2}}, .trees = {{{{0, 3}, {3, 2}, {2, 1}}, {}, {}}}};
  const auto plan = compile(network, {"round", {round}}, options(false, true));
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_TRUE(check_plan(*plan).ok());
  const auto trees = shown(*plan);
  EXPECT_EQ(trees[0], "0: 0<0[0] 3<0[] 2<3[] 1<2[1]");
  EXPECT_EQ(trees[1], "0: 0<0[] 3<0[] 2<3[2]");
  EXPECT_EQ(trees[2], "1: 1<1[1] 0<1[0]");  // Without a tree of its own, the shortest way.
}

TEST(Compile, RefusesTreesThatDoNotFitTheNetwork) {
  Network network = ring_of_four();
  Round round = crossed_round();
  round.trees[0][0] = {{0, 2}};
  const auto missing = compile(network, {"round", {round}}, options(true, true));
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, "compile: round 0: the tree of island P: there is no link P-R");
  network.explicit_trees = false;
  const auto refused = compile(network, {"round", {crossed_round()}}, options(true, true));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message,
            "compile: round 0: the clique of island P: has trees of its own; the network does not let us "
            "choose them");
}

TEST(Compile, RateWindowAndLoadByHand) {
  // Two islands, A and B of three-site.yaml: 5 ms apart, 10 Gbit/s everywhere, nothing shared.
  const Network network = shipped_network("three-site.yaml", "even");
  const Schedule pair{"pair", {Round{{{0, 1}}}}};
  CompileOptions with = options(true, true);
  with.update_bytes = 1'000'000'000;
  const auto plan = compile(network, pair, with);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  const PlannedClique& clique = plan->entries[0].cliques[0];
  EXPECT_EQ(clique.latency_ns, 5'000'000u);
  // A clique alone on a 10 Gbit/s access link streams at 0.97 of it, whatever the packet's overhead.
  EXPECT_NEAR(static_cast<double>(clique.stream_rate_bps), 9.7e9, 2);
  // Covered: 2 x 5 + 10 + 30 ms at 9.7 Gbit/s of packets of 1130 bytes.
  const double chunks = std::ceil(1.25 * 9.7e9 * 0.050 / (8 * (1024 + 106)));
  EXPECT_EQ(clique.window_chunks, static_cast<std::uint32_t>(std::ceil((chunks + 64) / 4) * 4));
  ASSERT_EQ(plan->links.size(), 4u);
  EXPECT_EQ(plan->links[0].load_bps, clique.stream_rate_bps);
  EXPECT_EQ(plan->links[1].load_bps, clique.stream_rate_bps);
  EXPECT_EQ(plan->links[2].load_bps, 0u);
  EXPECT_EQ(plan->links[2].rtt_ns, 30'000'000u);
  EXPECT_EQ(plan->job, 3u);
  EXPECT_EQ(plan->epoch, 7u);

  // A window is never larger than the update: 1025 bytes are two chunks of 1024, in lanes of 4.
  with.update_bytes = 1025;
  EXPECT_EQ(compile(network, pair, with)->entries[0].cliques[0].window_chunks, 4u);
}

TEST(Compile, WireBytesOfAnUpdate) {
  EXPECT_DOUBLE_EQ(update_wire_bytes(8'192'000, 2048), 8'298'000);  // 1000 chunks of 8192 + 106.
}

/// What each core link and each island's access carries in an entry, added up from the trees.
struct Carried {
  std::map<std::pair<SiteId, SiteId>, double> core_bps;
  std::map<Rank, double> egress_bps;
  std::map<Rank, double> ingress_bps;
};

Carried carried(const EpochPlan& plan, std::size_t entry) {
  Carried sum;
  for (const PlannedClique& clique : plan.entries[entry].cliques) {
    const auto rate_bps = static_cast<double>(clique.stream_rate_bps);
    // An edge that aggregates sends its island one stream of results.
    if (plan.edge_aggregation)
      for (const Rank rank : clique.members) sum.ingress_bps[rank] += rate_bps;
    for (const auto& trees : clique.send_trees)
      for (const std::uint16_t id : trees) {
        sum.egress_bps[plan.trees[id].source] += rate_bps;
        for (const TreeHop& hop : plan.trees[id].hops) {
          if (hop.parent != hop.site) sum.core_bps[{hop.parent, hop.site}] += rate_bps;
          if (!plan.edge_aggregation)
            for (const Rank rank : hop.deliver) sum.ingress_bps[rank] += rate_bps;
        }
      }
  }
  return sum;
}

TEST(Compile, RandomPlansHoldAndFillTheirBottleneckTo97Percent) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Network network = random_network(random);
    const Schedule schedule = random_schedule(random, network.islands.size());
    CompileOptions with = options(random.chance(0.5), random.chance(0.5));
    with.lane_count = static_cast<std::uint16_t>(1 + random.below(8));
    const auto plan = compile(network, schedule, with);
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    const Status holds = check_plan(*plan);
    ASSERT_TRUE(holds.ok()) << holds.error().message;
    ASSERT_EQ(plan->entries.size(), schedule.rounds.size());
    for (std::size_t entry = 0; entry < plan->entries.size(); ++entry) {
      ASSERT_EQ(plan->entries[entry].cliques.size(), schedule.rounds[entry].cliques.size());
      Carried sum = carried(*plan, entry);
      double most = 0;
      for (std::size_t i = 0; i < network.links.size(); ++i) {
        const double bps = sum.core_bps[{network.links[i].from, network.links[i].to}];
        EXPECT_LE(bps, static_cast<double>(plan->links[i].load_bps));
        most = std::max(most, bps / static_cast<double>(network.links[i].capacity_bps));
      }
      for (Rank rank = 0; rank < network.islands.size(); ++rank) {
        const SiteId site = network.islands[rank].site;
        most = std::max(most, sum.egress_bps[rank] / static_cast<double>(network.egress_bps[site]));
        most = std::max(most, sum.ingress_bps[rank] / static_cast<double>(network.ingress_bps[site]));
      }
      EXPECT_LE(most, 0.97 + 1e-9);
      EXPECT_GE(most, 0.97 - 1e-6);
    }
  }
}

TEST(Compile, IsDeterministic) {
  const Network network = shipped_network("nine-city.yaml", "mixed", 0.01);
  const Schedule grid = *grid_schedule(network.islands);
  const auto a = compile(network, grid, options(true, true));
  const auto b = compile(network, grid, options(true, true));
  EXPECT_EQ(shown(*a), shown(*b));
  EXPECT_EQ(a->entries[1].cliques[2].stream_rate_bps, b->entries[1].cliques[2].stream_rate_bps);
}

TEST(Compile, RefusesBadOptions) {
  const Network network = shipped_network("three-site.yaml", "even");
  const Schedule full = *full_schedule(network.islands);
  using Change = std::function<void(CompileOptions&)>;
  const std::vector<std::pair<const char*, Change>> cases{
      {"epoch", [](CompileOptions& o) { o.epoch = 0; }},
      {"chunk_elements", [](CompileOptions& o) { o.chunk_elements = 0; }},
      {"chunk_elements", [](CompileOptions& o) { o.chunk_elements = 33; }},
      {"chunk_elements", [](CompileOptions& o) { o.chunk_elements = 2080; }},
      {"chunk_elements",
       [](CompileOptions& o) {
         o.format = NumberFormat::kMxInt8;  // In fp32 the result would not fit.
         o.chunk_elements = 4096;
       }},
      {"format", [](CompileOptions& o) { o.format = NumberFormat::kNone; }},
      {"result_format", [](CompileOptions& o) { o.result_format = NumberFormat::kNone; }},
      {"lane_count", [](CompileOptions& o) { o.lane_count = 0; }},
      {"deadline_ns", [](CompileOptions& o) { o.deadline_ns = 0; }},
      {"update_bytes", [](CompileOptions& o) { o.update_bytes = 0; }},
      {"update_bytes", [](CompileOptions& o) { o.update_bytes = std::uint64_t{1} << 53; }},
      {"update_bytes", [](CompileOptions& o) { o.update_bytes = ~std::uint64_t{0}; }},
  };
  for (const auto& [name, change] : cases) {
    CompileOptions with = options(true, true);
    change(with);
    const auto plan = compile(network, full, with);
    ASSERT_FALSE(plan.ok()) << name;
    EXPECT_EQ(plan.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(plan.error().message.find(name), std::string::npos) << plan.error().message;
  }
}

TEST(Compile, OneByteFormatsFillJumboPacketsAndResultsCount) {
  const Network network = shipped_network("nine-city.yaml", "access-limited", 0.01);
  const Schedule full = *full_schedule(network.islands);
  CompileOptions narrow = options(true, true);
  narrow.format = narrow.result_format = NumberFormat::kMxInt8;
  narrow.chunk_elements = 7936;
  narrow.update_bytes = 33 * 1'000'000;
  const auto same = compile(network, full, narrow);
  ASSERT_TRUE(same.ok()) << same.error().message;
  EXPECT_EQ(same->max_payload_bytes(), 8184u);
  EXPECT_EQ(update_wire_bytes(8184 * 1000, 7936, NumberFormat::kMxInt8), (8184 + 106) * 1000);

  // Results of two bytes for each element: 2112 bytes in, 4096 out, so what an island receives is 4202 / 2218
  // of what it sends. Ingress is as wide as egress here, and no longer the egress is what holds the round up.
  narrow.chunk_elements = 2048;
  const auto one = compile(network, full, narrow);
  narrow.result_format = NumberFormat::kBf16;
  const auto wide = compile(network, full, narrow);
  ASSERT_TRUE(one.ok() && wide.ok());
  EXPECT_EQ(wide->max_payload_bytes(), 4096u);
  const double ratio = 4202.0 / 2218.0;
  EXPECT_NEAR(static_cast<double>(network.ingress_bps[0]) /
                  static_cast<double>(network_for(network, narrow).ingress_bps[0]),
              ratio, 1e-6);
  EXPECT_EQ(network_for(network, narrow).links[0].capacity_bps, network.links[0].capacity_bps);
  EXPECT_NEAR(static_cast<double>(network.ingress_bps[0]) /
                  static_cast<double>(network_for(network, narrow, 0).ingress_bps[0]),
              4096.0 / 2112.0, 1e-6);
  const auto rate = [](const EpochPlan& plan) {
    return static_cast<double>(plan.entries[0].cliques[0].stream_rate_bps);
  };
  EXPECT_NEAR(rate(*one) / rate(*wide), ratio, 1e-6);
  // An island that folds itself receives updates, and the format of its result crosses nothing.
  narrow.edge_aggregation = false;
  const auto folded_at_home = compile(network, full, narrow);
  narrow.result_format = NumberFormat::kMxInt8;
  EXPECT_EQ(rate(*folded_at_home), rate(*compile(network, full, narrow)));
}

TEST(Compile, PartialsOfTreesFitAndCount) {
  const Network network = shipped_network("nine-city.yaml", "access-limited", 0.01);
  const Schedule full = *full_schedule(network.islands);
  CompileOptions trees = options(true, true);
  trees.tree_aggregation = true;
  trees.format = trees.result_format = NumberFormat::kBf16;
  trees.chunk_elements = 2048;
  const auto plan = compile(network, full, trees);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->max_payload_bytes(), plan->has_trees() ? 8192u : 4096u);
  // 4202 bytes of an update on the wire, 8298 of a partial in fp32.
  EXPECT_NEAR(static_cast<double>(network.links[0].capacity_bps) /
                  static_cast<double>(network_for(network, trees).links[0].capacity_bps),
              8298.0 / 4202.0, 1e-6);
  trees.partial_format = PartialFormat::kUpdate;
  EXPECT_EQ(network_for(network, trees).links[0].capacity_bps, network.links[0].capacity_bps);
  trees.chunk_elements = 4096;
  EXPECT_TRUE(compile(network, full, trees).ok());
  trees.partial_format = PartialFormat::kFp32;
  EXPECT_FALSE(compile(network, full, trees).ok()) << "partials of 16384 bytes";
  trees.chunk_elements = 2048;
  trees.non_finite = NonFinitePolicy::kReject;
  const auto refused = compile(network, full, trees);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kNotSupported);
}

TEST(Compile, WeightsGoWithTheMembers) {
  const Network network = shipped_network("nine-city.yaml", "access-limited", 0.01);
  Schedule grid = *grid_schedule(network.islands);
  EXPECT_TRUE(compile(network, grid, options(true, true))->entries[0].cliques[0].weights.empty());
  for (std::size_t rank = 0; rank < 9; ++rank) grid.weights.push_back(1 + static_cast<float>(rank) / 4);
  const auto plan = compile(network, grid, options(true, true));
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  for (const PlannedEntry& entry : plan->entries)
    for (const PlannedClique& clique : entry.cliques)
      for (std::size_t i = 0; i < clique.members.size(); ++i)
        EXPECT_EQ(clique.weights[i], 1 + static_cast<float>(clique.members[i]) / 4);
  grid.weights.pop_back();
  EXPECT_FALSE(compile(network, grid, options(true, true)).ok());
  grid.weights.push_back(0);
  EXPECT_FALSE(compile(network, grid, options(true, true)).ok());
}

TEST(Compile, RefusesTooManyTrees) {
  std::string text =
      "sites: [{id: A}]\nlinks: []\nprofiles: {p: {egress_gbps: 1, ingress_gbps: 1}}\nislands:\n";
  for (int i = 0; i < 64; ++i) text += fmt::format("  - {{id: i{}, site: A}}\n", i);
  const auto topology = parse_topology(text, "crowd");
  ASSERT_TRUE(topology.ok()) << topology.error().message;
  const Network network = *resolve(*topology, "p");
  // 64 x 63 trees a round without multicast: 16 rounds fit, 17 do not.
  Schedule schedule{"many", std::vector<Round>(17, full_schedule(network.islands)->rounds[0])};
  const auto many = compile(network, schedule, options(false, true));
  ASSERT_FALSE(many.ok());
  EXPECT_NE(many.error().message.find("68544 trees"), std::string::npos) << many.error().message;
  schedule.rounds.resize(16);
  EXPECT_TRUE(compile(network, schedule, options(false, true)).ok());
}

TEST(Compile, RefusesSchedulesThatDoNotFit) {
  const Network network = shipped_network("nine-city.yaml", "mixed");
  Clique large;
  for (Rank rank = 0; rank < 65; ++rank) large.push_back(rank);
  const std::vector<std::pair<std::vector<Round>, const char*>> cases{
      {{}, "no rounds"},
      {{Round{}}, "round 0: has no clique"},
      {{Round{{{0, 1}}}, Round{{{3}}}}, "round 1: a clique of 1"},
      {{Round{{large}}}, "round 0: a clique of 65"},
      {{Round{{{0, 9}}}}, "rank 9"},
      {{Round{{{1, 0}}}}, "rank 0"},
      {{Round{{{0, 1}, {1, 2}}}}, "rank 1"},
  };
  for (const auto& [rounds, expected] : cases) {
    const auto plan = compile(network, Schedule{"bad", rounds}, options(true, true));
    ASSERT_FALSE(plan.ok()) << expected;
    EXPECT_NE(plan.error().message.find(expected), std::string::npos) << plan.error().message;
  }
}

TEST(Compile, NamesWhatEdgesCannotRunYet) {
  const Network network = shipped_network("three-site.yaml", "even");
  const auto refused = [](const Network& with, const Schedule& schedule, const char* named) {
    const auto plan = compile(with, schedule, options(true, true));
    ASSERT_FALSE(plan.ok()) << named;
    EXPECT_EQ(plan.error().code, ErrorCode::kNotSupported);
    EXPECT_NE(plan.error().message.find(named), std::string::npos) << plan.error().message;
  };
  Schedule schedule = *full_schedule(network.islands);
  schedule.rounds.push_back(schedule.rounds[0]);
  schedule.rounds[1].modes = {CliqueMode{Mode::kSharded}};
  refused(network, schedule, "round 1: edges cannot run the mode sharded");
  schedule.rounds[1].modes = {CliqueMode{Mode::kTree, 1}};
  refused(network, schedule, "round 1: the mode tree needs aggregation tree");
  schedule.rounds[1].modes = {CliqueMode{Mode::kDirect}};
  EXPECT_TRUE(compile(network, schedule, options(true, true)).ok());
  Round rest;
  rest.rest_s = 1;
  schedule.rounds[1] = rest;
  refused(network, schedule, "round 1: edges cannot run a rest");

  schedule.rounds.resize(1);
  Network mixed = network;
  mixed.links[2].multicast = false;
  refused(mixed, schedule, "switch multicast off");
  EXPECT_TRUE(compile(mixed, schedule, options(false, true)).ok());
  mixed = network;
  mixed.site_aggregates = {true, false, true};
  refused(mixed, schedule, "set aggregation none");
  EXPECT_TRUE(compile(mixed, schedule, options(true, false)).ok());
}

}  // namespace
}  // namespace tombolo::schedule
