#include "schedule/baselines/servers.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <vector>

#include "schedule/baselines/async.h"
#include "schedule/baselines/tree_packing.h"
#include "tests/unit/schedule/baselines/scenes.h"

namespace tombolo::schedule::baselines {
namespace {

/// A line A - B - C: 10 ms and 20 ms one way, all links and accesses 8 Gbit/s, 1 GB: 1 s per update.
Network line() {
  return parsed_network(R"(
sites: [{id: A}, {id: B}, {id: C}]
links:
  - {a: A, b: B, one_way_ms: {ab: 10, ba: 10}}
  - {a: B, b: C, one_way_ms: {ab: 20, ba: 20}}
profiles:
  p: {core_gbps: 8, egress_gbps: 8, ingress_gbps: 8}
)");
}

TEST(ServerTime, CountsWhatEachCapabilitySaves) {
  // At B nothing meets in the core; B's access carries 2 each way, or 1 with both capabilities.
  const TestScene none(line(), {false, Aggregation::kNone}, 1e9);
  EXPECT_NEAR(server_time_s(none.scene(), 1), 2.04, 1e-9);
  const TestScene both(line(), {true, Aggregation::kEdge}, 1e9);
  EXPECT_NEAR(server_time_s(both.scene(), 1), 1.04, 1e-9);
  // At A the link B to A carries the updates of B and C, unless they are summed at B.
  EXPECT_NEAR(server_time_s(both.scene(), 0), 2.06, 1e-9);
  const TestScene tree(line(), {true, Aggregation::kTree}, 1e9);
  EXPECT_NEAR(server_time_s(tree.scene(), 0), 1.06, 1e-9);
  const Baseline row = parameter_server(tree.scene());
  EXPECT_EQ(row.choices, "server at B");
  EXPECT_NEAR(row.disagreement_s, 1.5 * 1.04 * 2 / 3, 1e-9);
}

/// Without help of the network no all-reduce moves less than 2 (n-1)/n updates through some access; on equal
/// access links trees reach that.
/// Where A does not replicate and the link B to C carries no multicast, copies travel apart from there on.
TEST(PatternTime, FollowsWhatSitesAndLinksCanDo) {
  const Message to_both[] = {{0, 1}, {0, 2}};
  const TestScene all(line(), {true, Aggregation::kEdge}, 1e9);
  EXPECT_NEAR(all.scene().pattern_time_s(to_both), 1.03, 1e-9);
  Capabilities some{true, Aggregation::kEdge};
  some.site_replicates = {false, true, true};
  const TestScene apart(line(), some, 1e9);
  EXPECT_NEAR(apart.scene().pattern_time_s(to_both), 2.03, 1e-9);
  // From C both receivers lie behind the link C to B: without multicast it carries two.
  const Message back[] = {{2, 1}, {2, 0}};
  EXPECT_NEAR(all.scene().pattern_time_s(back), 1.03, 1e-9);
  Capabilities plain_link{true, Aggregation::kEdge};
  plain_link.link_multicast = {true, true, false, false};
  const TestScene link(line(), plain_link, 1e9);
  EXPECT_NEAR(link.scene().pattern_time_s(back), 2.03, 1e-9);
  // Different payloads never share.
  const Message different[] = {{2, 1, 1, 0, 0}, {2, 0, 1, 0, 1}};
  EXPECT_NEAR(all.scene().pattern_time_s(different), 2.03, 1e-9);
}

TEST(PackTrees, ReachesTheBandwidthBoundOnEqualLinks) {
  for (const std::size_t n : {2, 3, 5, 8}) {
    const TestScene test(equal_network(n, 8), {true, Aggregation::kEdge}, 1e9);
    const TreePacking packing = pack_trees(test.scene());
    EXPECT_NEAR(packing.seconds, 2 * static_cast<double>(n - 1) / static_cast<double>(n), 1e-5) << n;
  }
}

TEST(PackTrees, IsAPackingOfSpanningTrees) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const TestScene test(random_network(random), {}, 1e8);
    const Scene& scene = test.scene();
    const TreePacking packing = pack_trees(scene);
    std::vector<double> loads(scene.resources(), 0.0);
    double share = 0;
    double latency_s = 0;
    for (const PackedTree& tree : packing.trees) {
      share += tree.share;
      latency_s = std::max(latency_s, tree.latency_s);
      EXPECT_EQ(tree.edges.size(), scene.islands() - 1);
      // Connected with n - 1 edges: no solution of L x = 0 but the constant.
      EXPECT_EQ(laplacian(tree.edges, scene.islands()).fullPivLu().rank(),
                static_cast<Eigen::Index>(scene.islands()) - 1);
      for (const auto& [a, b] : tree.edges)
        for (const auto& [from, to] : {Edge{a, b}, Edge{b, a}}) {
          loads[from] += tree.share;
          loads[scene.islands() + to] += tree.share;
          for (const std::uint32_t link : scene.path(from, to)) loads[link] += tree.share;
        }
    }
    double busy_s = 0;
    for (std::size_t r = 0; r < loads.size(); ++r) busy_s = std::max(busy_s, loads[r] * scene.update_s()[r]);
    EXPECT_NEAR(share, 1, 1e-6);
    EXPECT_NEAR(packing.seconds, busy_s + latency_s, 1e-5 * packing.seconds);
    EXPECT_LE(packing.busy_bound_s, busy_s * (1 + 1e-6));
  }
}

/// A full clique of time T as events on the covariance: D = 1.5 T (n-1)/n.
TEST(DriftingState, GivesTheFullCliquesDisagreement) {
  constexpr std::size_t kIslands = 3;
  DriftingState state(kIslands, 2 * kIslands + 1);
  double integral = 0;
  const double seconds = 2;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < kIslands; ++i) state.assign(kIslands + i, {{i, 1}});
    integral = seconds * state.disagreement_s() / 2;
    state.advance(seconds);
    integral += seconds * state.disagreement_s() / 2;
    DriftingState::Terms mean;
    for (std::size_t i = 0; i < kIslands; ++i) mean.emplace_back(kIslands + i, 1.0 / kIslands);
    state.assign(2 * kIslands, mean);
    for (std::size_t i = 0; i < kIslands; ++i)
      state.assign(i, {{i, 1}, {kIslands + i, -1}, {2 * kIslands, 1}});
  }
  EXPECT_NEAR(integral / seconds, 1.5 * seconds * 2 / 3, 1e-9);
}

TEST(FairRates, FillsTheNetworkMaxMin) {
  // Both flows end at A: A's ingress holds 1 update/s for two, link B-A too.
  const TestScene test(line(), {}, 1e9);
  EXPECT_NEAR(fair_rates(test.scene(), {{1, 0}, {2, 0}})[1], 0.5, 1e-9);
  EXPECT_NEAR(fair_rates(test.scene(), {{2, 1}})[0], 1.0, 1e-9);
}

/// Standard normal by Box and Muller.
double normal(Random& random) {
  return std::sqrt(-2 * std::log(1 - random.unit())) * std::cos(2 * std::numbers::pi * random.unit());
}

/// Two islands at a distance from one server, each with its loop, played with numbers in small steps of time.
TEST(AsyncDisagreement, AgreesWithChance) {
  constexpr std::uint64_t kSeed = 3;
  SCOPED_TRACE(fmt::format("seed {}", kSeed));
  Random random(kSeed);
  const std::vector<Loop> loops{{0, 0, 1.0, 0.5, 1}, {1, 0, 1.7, 0.5, 0.5}};
  constexpr double kStep = 0.01;
  double x[2] = {0, 0};
  double z = 0;
  double sent[2] = {0, 0};
  double base[2] = {0, 0};
  double back[2] = {0, 0};
  // Any phases do: the loops' times have no common period of note.
  int clock[2] = {0, 0};
  double sum = 0;
  constexpr int kSteps = 3000000;
  for (int step = 0; step < kSteps; ++step) {
    for (int i = 0; i < 2; ++i) {
      x[i] += std::sqrt(kStep) * normal(random);
      const int length = static_cast<int>(std::lround(loops[static_cast<std::size_t>(i)].seconds / kStep));
      const double merge = loops[static_cast<std::size_t>(i)].merge;
      ++clock[i];
      if (clock[i] == length / 2) {
        z += 0.5 * (sent[i] - base[i]);
        back[i] = z;
      }
      if (clock[i] == length) {
        x[i] += merge * (back[i] - sent[i]);
        base[i] = sent[i] + merge * (back[i] - sent[i]);
        sent[i] = x[i];
        clock[i] = 0;
      }
    }
    sum += (x[0] - x[1]) * (x[0] - x[1]) / 4;
  }
  const double expected_s = async_disagreement_s(2, 1, loops);
  EXPECT_NEAR(sum / kSteps, expected_s, 0.04 * expected_s);
}

/// A client at its server's place, alone with one at a distance: the same by chance.
TEST(AsyncDisagreement, ExchangesAtOnceWithAClientAtTheServer) {
  // The server's own island is at the mean of what it knows; drift not yet sent is all that divides them.
  // With weight 1/2 each and P the loop: bounded by two loops of drift of both, above half a loop of one.
  const double disagreement_s = async_disagreement_s(2, 1, {{0, 0, 0, 0.5, 1}, {1, 0, 1, 0.5, 1}});
  EXPECT_GT(disagreement_s, 0.5 * 0.5 / 2);
  EXPECT_LT(disagreement_s, async_disagreement_s(2, 1, {{0, 0, 1, 0.5, 1}, {1, 0, 1, 0.5, 1}}));
}

}  // namespace
}  // namespace tombolo::schedule::baselines
