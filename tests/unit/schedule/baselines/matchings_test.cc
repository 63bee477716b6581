#include "schedule/baselines/matchings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "schedule/baselines/connectivity.h"
#include "tests/unit/schedule/baselines/scenes.h"

namespace tombolo::schedule::baselines {
namespace {

/// The k-th smallest eigenvalue (from 1) of a symmetric matrix, by Jacobi's rotations.
double kth_eigenvalue(Matrix m, Eigen::Index k) {
  const Eigen::Index n = m.rows();
  for (int sweep = 0; sweep < 60; ++sweep)
    for (Eigen::Index p = 0; p < n; ++p)
      for (Eigen::Index q = p + 1; q < n; ++q) {
        if (std::abs(m(p, q)) < 1e-15) continue;
        const double angle = std::atan2(2 * m(p, q), m(q, q) - m(p, p)) / 2;
        Matrix rotation = Matrix::Identity(n, n);
        rotation(p, p) = rotation(q, q) = std::cos(angle);
        rotation(p, q) = std::sin(angle);
        rotation(q, p) = -std::sin(angle);
        m = (rotation.transpose() * m * rotation).eval();
      }
  std::vector<double> values(m.diagonal().begin(), m.diagonal().end());
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(k - 1)];
}

std::vector<Edge> random_graph(Random& random, std::size_t n) {
  std::vector<Edge> edges;
  for (std::size_t b = 1; b < n; ++b) {
    const std::size_t near = random.below(b);
    for (std::size_t a = 0; a < b; ++a)
      if (a == near || random.chance(0.4)) edges.emplace_back(static_cast<Rank>(a), static_cast<Rank>(b));
  }
  return edges;
}

TEST(MatchingsOf, ColorsEveryEdgeOnce) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const std::size_t n = 2 + random.below(20);
    const std::vector<Edge> edges = random_graph(random, n);
    const auto matchings = matchings_of(edges, n);
    std::multiset<Edge> covered;
    for (const auto& matching : matchings) {
      EXPECT_FALSE(matching.empty());
      std::set<Rank> met;
      for (const auto& [a, b] : matching) {
        EXPECT_TRUE(met.insert(a).second);
        EXPECT_TRUE(met.insert(b).second);
        covered.emplace(a, b);
      }
    }
    EXPECT_EQ(covered, std::multiset<Edge>(edges.begin(), edges.end()));
    EXPECT_LE(static_cast<double>(matchings.size()), laplacian(edges, n).diagonal().maxCoeff() + 1);
  }
}

/// A path of three: symmetric, so p = (b/2, b/2), and lambda_2 of the path is 1. A triangle of three single
/// edges: p = b/3 each, lambda_2 of the triangle is 3.
TEST(MaximizeConnectivity, SolvesWhatSymmetrySolves) {
  const std::vector<Edge> first{{0, 1}};
  const std::vector<Edge> second{{1, 2}};
  const std::vector<Edge> third{{0, 2}};
  const Matrix path[] = {laplacian(first, 3), laplacian(second, 3)};
  EXPECT_NEAR(maximize_connectivity(path, 1).lambda2, 0.5, 1e-5);
  const Matrix triangle[] = {laplacian(first, 3), laplacian(second, 3), laplacian(third, 3)};
  EXPECT_NEAR(maximize_connectivity(triangle, 1.5).lambda2, 1.5, 1e-5);
  EXPECT_NEAR(maximize_connectivity(triangle, 3).lambda2, 3, 1e-5);
}

/// Against all probabilities on a grid of twentieths, for three matchings.
TEST(MaximizeConnectivity, IsNotBeatenByAGrid) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    std::vector<std::vector<Edge>> matchings;
    while (matchings.size() != 3) matchings = matchings_of(random_graph(random, 5), 5);
    std::vector<Matrix> laplacians;
    for (const auto& matching : matchings) laplacians.push_back(laplacian(matching, 5));
    const Connectivity best = maximize_connectivity(laplacians, 1.5);
    ASSERT_TRUE(std::isfinite(best.bound));
    EXPECT_GE(best.bound, best.lambda2 - 1e-9);
    EXPECT_LE(best.bound - best.lambda2, 1e-5 * best.bound);
    double grid = 0;
    for (int a = 0; a <= 20; a += 2)
      for (int b = 0; b <= 20; b += 2)
        for (int c = 0; c <= 20 && a + b + c <= 30; c += 2)
          grid = std::max(
              grid, kth_eigenvalue(
                        a / 20.0 * laplacians[0] + b / 20.0 * laplacians[1] + c / 20.0 * laplacians[2], 2));
    EXPECT_GE(best.lambda2, grid - 1e-6);
    EXPECT_LE(best.lambda2, grid + 0.2);
  }
}

TEST(Matcha, KeepsItsBudgetAndStaysConnected) {
  const TestScene test(shipped_network("nine-city.yaml", "access-limited"), {}, 1e9);
  const auto edges = physical_edges(test.scene());
  const auto matchings = matchings_of(edges, 9);
  for (const double budget : {0.1, 0.5, 1.0}) {
    const Matcha plan = optimize_matcha(matchings, 9, budget);
    double sum = 0;
    Matrix mean = Matrix::Zero(9, 9);
    for (std::size_t j = 0; j < plan.p.size(); ++j) {
      EXPECT_GE(plan.p[j], 0);
      EXPECT_LE(plan.p[j], 1);
      sum += plan.p[j];
      mean += plan.p[j] * laplacian(plan.matchings[j], 9);
    }
    EXPECT_LE(sum, budget * static_cast<double>(matchings.size()) + 1e-9);
    EXPECT_GT(plan.lambda2, 0);
    EXPECT_NEAR(plan.lambda2, kth_eigenvalue(mean, 2), 1e-8);
    EXPECT_LT(plan.contraction, 1);
    // E[W^2] - J by listing every set of active matchings.
    Matrix second = -mean_matrix(9);
    for (std::size_t set = 0; set < (std::size_t{1} << plan.p.size()); ++set) {
      double probability = 1;
      Matrix w = Matrix::Identity(9, 9);
      for (std::size_t j = 0; j < plan.p.size(); ++j) {
        const bool active = (set >> j & 1) != 0;
        probability *= active ? plan.p[j] : 1 - plan.p[j];
        if (active) w -= plan.alpha * laplacian(plan.matchings[j], 9);
      }
      second += probability * w * w;
    }
    EXPECT_NEAR(plan.contraction, kth_eigenvalue(second, 9), 1e-6);
  }
}

/// With all matchings always active MATCHA is gossip with a fixed W = I - alpha L: the score of a plain
/// cycle.
TEST(Matcha, IsNoWorseThanFixedGossip) {
  const TestScene test(shipped_network("nine-city.yaml", "access-limited"), {}, 1e9);
  const auto edges = physical_edges(test.scene());
  const Matcha plan = optimize_matcha(matchings_of(edges, 9), 9, 1.0);
  std::vector<Message> messages;
  for (const auto& [a, b] : edges) {
    messages.push_back({a, b});
    messages.push_back({b, a});
  }
  const std::vector<TimedMatrix> fixed{
      {Matrix::Identity(9, 9) - plan.alpha * laplacian(edges, 9), test.scene().pattern_time_s(messages)}};
  EXPECT_LE(matcha(test.scene()).disagreement_s, score_cycle(fixed).disagreement_s * (1 + 1e-6));
}

}  // namespace
}  // namespace tombolo::schedule::baselines
