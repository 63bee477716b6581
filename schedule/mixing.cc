#include "schedule/mixing.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "schedule/fixed_point.h"
#include "schedule/mixing_input.h"

namespace tombolo::schedule {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

/// A round as the partition of all islands that it averages in: W = U U', U having a column for each block,
/// 1 / sqrt(size) at its members.
class Partition {
 public:
  Partition(const Round& round, std::size_t islands) : block_(islands, -1) {
    for (const Clique& clique : round.cliques) {
      for (const Rank rank : clique) block_[rank] = static_cast<Index>(sizes_.size());
      sizes_.push_back(static_cast<double>(clique.size()));
    }
    for (Index& block : block_) {
      if (block >= 0) continue;
      block = static_cast<Index>(sizes_.size());
      sizes_.push_back(1);
    }
  }

  Index blocks() const { return static_cast<Index>(sizes_.size()); }
  Index islands() const { return static_cast<Index>(block_.size()); }

  /// U.
  MatrixXd basis() const {
    MatrixXd u = MatrixXd::Zero(islands(), blocks());
    for (Index i = 0; i < islands(); ++i) u(i, block(i)) = 1 / std::sqrt(sizes_[block_[i]]);
    return u;
  }
  /// U' X, column by column: sums over blocks.
  MatrixXd reduced(const MatrixXd& x) const {
    MatrixXd sums = MatrixXd::Zero(blocks(), x.cols());
    for (Index column = 0; column < x.cols(); ++column)
      for (Index i = 0; i < islands(); ++i)
        sums(block(i), column) += x(i, column) / std::sqrt(sizes_[block_[i]]);
    return sums;
  }
  /// U Y.
  MatrixXd spread(const MatrixXd& y) const {
    MatrixXd x(islands(), y.cols());
    for (Index column = 0; column < y.cols(); ++column)
      for (Index i = 0; i < islands(); ++i) x(i, column) = y(block(i), column) / std::sqrt(sizes_[block_[i]]);
    return x;
  }
  /// W X.
  MatrixXd averaged(const MatrixXd& x) const { return spread(reduced(x)); }
  /// U' S U and W S W, of a symmetric S.
  MatrixXd reduced_both(const MatrixXd& s) const { return reduced(reduced(s).transpose()); }
  MatrixXd averaged_both(const MatrixXd& s) const { return spread(spread(reduced_both(s)).transpose()); }

 private:
  Index block(Index i) const { return block_[i]; }

  std::vector<Index> block_;   ///< By island.
  std::vector<double> sizes_;  ///< By block.
};

std::vector<Partition> partitions_of(const Schedule& schedule, std::size_t islands) {
  std::vector<Partition> partitions;
  for (const Round& round : schedule.rounds) partitions.emplace_back(round, islands);
  return partitions;
}

/// U_L' (W_L ... W_1 - J) U_1: as large as the whole in norm, since W_L = U_L U_L' and W_1 = U_1 U_1'.
double contraction_norm(const std::vector<Partition>& rounds) {
  const double n = static_cast<double>(rounds.front().islands());
  MatrixXd product = rounds.front().basis();
  for (std::size_t r = 1; r < rounds.size(); ++r) product = rounds[r].averaged(product);
  product = rounds.back().reduced(product);
  const MatrixXd ones = MatrixXd::Ones(rounds.front().islands(), 1);
  product -= rounds.back().reduced(ones) * rounds.front().reduced(ones).transpose() / n;
  return squared_norm(product);
}

/// D. The cycle is turned so that its last round has the fewest blocks, which leaves D as it is. At the start
/// of the cycle S = U X U' + T_L (I - J), U being that round's basis: what has c blocks needs only a c x c
/// fixed point.
double disagreement(const std::vector<Partition>& rounds, std::span<const double> seconds) {
  const Index islands = rounds.front().islands();
  const double n = static_cast<double>(islands);
  const MatrixXd drift = identity_without_mean(islands);
  const std::size_t last = static_cast<std::size_t>(
      std::min_element(rounds.begin(), rounds.end(),
                       [](const Partition& a, const Partition& b) { return a.blocks() < b.blocks(); }) -
      rounds.begin());
  std::vector<std::size_t> order(rounds.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = (last + 1 + i) % rounds.size();

  const Partition& few = rounds[last];
  MatrixXd m = few.basis();
  MatrixXd s = seconds[last] * drift;
  for (const std::size_t r : order) {
    m = rounds[r].averaged(m);
    s = rounds[r].averaged_both(s) + seconds[r] * drift;
  }
  const MatrixXd ones = few.reduced(MatrixXd::Ones(islands, 1));
  const auto x = cycle_fixed_point(few.reduced(m) - ones * ones.transpose() / n,
                                   few.reduced_both(s - seconds[last] * drift));
  if (!x) return std::numeric_limits<double>::infinity();

  s = few.spread(few.spread(*x).transpose()) + seconds[last] * drift;
  double integral = 0;
  double cycle_s = 0;
  for (const std::size_t r : order) {
    integral += seconds[r] * (s.trace() + seconds[r] * (n - 1) / 2);
    cycle_s += seconds[r];
    s = rounds[r].averaged_both(s) + seconds[r] * drift;
  }
  return integral / (n * cycle_s);
}

/// Whether the cliques of these rounds together join all islands: exactly then the islands come together.
bool joins_all(const Schedule& schedule, std::span<const double> probabilities, std::size_t islands) {
  std::vector<std::size_t> group(islands);
  std::iota(group.begin(), group.end(), std::size_t{0});
  const auto find = [&](std::size_t i) {
    while (group[i] != i) i = group[i] = group[group[i]];
    return i;
  };
  std::size_t groups = islands;
  for (std::size_t r = 0; r < schedule.rounds.size(); ++r) {
    if (!probabilities.empty() && probabilities[r] <= 0) continue;
    for (const Clique& clique : schedule.rounds[r].cliques)
      for (const Rank rank : clique) {
        const std::size_t a = find(clique.front());
        const std::size_t b = find(rank);
        if (a == b) continue;
        group[a] = b;
        --groups;
      }
  }
  return groups == 1;
}

}  // namespace

Result<Mixing> measure_mixing(const Schedule& schedule, std::span<const double> seconds,
                              std::size_t islands) {
  if (auto valid = check_mixing_input(schedule.rounds.size(), seconds, islands); !valid)
    return std::move(valid).error();
  if (!joins_all(schedule, {}, islands)) return Mixing{std::numeric_limits<double>::infinity(), 0};
  const std::vector<Partition> rounds = partitions_of(schedule, islands);
  const double cycle_s = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  return Mixing{disagreement(rounds, seconds), (1 - contraction_norm(rounds)) / cycle_s};
}

Result<Mixing> measure_random_mixing(const Schedule& patterns, std::span<const double> seconds,
                                     std::span<const double> probabilities, std::size_t islands) {
  if (auto valid = check_mixing_input(patterns.rounds.size(), seconds, islands); !valid)
    return std::move(valid).error();
  const auto chances = scaled_probabilities(probabilities, seconds.size());
  if (!chances) return chances.error();
  if (!joins_all(patterns, *chances, islands)) return Mixing{std::numeric_limits<double>::infinity(), 0};
  const std::vector<Partition> rounds = partitions_of(patterns, islands);
  const Index size = static_cast<Index>(islands);
  MatrixXd mean_w = MatrixXd::Zero(size, size);
  for (std::size_t r = 0; r < rounds.size(); ++r)
    mean_w += (*chances)[r] * rounds[r].averaged(MatrixXd::Identity(size, size));
  const auto map = [&](const MatrixXd& s) {
    MatrixXd image = MatrixXd::Zero(size, size);
    for (std::size_t r = 0; r < rounds.size(); ++r)
      if ((*chances)[r] > 0) image += (*chances)[r] * rounds[r].averaged_both(s);
    return image;
  };
  const MatrixXd drift = identity_without_mean(size);
  const RoundMoments moments = round_moments(seconds, *chances);
  const auto s = map_fixed_point(map, moments.mean_s * drift, true);
  if (!s) return Mixing{std::numeric_limits<double>::infinity(), 0};
  // W'W = W: E[W] - J is symmetric and at least 0, so its norm is the root of what squared_norm gives.
  const double left = std::sqrt(squared_norm(mean_w - MatrixXd::Identity(size, size) + drift));
  return Mixing{random_disagreement(s->trace(), moments, islands), (1 - left) / moments.mean_s};
}

}  // namespace tombolo::schedule
