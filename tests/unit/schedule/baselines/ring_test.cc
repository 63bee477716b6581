#include "schedule/baselines/ring.h"

#include <gtest/gtest.h>

#include "tests/unit/schedule/baselines/scenes.h"

namespace tombolo::schedule::baselines {
namespace {

/// The ring column of SCHEDULING's reference table, all eight rows: D to the printed digits.
TEST(RingAllReduce, ReachesTheReferenceValues) {
  struct Row {
    const char* profile;
    Capabilities capabilities;
    double disagreement_s;
    double tolerance_s;
  };
  const Row rows[] = {
      {"access-limited", {false, Aggregation::kNone, Family::kDirect}, 2.8663, 5e-5},
      {"access-limited", {true, Aggregation::kEdge, Family::kDirect}, 2.8663, 5e-5},
      {"access-limited", {false, Aggregation::kNone, Family::kBest}, 2.8663, 5e-5},
      {"egress-scarce", {true, Aggregation::kNone, Family::kDirect}, 8.5552, 5e-5},
      {"egress-scarce", {true, Aggregation::kEdge, Family::kDirect}, 8.5552, 5e-5},
      {"testnet10", {false, Aggregation::kNone, Family::kDirect}, 2.8663, 5e-5},
      {"testnet10", {true, Aggregation::kEdge, Family::kDirect}, 2.8663, 5e-5},
      {"testnet10", {true, Aggregation::kTree, Family::kDirect}, 2.8663, 5e-5},
  };
  for (const Row& row : rows) {
    const TestScene test(shipped_network("nine-city.yaml", row.profile), row.capabilities, 1e9);
    EXPECT_NEAR(ring_all_reduce(test.scene()).disagreement_s, row.disagreement_s, row.tolerance_s)
        << row.profile;
  }
}

/// A triangle whose sites are apart by 1, 2 and 4 ms, one link so slow that no order may use it twice.
TEST(RingTime, IsTheFormula) {
  const TestScene test(parsed_network(R"(
sites: [{id: A}, {id: B}, {id: C}]
links:
  - {a: A, b: B, one_way_ms: {ab: 1, ba: 1}}
  - {a: B, b: C, one_way_ms: {ab: 2, ba: 2}}
  - {a: A, b: C, one_way_ms: {ab: 4, ba: 4}}
profiles:
  p: {core_gbps: 4, egress_gbps: 8, ingress_gbps: 8}
)"),
                       {}, 1e9);
  // A to C goes by B (3 ms). A-B-C-A: hops 1, 2, 3 ms; C to A takes C-B and B-A. No link carries two hops in
  // one direction: 4/3 of 8 Gbit at 4 Gbit/s; four hops from the start that leaves out the shortest two: 2 x
  // 6 - 3 ms.
  EXPECT_NEAR(ring_time_s(test.scene(), {0, 1, 2}), 4.0 / 3 * 2 + 0.009, 1e-9);
}

/// Search by local moves must not beat, and should find, the best of all orders.
TEST(RingAllReduce, IsTheBestOfAllOrders) {
  const TestScene test(shipped_network("nine-city.yaml", "mixed"), {}, 1e9);
  const auto cost = [&](const Order& order) { return ring_time_s(test.scene(), order); };
  const double exact_s = cost(best_cyclic_order(short_tour(test.scene()), cost, 1, 0));
  const double local_s = cost(local_order(short_tour(test.scene()), cost, 1, 5000));
  EXPECT_GE(local_s, exact_s - 1e-12);
  EXPECT_LE(local_s, exact_s * 1.02);
}

/// Circulant weights 1/3: eigenvalues (1 + 2 cos(2 pi k / n)) / 3, each a geometric series of its own.
TEST(RingGossip, IsTheClosedFormOfACirculant) {
  const TestScene test(shipped_network("nine-city.yaml", "access-limited"), {true, Aggregation::kEdge}, 1e9);
  const auto row = ring_gossip(test.scene());
  ASSERT_TRUE(row.ok());
  double sum = 8.0 / 2;
  for (int k = 1; k < 9; ++k) {
    const double w = (1 + 2 * std::cos(2 * std::numbers::pi * k / 9)) / 3;
    sum += 1 / (1 - w * w);
  }
  EXPECT_NEAR(row->disagreement_s, row->cycle_s * sum / 9, 1e-9);
  // Multicast: an island sends once and receives two updates of 0.8 s; no hop is shorter than 2.881 ms.
  EXPECT_GT(row->cycle_s, 1.6);
}

}  // namespace
}  // namespace tombolo::schedule::baselines
