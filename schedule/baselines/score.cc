#include "schedule/baselines/score.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "schedule/fixed_point.h"
#include "schedule/mixing_input.h"
#include "schedule/weighted_mixing.h"

namespace tombolo::schedule::baselines {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

Baseline undefined_baseline(std::string name, std::string source, std::string why) {
  Baseline row;
  row.name = std::move(name);
  row.source = std::move(source);
  row.undefined = std::move(why);
  row.disagreement_s = kInfinity;
  return row;
}

Mixing score_cycle(std::span<const TimedMatrix> cycle) {
  std::vector<Matrix> w;
  std::vector<double> seconds;
  for (const TimedMatrix& round : cycle) {
    w.push_back(round.w);
    seconds.push_back(round.seconds);
  }
  const auto mixing = measure_mixing(w, seconds);
  CHECK(mixing.ok());  // Every W of a baseline has rows of sum 1, and every round takes time.
  return {mixing->disagreement_s, std::max(0.0, mixing->r_per_s)};
}

Mixing score_exact_round(double seconds, std::size_t islands) {
  const double n = static_cast<double>(islands);
  return {1.5 * seconds * (n - 1) / n, 1 / seconds};
}

Mixing score_random(const RandomRounds& rounds, std::size_t islands) {
  const Matrix drift = identity_without_mean(static_cast<Eigen::Index>(islands));
  const auto map = [&](const Matrix& s) { return Matrix(drift * rounds.apply(s) * drift); };
  const auto s = map_fixed_point(map, rounds.mean_s * drift, true);
  if (!s) return {kInfinity, 0};
  // ||E[A'A]||: what an independent round leaves of the squared disagreement, at worst.
  const double left = std::sqrt(squared_norm(map(drift)));
  return {random_disagreement(s->trace(), {rounds.mean_s, rounds.mean_square_s2}, islands),
          std::max(0.0, 1 - left) / rounds.mean_s};
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
  const Mixing score = score_cycle(cycle);
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
  const Mixing score = score_exact_round(seconds, islands);
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
