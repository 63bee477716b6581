#include "control/store/plan_message.h"

#include <gtest/gtest.h>
#include <plan.pb.h>

#include <functional>
#include <string>
#include <vector>

#include "schedule/check_plan.h"
#include "schedule/compile.h"
#include "tests/unit/control/plans.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::control {
namespace {

using schedule::EpochPlan;

/// Field by field, in an order of its own: not by way of the code under test.
void expect_same(const EpochPlan& a, const EpochPlan& b) {
  EXPECT_EQ(a.job, b.job);
  EXPECT_EQ(a.epoch, b.epoch);
  EXPECT_EQ(a.multicast, b.multicast);
  EXPECT_EQ(a.edge_aggregation, b.edge_aggregation);
  EXPECT_EQ(a.chunk_elements, b.chunk_elements);
  EXPECT_EQ(a.lane_count, b.lane_count);
  EXPECT_EQ(a.deadline_ns, b.deadline_ns);
  EXPECT_EQ(a.format, b.format);
  EXPECT_EQ(a.result_format, b.result_format);
  EXPECT_EQ(a.non_finite, b.non_finite);
  EXPECT_EQ(a.site_names, b.site_names);
  EXPECT_EQ(a.lost_links, b.lost_links);
  EXPECT_EQ(a.lost_ranks, b.lost_ranks);
  ASSERT_EQ(a.islands.size(), b.islands.size());
  for (std::size_t i = 0; i < a.islands.size(); ++i) {
    EXPECT_EQ(a.islands[i].rank, b.islands[i].rank);
    EXPECT_EQ(a.islands[i].site, b.islands[i].site);
  }
  ASSERT_EQ(a.links.size(), b.links.size());
  for (std::size_t i = 0; i < a.links.size(); ++i) {
    EXPECT_EQ(a.links[i].from, b.links[i].from);
    EXPECT_EQ(a.links[i].to, b.links[i].to);
    EXPECT_EQ(a.links[i].rtt_ns, b.links[i].rtt_ns);
    EXPECT_EQ(a.links[i].load_bps, b.links[i].load_bps);
    EXPECT_EQ(a.links[i].group, b.links[i].group);
  }
  ASSERT_EQ(a.entries.size(), b.entries.size());
  for (std::size_t e = 0; e < a.entries.size(); ++e) {
    ASSERT_EQ(a.entries[e].cliques.size(), b.entries[e].cliques.size());
    for (std::size_t i = 0; i < a.entries[e].cliques.size(); ++i) {
      const schedule::PlannedClique& x = a.entries[e].cliques[i];
      const schedule::PlannedClique& y = b.entries[e].cliques[i];
      EXPECT_EQ(x.members, y.members);
      EXPECT_EQ(x.latency_ns, y.latency_ns);
      EXPECT_EQ(x.stream_rate_bps, y.stream_rate_bps);
      EXPECT_EQ(x.window_chunks, y.window_chunks);
      EXPECT_EQ(x.send_trees, y.send_trees);
      EXPECT_EQ(x.receive_trees, y.receive_trees);
      EXPECT_EQ(x.weights, y.weights);
    }
  }
  ASSERT_EQ(a.trees.size(), b.trees.size());
  for (std::size_t t = 0; t < a.trees.size(); ++t) {
    EXPECT_EQ(a.trees[t].id, b.trees[t].id);
    EXPECT_EQ(a.trees[t].source, b.trees[t].source);
    EXPECT_EQ(a.trees[t].entry, b.trees[t].entry);
    ASSERT_EQ(a.trees[t].hops.size(), b.trees[t].hops.size());
    for (std::size_t h = 0; h < a.trees[t].hops.size(); ++h) {
      EXPECT_EQ(a.trees[t].hops[h].site, b.trees[t].hops[h].site);
      EXPECT_EQ(a.trees[t].hops[h].parent, b.trees[t].hops[h].parent);
      EXPECT_EQ(a.trees[t].hops[h].children, b.trees[t].hops[h].children);
      EXPECT_EQ(a.trees[t].hops[h].deliver, b.trees[t].hops[h].deliver);
    }
  }
}

void expect_round_trip(const EpochPlan& plan) {
  v1::Plan message;
  write_plan(plan, message);
  EXPECT_EQ(plan_bytes(plan), message.SerializeAsString().size());
  v1::Plan arrived;
  ASSERT_TRUE(arrived.ParseFromString(message.SerializeAsString()));
  const auto read = read_plan(arrived);
  ASSERT_TRUE(read.ok()) << read.error().message;
  expect_same(**read, plan);
}

TEST(PlanMessage, ShippedSchedulesComeBackWhole) {
  const auto network = schedule::shipped_network("nine-city.yaml", "access-limited", 0.01);
  for (const char* name :
       {"full", "grid", "nine-city-rest.yaml", "nine-city-two-cliques.yaml", "quickstart.yaml"})
    for (const bool multicast : {false, true})
      for (const bool aggregation : {false, true}) {
        SCOPED_TRACE(name);
        const std::string text(name);
        const auto schedule = schedule::load_schedule(
            text.ends_with(".yaml") ? schedule::config_path("schedules/" + text) : text, network.islands);
        ASSERT_TRUE(schedule.ok()) << schedule.error().message;
        auto options = nine_city_options(7);
        options.multicast = multicast;
        options.edge_aggregation = aggregation;
        const auto plan = schedule::compile(network, *schedule, options);
        ASSERT_TRUE(plan.ok()) << plan.error().message;
        expect_round_trip(*plan);
      }
}

TEST(PlanMessage, LossesComeBack) { expect_round_trip(nine_city_plan_without_sin(8)); }

TEST(PlanMessage, GroupsComeBack) {
  schedule::EpochPlan plan = *nine_city_plan(9);
  plan.links[0].group = 0xe0000100;  // The lowest, 224.0.1.0, and the highest.
  plan.links[3].group = 0xefffffff;
  expect_round_trip(plan);
}

TEST(PlanMessage, FormatsWeightsAndThePolicyComeBack) {
  schedule::EpochPlan plan = *nine_city_plan(9);
  plan.format = NumberFormat::kMxFp8E4M3;
  plan.result_format = NumberFormat::kBf16;
  plan.non_finite = NonFinitePolicy::kReject;
  for (auto& clique : plan.entries[0].cliques)
    for (std::size_t i = 0; i < clique.members.size(); ++i)
      clique.weights.push_back(0.1f + static_cast<float>(i));
  expect_round_trip(plan);
}

TEST(PlanMessage, RandomPlansComeBackWhole) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    const auto network = schedule::random_network(random);
    const auto schedule = schedule::random_schedule(random, network.islands.size());
    const auto plan =
        schedule::compile(network, schedule,
                          {.job = static_cast<std::uint16_t>(random.bits()),
                           .epoch = static_cast<std::uint32_t>(random.bits() | 1),
                           .chunk_elements = static_cast<std::uint32_t>(32 * (1 + random.below(64))),
                           .lane_count = static_cast<std::uint16_t>(1 + random.below(16)),
                           .deadline_ns = random.bits() | 1,
                           .update_bytes = 1 + random.below(1'000'000'000),
                           .multicast = random.chance(0.5),
                           .edge_aggregation = random.chance(0.5)});
    ASSERT_TRUE(plan.ok()) << plan.error().message;
    expect_round_trip(*plan);
  }
}

struct Hostile {
  const char* says;
  std::function<void(v1::Plan&)> damage;
};

std::vector<Hostile> damages_to_numbers_and_places() {
  return {
      {"plan: job: 65536 is more than 65535", [](v1::Plan& p) { p.set_job(65536); }},
      {"plan: lane_count: 4294967295", [](v1::Plan& p) { p.set_lane_count(0xffffffff); }},
      {"plan: epoch plan: the epoch is 0", [](v1::Plan& p) { p.set_epoch(0); }},
      {"chunk_elements", [](v1::Plan& p) { p.set_chunk_elements(31); }},
      {"plan: format: there is no number format 8", [](v1::Plan& p) { p.set_format(8); }},
      {"plan: result_format: there is no number format 257", [](v1::Plan& p) { p.set_result_format(257); }},
      {"a number format is not known", [](v1::Plan& p) { p.clear_format(); }},
      {"plan: non_finite: there is no policy 3", [](v1::Plan& p) { p.set_non_finite(3); }},
      {"entries[0].cliques[0].weights: 65 of them",
       [](v1::Plan& p) {
         auto& clique = *p.mutable_entries(0)->mutable_cliques(0);
         while (clique.weights_size() < 65) clique.add_weights(1);
       }},
      {"a weight is no normal number",
       [](v1::Plan& p) {
         auto& clique = *p.mutable_entries(0)->mutable_cliques(0);
         for (int i = 0; i < clique.members_size(); ++i) clique.add_weights(-1);
       }},
      {"site_names[2]: must be", [](v1::Plan& p) { p.set_site_names(2, "a\nb"); }},
      {"site_names[0]: must be", [](v1::Plan& p) { p.set_site_names(0, ""); }},
      {"site_names[0]: must be", [](v1::Plan& p) { p.set_site_names(0, std::string(33, 'x')); }},
      {"site_names: 1009 of them; at most 1000",
       [](v1::Plan& p) {
         for (int i = 0; i < 1000; ++i) p.add_site_names("x");
       }},
      {"island_sites[3]: 70000", [](v1::Plan& p) { p.set_island_sites(3, 70000); }},
      {"island_sites: 1033 of them",
       [](v1::Plan& p) {
         for (int i = 0; i < 1024; ++i) p.add_island_sites(0);
       }},
      {"links[1].to: 65536", [](v1::Plan& p) { p.mutable_links(1)->set_to(65536); }},
      {"link 0: its group is not in", [](v1::Plan& p) { p.mutable_links(0)->set_group(0x0a000001); }},
      {"links[0].from: 65536", [](v1::Plan& p) { p.mutable_links(0)->set_from(65536); }},
      {"lost_links[0]: 99999", [](v1::Plan& p) { p.add_lost_links()->set_b(99999); }},
      {"lost link 0", [](v1::Plan& p) { p.add_lost_links(); }},
      {"lost_ranks[0]: 65536", [](v1::Plan& p) { p.add_lost_ranks(65536); }},
      {"there is no lost rank 9", [](v1::Plan& p) { p.add_lost_ranks(9); }},
      {"is lost", [](v1::Plan& p) { p.add_lost_ranks(3); }},
  };
}

std::vector<Hostile> damages_to_entries_and_trees() {
  return {
      {"entries: 4097 of them",
       [](v1::Plan& p) {
         while (p.entries_size() < 4097) p.add_entries();
       }},
      {"there are no entries", [](v1::Plan& p) { p.clear_entries(); }},
      {"entries[1].cliques: 513 of them",
       [](v1::Plan& p) {
         while (p.entries(1).cliques_size() < 513) p.mutable_entries(1)->add_cliques();
       }},
      {"entries[0].cliques[1].members[0]: 65536",
       [](v1::Plan& p) { p.mutable_entries(0)->mutable_cliques(1)->set_members(0, 65536); }},
      {"entries[0].cliques[0].members: 65 of them",
       [](v1::Plan& p) {
         auto& clique = *p.mutable_entries(0)->mutable_cliques(0);
         while (clique.members_size() < 65) clique.add_members(0);
       }},
      {"entries[0].cliques[0].send_trees[1]: 66 of them",
       [](v1::Plan& p) {
         auto& trees = *p.mutable_entries(0)->mutable_cliques(0)->mutable_send_trees(1);
         while (trees.trees_size() < 66) trees.add_trees(0);
       }},
      {"entries[0].cliques[2].receive_trees[2][0]: 65536",
       [](v1::Plan& p) {
         p.mutable_entries(0)->mutable_cliques(2)->mutable_receive_trees(2)->set_trees(0, 65536);
       }},
      {"entries[0].cliques[0].receive_trees: 65 of them",
       [](v1::Plan& p) {
         auto& clique = *p.mutable_entries(0)->mutable_cliques(0);
         while (clique.receive_trees_size() < 65) clique.add_receive_trees();
       }},
      {"trees: 65535 of them",
       [](v1::Plan& p) {
         while (p.trees_size() < 65535) p.add_trees();
       }},
      {"trees[4].source: 65536", [](v1::Plan& p) { p.mutable_trees(4)->set_source(65536); }},
      {"tree 4 is not one of rank", [](v1::Plan& p) { p.mutable_trees(4)->set_entry(2); }},
      {"trees[2].hops[1].site: 65536",
       [](v1::Plan& p) { p.mutable_trees(2)->mutable_hops(1)->set_site(65536); }},
      {"trees[2].hops[1].parent: 65536",
       [](v1::Plan& p) { p.mutable_trees(2)->mutable_hops(1)->set_parent(65536); }},
      {"trees[0].hops[0].children[0]: 65536",
       [](v1::Plan& p) { p.mutable_trees(0)->mutable_hops(0)->set_children(0, 65536); }},
      {"trees[0].hops[0].deliver: 65 of them",
       [](v1::Plan& p) {
         auto& hop = *p.mutable_trees(0)->mutable_hops(0);
         while (hop.deliver_size() < 65) hop.add_deliver(0);
       }},
      {"trees[0].hops: 1001 of them",
       [](v1::Plan& p) {
         auto& tree = *p.mutable_trees(0);
         while (tree.hops_size() < 1001) tree.add_hops();
       }},
      {"lists a load of", [](v1::Plan& p) { p.mutable_links(0)->set_load_bps(~std::uint64_t{0}); }},
  };
}

void expect_each_refused(const std::vector<Hostile>& table) {
  v1::Plan good;
  write_plan(*nine_city_plan(3), good);
  ASSERT_TRUE(read_plan(good).ok());
  for (const Hostile& hostile : table) {
    v1::Plan message = good;
    hostile.damage(message);
    const auto read = read_plan(message);
    ASSERT_FALSE(read.ok()) << hostile.says;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(read.error().message.find(hostile.says), std::string::npos)
        << read.error().message << "\ninstead of " << hostile.says;
  }
}

TEST(PlanMessage, RefusesEachDamageByName) {
  expect_each_refused(damages_to_numbers_and_places());
  expect_each_refused(damages_to_entries_and_trees());
}

TEST(StateMessage, ComesBackWithAndWithoutAPlan) {
  const AgentSnapshot empty{.term = 5, .newest_epoch = 9, .plan = nullptr, .activating_round = 0};
  const auto read_empty = read_agent_snapshot(write_state(empty));
  ASSERT_TRUE(read_empty.ok()) << read_empty.error().message;
  EXPECT_EQ(read_empty->term, 5u);
  EXPECT_EQ(read_empty->newest_epoch, 9u);
  EXPECT_EQ(read_empty->plan, nullptr);

  const ControllerState full{.term = ~Term{0},
                             .newest_epoch = 0xffffffff,
                             .plan = nine_city_plan(3),
                             .activating_round = 0xfffffffe};
  const auto read_full = read_controller_state(write_state(full));
  ASSERT_TRUE(read_full.ok()) << read_full.error().message;
  EXPECT_EQ(read_full->term, ~Term{0});
  EXPECT_EQ(read_full->newest_epoch, 0xffffffffu);
  EXPECT_EQ(read_full->activating_round, 0xfffffffeu);
  expect_same(*read_full->plan, *full.plan);
}

TEST(StateMessage, RefusesWhatContradictsItself) {
  const AgentSnapshot old_number{
      .term = 1, .newest_epoch = 2, .plan = nine_city_plan(3), .activating_round = 0};
  EXPECT_NE(read_agent_snapshot(write_state(old_number)).error().message.find("newest_epoch: 2"),
            std::string::npos);
  const AgentSnapshot no_plan{.term = 1, .newest_epoch = 2, .plan = nullptr, .activating_round = 4};
  EXPECT_NE(read_agent_snapshot(write_state(no_plan)).error().message.find("activating_round: 4"),
            std::string::npos);
  EXPECT_FALSE(read_agent_snapshot("\xff\xff\xff").ok());
  EXPECT_TRUE(read_agent_snapshot("").ok()) << "no bytes are a message of defaults";
}

}  // namespace
}  // namespace tombolo::control
