#include "schedule/mixing.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace tombolo::schedule {
namespace {

/// A square matrix, row by row. The numbers of islands are small: plain loops are clear and quick enough.
class Matrix {
 public:
  explicit Matrix(std::size_t n) : n_(n), cells_(n * n, 0.0) {}
  double& at(std::size_t row, std::size_t column) { return cells_[row * n_ + column]; }
  double at(std::size_t row, std::size_t column) const { return cells_[row * n_ + column]; }
  std::size_t size() const { return n_; }

  double trace() const {
    double sum = 0;
    for (std::size_t i = 0; i < n_; ++i) sum += at(i, i);
    return sum;
  }
  /// The square root of the sum of squares.
  double norm() const {
    return std::sqrt(std::inner_product(cells_.begin(), cells_.end(), cells_.begin(), 0.0));
  }
  void scale(double factor) {
    for (double& cell : cells_) cell *= factor;
  }
  void add(const Matrix& other) {
    for (std::size_t i = 0; i < cells_.size(); ++i) cells_[i] += other.cells_[i];
  }
  Matrix transposed() const {
    Matrix result(n_);
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < n_; ++j) result.at(j, i) = at(i, j);
    return result;
  }
  friend Matrix operator*(const Matrix& a, const Matrix& b) {
    Matrix result(a.n_);
    for (std::size_t i = 0; i < a.n_; ++i)
      for (std::size_t k = 0; k < a.n_; ++k)
        for (std::size_t j = 0; j < a.n_; ++j) result.at(i, j) += a.at(i, k) * b.at(k, j);
    return result;
  }

 private:
  std::size_t n_;
  std::vector<double> cells_;
};

/// I - J: what is left of the identity when the mean of all islands is taken away.
Matrix identity_without_mean(std::size_t n) {
  Matrix result(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) result.at(i, j) = (i == j ? 1.0 : 0.0) - 1.0 / static_cast<double>(n);
  return result;
}

/// Left-multiplies by W_r: every row of a clique becomes the mean of the clique's rows.
void average_rows(const Round& round, Matrix& matrix) {
  for (const Clique& clique : round.cliques) {
    for (std::size_t column = 0; column < matrix.size(); ++column) {
      double sum = 0;
      for (const Rank rank : clique) sum += matrix.at(rank, column);
      for (const Rank rank : clique) matrix.at(rank, column) = sum / static_cast<double>(clique.size());
    }
  }
}

/// S becomes A S A' + T (I - J). S has rows and columns of sum 0 throughout, on which A = W - J acts as W
/// does.
void pass_round(const Round& round, double seconds, const Matrix& drift, Matrix& s) {
  average_rows(round, s);
  s = s.transposed();  // W S is not symmetric, but (W S)' = S W' and averaging its rows gives W S W'.
  average_rows(round, s);
  Matrix grown = drift;
  grown.scale(seconds);
  s.add(grown);
}

/// S = M S M' + Q for the whole cycle: the sum of M^i Q M'^i, doubling the number of terms in each step.
Matrix fixed_point(Matrix m, Matrix q) {
  // M contracts, so its powers vanish; when they are below rounding, further terms change nothing. The bound
  // is for a contraction that rounding hides: 2^60 cycles.
  for (int step = 0; step < 60 && m.norm() > std::numeric_limits<double>::epsilon() * 1e-3; ++step) {
    q.add(m * q * m.transposed());
    m = m * m;
  }
  return q;
}

/// ||M||^2, the largest eigenvalue of B = M'M. Squaring B again and again makes the eigenvalue's share of the
/// trace overwhelming: trace(B^(2^k))^(2^-k) differs from it by a factor of at most n^(2^-k).
double squared_norm(const Matrix& m) {
  Matrix b = m.transposed() * m;
  double log_value = 0;
  double weight = 1;
  for (int step = 0; step < 60; ++step) {
    const double trace = b.trace();
    if (!(trace > std::numeric_limits<double>::min())) return 0;
    log_value += weight * std::log(trace);
    b.scale(1 / trace);
    b = b * b;
    weight /= 2;
  }
  return std::exp(log_value);
}

/// Whether the cliques of all rounds together join all islands: exactly then the cycle contracts.
bool joins_all(const Schedule& schedule, std::size_t islands) {
  std::vector<std::size_t> group(islands);
  std::iota(group.begin(), group.end(), std::size_t{0});
  const auto find = [&](std::size_t i) {
    while (group[i] != i) i = group[i] = group[group[i]];
    return i;
  };
  std::size_t groups = islands;
  for (const Round& round : schedule.rounds)
    for (const Clique& clique : round.cliques)
      for (const Rank rank : clique) {
        const std::size_t a = find(clique.front());
        const std::size_t b = find(rank);
        if (a == b) continue;
        group[a] = b;
        --groups;
      }
  return groups == 1;
}

}  // namespace

Result<Mixing> measure_mixing(const Schedule& schedule, std::span<const double> seconds,
                              std::size_t islands) {
  if (islands == 0 || schedule.rounds.empty() || seconds.size() != schedule.rounds.size())
    return invalid_input(
        fmt::format("mixing: {} islands, {} rounds, {} times; needs islands and a time per round", islands,
                    schedule.rounds.size(), seconds.size()));
  double cycle_s = 0;
  for (const double time_s : seconds) {
    if (!(time_s > 0) || !std::isfinite(time_s))
      return invalid_input(fmt::format("mixing: a round of {} s; must be above 0", time_s));
    cycle_s += time_s;
  }
  if (!joins_all(schedule, islands)) return Mixing{std::numeric_limits<double>::infinity(), 0};

  const Matrix drift = identity_without_mean(islands);
  Matrix m = drift;   // Of the whole cycle: A_L ... A_1.
  Matrix q(islands);  // What a cycle makes of S = 0.
  for (std::size_t r = 0; r < seconds.size(); ++r) {
    average_rows(schedule.rounds[r], m);
    pass_round(schedule.rounds[r], seconds[r], drift, q);
  }
  Mixing mixing;
  mixing.contraction_per_s = (1 - squared_norm(m)) / cycle_s;

  Matrix s = fixed_point(m, q);
  const double n = static_cast<double>(islands);
  double integral = 0;
  for (std::size_t r = 0; r < seconds.size(); ++r) {
    integral += seconds[r] * (s.trace() + seconds[r] * (n - 1) / 2);
    pass_round(schedule.rounds[r], seconds[r], drift, s);
  }
  mixing.disagreement_s = integral / (n * cycle_s);
  return mixing;
}

}  // namespace tombolo::schedule
