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
  best.bound = std::numeric_limits<double>::infinity();

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
  // Every v of norm 1 has v'L v <= 2 x the largest degree <= 2 n per Laplacian: z is bounded before any
  // plane.
  master.setColumnBounds(count, 0, 2.0 * static_cast<double>(n) * count);
  master.setObjectiveCoefficient(count, 1);
  std::vector<double> row(laplacians.size() + 1, 1.0);
  row.back() = 0;
  master.addRow(count, columns.data(), row.data(), -COIN_DBL_MAX, budget);

  std::vector<double> p(laplacians.size(), std::min(1.0, budget / count));
  for (int round = 0; round < kMaxRounds; ++round) {
    Matrix sum = Matrix::Zero(n, n);
    for (int j = 0; j < count; ++j)
      sum += p[static_cast<std::size_t>(j)] * laplacians[static_cast<std::size_t>(j)];
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(sum);
    // The smallest eigenvalue, 0, belongs to the mean; the second is lambda_2.
    if (const double lambda2 = solver.eigenvalues()(1); lambda2 > best.lambda2) {
      best.lambda2 = lambda2;
      best.p = p;
    }
    if (best.bound - best.lambda2 <= kGap * best.bound) break;
    for (Eigen::Index e = 1; e < std::min(n, 1 + kPlanes); ++e) {
      const auto v = solver.eigenvectors().col(e);
      for (int j = 0; j < count; ++j)
        row[static_cast<std::size_t>(j)] = v.dot(laplacians[static_cast<std::size_t>(j)] * v);
      row.back() = -1;
      // An eigenvector beyond the second is orthogonal to the mean all the same: a valid plane.
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
