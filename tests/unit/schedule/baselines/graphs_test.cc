#include "schedule/baselines/graphs.h"

#include <gtest/gtest.h>

#include "tests/unit/schedule/baselines/scenes.h"

namespace tombolo::schedule::baselines {
namespace {

void expect_doubly_stochastic(const Matrix& w) {
  EXPECT_GE(w.minCoeff(), 0);
  for (Eigen::Index i = 0; i < w.rows(); ++i) {
    EXPECT_NEAR(w.row(i).sum(), 1, 1e-12);
    EXPECT_NEAR(w.col(i).sum(), 1, 1e-12);
  }
}

Matrix product_of(const std::vector<Matrix>& rounds) {
  Matrix product = Matrix::Identity(rounds.front().rows(), rounds.front().cols());
  for (const Matrix& w : rounds) product = (w * product).eval();
  return product;
}

TEST(OnePeerExponential, IsExactForPowersOfTwoOnly) {
  for (std::size_t n = 2; n <= 40; ++n) {
    const auto rounds = one_peer_exponential_rounds(n);
    EXPECT_EQ(rounds.size(), static_cast<std::size_t>(std::ceil(std::log2(static_cast<double>(n))))) << n;
    for (const Matrix& w : rounds) expect_doubly_stochastic(w);
    const bool power_of_two = (n & (n - 1)) == 0;
    EXPECT_EQ(product_of(rounds).isApprox(mean_matrix(n), 1e-12), power_of_two) << n;
  }
}

/// The paper's theorem: symmetric, doubly stochastic, at most k peers, exact after at most 2 log_{k+1}(n) + 2
/// rounds.
TEST(BaseGraph, ReachesConsensusForAnyNumberOfIslands) {
  for (std::size_t n = 2; n <= 60; ++n)
    for (std::size_t k = 1; k <= std::min<std::size_t>(n - 1, 6); ++k)
      for (const bool fill : {false, true}) {
        SCOPED_TRACE(fmt::format("n {} k {} fill {}", n, k, fill));
        const auto rounds = base_graph_rounds(n, k, fill);
        ASSERT_FALSE(rounds.empty());
        EXPECT_LE(static_cast<double>(rounds.size()),
                  2 * std::log(static_cast<double>(n)) / std::log(static_cast<double>(k + 1)) + 2 + 1e-9);
        for (const Matrix& w : rounds) {
          expect_doubly_stochastic(w);
          EXPECT_TRUE(w.isApprox(w.transpose(), 1e-12));
          for (Eigen::Index i = 0; i < w.rows(); ++i)
            EXPECT_LE((w.row(i).array() > 0).count() - (w(i, i) > 0 ? 1 : 0), static_cast<Eigen::Index>(k));
        }
        EXPECT_TRUE(product_of(rounds).isApprox(mean_matrix(n), 1e-10));
      }
}

/// Lengths that the paper's construction has: 9 = 3 x 3 is two rounds of threes; 5 = 4 + 1 takes 2 + 1 + 2; 6
/// = 2 x 3 takes the three rounds of 3 = 2 + 1 and one across; 8 is the hypercube.
TEST(BaseGraph, HasThePapersLengths) {
  EXPECT_EQ(base_graph_rounds(9, 2, false).size(), 2U);
  EXPECT_EQ(base_graph_rounds(5, 1, false).size(), 5U);
  EXPECT_EQ(base_graph_rounds(6, 1, false).size(), 4U);
  EXPECT_EQ(base_graph_rounds(8, 1, false).size(), 3U);
}

TEST(DCliques, JoinsEachPairOfCliquesOnce) {
  // Nine islands in threes: 3 x 3 edges inside, 3 between; on a ring of three cliques the same pairs.
  const std::vector<Rank> order{4, 0, 8, 1, 7, 2, 6, 3, 5};
  for (const bool ring : {false, true}) EXPECT_EQ(d_cliques_edges(order, 3, ring).size(), 12U);
  // Sixteen in fours: 4 x 6 inside, 6 between all or 4 on the ring. No island has two edges to other cliques:
  // each clique has four islands and three such edges.
  std::vector<Rank> sixteen(16);
  for (std::size_t i = 0; i < 16; ++i) sixteen[i] = static_cast<Rank>(i);
  EXPECT_EQ(d_cliques_edges(sixteen, 4, false).size(), 30U);
  EXPECT_EQ(d_cliques_edges(sixteen, 4, true).size(), 28U);
  const Matrix l = laplacian(d_cliques_edges(sixteen, 4, false), 16);
  EXPECT_LE(l.diagonal().maxCoeff(), 4);
}

TEST(Metropolis, IsDoublyStochastic) {
  const std::vector<Edge> edges{{0, 1}, {0, 2}, {0, 3}, {3, 4}};
  const Matrix w = metropolis(edges, 5);
  expect_doubly_stochastic(w);
  EXPECT_DOUBLE_EQ(w(0, 1), 0.25);
  EXPECT_DOUBLE_EQ(w(3, 4), 1.0 / 3);
}

/// On equal access links without latency the best constant weight on the found graph, scored by eigenvalues
/// inside, must be what the cycle's score says, and no worse than the tree or the full graph.
TEST(BandwidthAware, IsNoWorseThanTheEndsOfItsPath) {
  const TestScene test(equal_network(6, 8), {false, Aggregation::kNone}, 1e9);
  const Baseline row = bandwidth_aware(test.scene());
  const double full_s =
      5 * 1.0 * 1.5 * 5 / 6;  // The full graph averages exactly: five updates each, 1 s each.
  EXPECT_LE(row.disagreement_s, full_s + 1e-9);
  EXPECT_GT(row.disagreement_s, 0);
}

TEST(PhysicalGossip, UsesTheCoresEdges) {
  const TestScene test(shipped_network("nine-city.yaml", "access-limited"), {}, 1e9);
  EXPECT_EQ(physical_gossip(test.scene()).choices, "11 edges, Metropolis weights");
}

}  // namespace
}  // namespace tombolo::schedule::baselines
