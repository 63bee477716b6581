#include "schedule/baselines/score.h"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>
#include <utility>

namespace tombolo::schedule::baselines {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// I - J.
Matrix centering(std::size_t islands) {
  const auto n = static_cast<Eigen::Index>(islands);
  return Matrix::Identity(n, n) - Matrix::Constant(n, n, 1.0 / static_cast<double>(n));
}

double squared_norm(const Matrix& m) {
  return Eigen::SelfAdjointEigenSolver<Matrix>(m.transpose() * m, Eigen::EigenvaluesOnly)
      .eigenvalues()
      .maxCoeff();
}

}  // namespace

Baseline undefined_baseline(std::string name, std::string source, std::string why) {
  Baseline row;
  row.name = std::move(name);
  row.source = std::move(source);
  row.undefined = std::move(why);
  row.disagreement_s = kInfinity;
  return row;
}

Score score_cycle(std::span<const TimedMatrix> cycle) {
  const auto islands = static_cast<std::size_t>(cycle.front().w.rows());
  const double n = static_cast<double>(islands);
  const Matrix drift = centering(islands);
  Matrix m = drift;                                     // A_L ... A_1.
  Matrix q = Matrix::Zero(drift.rows(), drift.cols());  // What a cycle makes of S = 0.
  double cycle_s = 0;
  for (const TimedMatrix& round : cycle) {
    const Matrix a = drift * round.w * drift;
    m = a * m;
    q = a * q * a.transpose() + round.seconds * drift;
    cycle_s += round.seconds;
  }
  Score score;
  score.r_per_s = std::max(0.0, 1 - squared_norm(m)) / cycle_s;

  // S = M S M' + Q is the sum of M^i Q M'^i; each step doubles the number of its terms. A contraction
  // vanishes long before 60 steps; what does not vanish never joins all islands.
  int step = 0;
  for (; step < 60 && m.norm() > 1e-18; ++step) {
    if (!std::isfinite(q.trace()) || q.trace() > 1e15 * cycle_s) return {kInfinity, score.r_per_s};
    q += (m * q * m.transpose()).eval();
    m = (m * m).eval();
  }
  if (step == 60) return {kInfinity, score.r_per_s};
  double integral = 0;
  for (const TimedMatrix& round : cycle) {
    integral += round.seconds * (q.trace() + round.seconds * (n - 1) / 2);
    const Matrix a = drift * round.w * drift;
    q = a * q * a.transpose() + round.seconds * drift;
  }
  score.disagreement_s = integral / (n * cycle_s);
  return score;
}

Score score_exact_round(double seconds, std::size_t islands) {
  const double n = static_cast<double>(islands);
  return {1.5 * seconds * (n - 1) / n, 1 / seconds};
}

/// Conjugate gradients on S - E[A S A'] = E[T] (I - J): the left side is self-adjoint and positive, and its
/// condition is that of the contraction, so a few dozen products do where summing the series takes thousands.
Score score_random(const RandomRounds& rounds, std::size_t islands) {
  const double n = static_cast<double>(islands);
  const Matrix drift = centering(islands);
  const auto left = [&](const Matrix& s) { return (s - drift * rounds.apply(s) * drift).eval(); };
  const double contraction = squared_norm(drift - left(drift));
  Matrix s = drift;
  Matrix residual = drift - left(s);
  Matrix direction = residual;
  double size = residual.squaredNorm();
  for (int step = 0; step < 2000 && size > 1e-26 * n; ++step) {
    const Matrix image = left(direction);
    const double curvature = (direction.cwiseProduct(image)).sum();
    if (!(curvature > 1e-14 * direction.squaredNorm())) return {kInfinity, 0};
    s += size / curvature * direction;
    residual -= size / curvature * image;
    const double next = residual.squaredNorm();
    direction = (residual + next / size * direction).eval();
    size = next;
  }
  Score score;
  // ||E[A'A]||: what an independent round leaves of the squared disagreement, at worst.
  score.r_per_s = std::max(0.0, 1 - std::sqrt(contraction)) / rounds.mean_s;
  score.disagreement_s =
      (rounds.mean_s * rounds.mean_s * s.trace() + rounds.mean_square_s2 * (n - 1) / 2) / (n * rounds.mean_s);
  return score;
}

Baseline baseline_of_cycle(std::string name, std::string source, std::string choices,
                           std::span<const TimedMatrix> cycle) {
  Baseline row;
  row.name = std::move(name);
  row.source = std::move(source);
  row.choices = std::move(choices);
  row.direct_cliques = true;
  for (const TimedMatrix& round : cycle) {
    row.round_s.push_back(round.seconds);
    row.cycle_s += round.seconds;
    Round cliques;
    row.direct_cliques = row.direct_cliques && is_clique_round(round.w, cliques) && !cliques.cliques.empty();
  }
  const Score score = score_cycle(cycle);
  row.disagreement_s = score.disagreement_s;
  row.r_per_s = score.r_per_s;
  return row;
}

Baseline baseline_of_exact_round(std::string name, std::string source, std::string choices, double seconds,
                                 std::size_t islands) {
  Baseline row;
  row.name = std::move(name);
  row.source = std::move(source);
  row.choices = std::move(choices);
  row.round_s = {seconds};
  row.cycle_s = seconds;
  const Score score = score_exact_round(seconds, islands);
  row.disagreement_s = score.disagreement_s;
  row.r_per_s = score.r_per_s;
  return row;
}

Matrix laplacian(std::span<const Edge> edges, std::size_t islands) {
  const auto n = static_cast<Eigen::Index>(islands);
  Matrix l = Matrix::Zero(n, n);
  for (const auto& [a, b] : edges) {
    l(a, a) += 1;
    l(b, b) += 1;
    l(a, b) -= 1;
    l(b, a) -= 1;
  }
  return l;
}

Matrix metropolis(std::span<const Edge> edges, std::size_t islands) {
  const Matrix l = laplacian(edges, islands);
  Matrix w = Matrix::Identity(l.rows(), l.cols());
  for (const auto& [a, b] : edges) {
    const double weight = 1 / (1 + std::max(l(a, a), l(b, b)));
    w(a, b) += weight;
    w(b, a) += weight;
    w(a, a) -= weight;
    w(b, b) -= weight;
  }
  return w;
}

}  // namespace tombolo::schedule::baselines
