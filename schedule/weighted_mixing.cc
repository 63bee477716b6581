#include "schedule/weighted_mixing.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "schedule/fixed_point.h"
#include "schedule/mixing_input.h"

namespace tombolo::schedule {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr double kRowSumError = 1e-9;
const Mixing kNeverTogether{std::numeric_limits<double>::infinity(), 0};

Status check_matrices(std::span<const MatrixXd> w) {
  for (std::size_t r = 0; r < w.size(); ++r) {
    if (w[r].rows() == 0 || w[r].rows() != w[r].cols() || w[r].rows() != w[0].rows())
      return invalid_input(fmt::format("mixing: W of round {} is {} x {}; must be square, all alike", r,
                                       w[r].rows(), w[r].cols()));
    const double off = (w[r].rowwise().sum().array() - 1).abs().maxCoeff();
    if (!w[r].allFinite() || !(off <= kRowSumError))
      return invalid_input(fmt::format("mixing: W of round {} has a row that does not sum to 1", r));
  }
  return ok_status();
}

Status check_input(std::span<const MatrixXd> w, std::span<const double> seconds) {
  const std::size_t islands = w.empty() ? 0 : static_cast<std::size_t>(w[0].rows());
  if (auto valid = check_mixing_input(w.size(), seconds, islands); !valid) return valid;
  return check_matrices(w);
}

/// A = (I - J) W: since W 1 = 1, it takes deviations from the mean to deviations from the mean. It is W - J
/// where columns sum to 1 as well.
std::vector<MatrixXd> deviations(std::span<const MatrixXd> w) {
  const MatrixXd drift = identity_without_mean(w[0].rows());
  std::vector<MatrixXd> a;
  // The last factor changes nothing in exact arithmetic; it keeps rounding from leaving a mean behind.
  for (const MatrixXd& each : w) a.push_back(drift * each * drift);
  return a;
}

}  // namespace

Result<Mixing> measure_mixing(std::span<const MatrixXd> w, std::span<const double> seconds) {
  if (auto valid = check_input(w, seconds); !valid) return std::move(valid).error();
  const std::vector<MatrixXd> a = deviations(w);
  const MatrixXd drift = identity_without_mean(w[0].rows());
  MatrixXd m = drift;
  MatrixXd q = MatrixXd::Zero(drift.rows(), drift.cols());
  for (std::size_t r = 0; r < a.size(); ++r) {
    m = (a[r] * m).eval();
    q = (a[r] * q * a[r].transpose() + seconds[r] * drift).eval();
  }
  const auto start = cycle_fixed_point(m, q);
  if (!start) return kNeverTogether;
  MatrixXd s = *start;
  const double n = static_cast<double>(drift.rows());
  const double cycle_s = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  double integral = 0;
  for (std::size_t r = 0; r < a.size(); ++r) {
    integral += seconds[r] * (s.trace() + seconds[r] * (n - 1) / 2);
    s = (a[r] * s * a[r].transpose() + seconds[r] * drift).eval();
  }
  return Mixing{integral / (n * cycle_s), (1 - squared_norm(m)) / cycle_s};
}

Result<Mixing> measure_random_mixing(std::span<const MatrixXd> w, std::span<const double> seconds,
                                     std::span<const double> probabilities) {
  if (auto valid = check_input(w, seconds); !valid) return std::move(valid).error();
  const auto chances = scaled_probabilities(probabilities, w.size());
  if (!chances) return chances.error();
  const std::vector<MatrixXd> a = deviations(w);
  const Index size = w[0].rows();
  MatrixXd mean_square = MatrixXd::Zero(size, size);
  for (std::size_t r = 0; r < a.size(); ++r) mean_square += (*chances)[r] * a[r].transpose() * a[r];
  const auto map = [&](const MatrixXd& s) {
    MatrixXd image = MatrixXd::Zero(size, size);
    for (std::size_t r = 0; r < a.size(); ++r)
      if ((*chances)[r] > 0) image += (*chances)[r] * a[r] * s * a[r].transpose();
    return image;
  };
  const RoundMoments moments = round_moments(seconds, *chances);
  const auto s = map_fixed_point(map, moments.mean_s * identity_without_mean(size), false);
  if (!s) return kNeverTogether;
  const double left = std::sqrt(squared_norm(mean_square));
  return Mixing{random_disagreement(s->trace(), moments, static_cast<std::size_t>(size)),
                (1 - left) / moments.mean_s};
}

MatrixXd mixing_matrix(const MessageRound& round, std::size_t islands) {
  MatrixXd w = MatrixXd::Identity(static_cast<Index>(islands), static_cast<Index>(islands));
  for (const Message& message : round.messages) {
    w(message.to, message.from) += message.weight;
    w(message.to, message.to) -= message.weight;
  }
  return w;
}

MatrixXd averaging_matrix(const Round& round, std::size_t islands) {
  MatrixXd w = MatrixXd::Identity(static_cast<Index>(islands), static_cast<Index>(islands));
  for (const Clique& clique : round.cliques)
    for (const Rank a : clique)
      for (const Rank b : clique) w(a, b) = 1 / static_cast<double>(clique.size());
  return w;
}

}  // namespace tombolo::schedule
