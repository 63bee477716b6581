#include "schedule/baselines/connectivity.h"

#include <ClpSimplex.hpp>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <numeric>

namespace tombolo::schedule::baselines {
namespace {

constexpr int kMaxRounds = 400;
constexpr double kGap = 1e-6;
/// How many eigenvectors give a plane per round: where eigenvalues meet, one alone zigzags.
constexpr Eigen::Index kPlanes = 4;

}  // namespace

Connectivity maximize_connectivity(std::span<const Matrix> laplacians, double budget) {
  const int count = static_cast<int>(laplacians.size());
  const Eigen::Index n = laplacians.front().rows();
  Connectivity best;
  best.p.assign(laplacians.size(), 0.0);
  // A unit vector has v'L v of at most twice the largest degree, which for a graph is below n.
  best.bound = 2.0 * static_cast<double>(n) * count;

  // Columns: p, then z, the value that all planes allow.
  ClpSimplex master;
  master.setLogLevel(0);
  master.setOptimizationDirection(-1);
  master.resize(0, count + 1);
  std::vector<int> columns(laplacians.size() + 1);
  std::iota(columns.begin(), columns.end(), 0);
  for (int j = 0; j < count; ++j) {
    master.setColumnBounds(j, 0, 1);
    master.setObjectiveCoefficient(j, 0);
  }
  // plane.
  master.setColumnBounds(count, 0, best.bound);
  master.setObjectiveCoefficient(count, 1);
  std::vector<double> row(laplacians.size() + 1, 1.0);
  row.back() = 0;
  master.addRow(count, columns.data(), row.data(), -COIN_DBL_MAX, budget);

  std::vector<double> p(laplacians.size(), std::min(1.0, budget / count));
  for (int round = 0; round < kMaxRounds; ++round) {
    // The mean, whose eigenvalue is 0, is moved above all others: what is left begins with lambda_2, and its
    // vectors are orthogonal to the mean even where a graph in pieces has more eigenvalues 0.
    Matrix sum = Matrix::Constant(n, n, 2.0 * count);
    for (int j = 0; j < count; ++j)
      sum += p[static_cast<std::size_t>(j)] * laplacians[static_cast<std::size_t>(j)];
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(sum);
    if (const double lambda2 = solver.eigenvalues()(0); lambda2 > best.lambda2) {
      best.lambda2 = lambda2;
      best.p = p;
    }
    if (best.bound - best.lambda2 <= kGap * best.bound) break;
    for (Eigen::Index e = 0; e < std::min(n - 1, kPlanes); ++e) {
      const auto v = solver.eigenvectors().col(e);
      for (int j = 0; j < count; ++j)
        row[static_cast<std::size_t>(j)] = v.dot(laplacians[static_cast<std::size_t>(j)] * v);
      row.back() = -1;
      master.addRow(count + 1, columns.data(), row.data(), 0, COIN_DBL_MAX);
    }
    master.dual();
    if (master.status() != 0) break;
    best.bound = std::min(best.bound, master.objectiveValue());
    for (std::size_t j = 0; j < p.size(); ++j) p[j] = std::clamp(master.primalColumnSolution()[j], 0.0, 1.0);
  }
  return best;
}

}  // namespace tombolo::schedule::baselines
