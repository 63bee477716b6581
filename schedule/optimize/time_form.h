#pragma once

#include <Eigen/Dense>
#include <cstddef>
#include <span>
#include <vector>

#include "schedule/optimize/cycle.h"

namespace tombolo::schedule {

/// D of a cycle of partitions as a function of its round times, which it does not look at: what drifts during
/// round k counts in proportion to T_k, and during round r for as long as T_r. So
///   D = (sum over r and k of T_r q(r, k) T_k) / (n sum T)
/// with q(r, k) = the sum of |(I - J) W_{r-1} ... W_{k+1}|^2 over all rounds r of this and later cycles, and
/// (n - 1) / 2 for what drifts during r itself. One form serves for as many networks as one likes.
class TimeForm {
 public:
  explicit TimeForm(std::size_t islands) : islands_(static_cast<double>(islands)) {}

  /// A new cycle of at least one round. What its first rounds add is in the form at once.
  void begin(std::span<const RoundHandle> cycle);

  /// Adds what one more cycle of time leaves of every drift: coefficients only grow, so that D, too, is
  /// approached from below. Returns the share that this added; it stays above 0 if the rounds do not join all
  /// islands.
  double refine();

  /// By draw: D, in seconds, of round times in seconds, [draw][round].
  Eigen::ArrayXd disagreements_s(const Eigen::MatrixXd& seconds) const;

 private:
  std::size_t rounds() const { return partitions_.size(); }
  /// W of the next round in turn, applied to what is left of the drift of round k; returns its square.
  double apply_next(std::size_t k);

  double islands_;
  std::vector<const TimedPartition*> partitions_;
  std::vector<std::vector<double>> shares_;  ///< By round: its sets' shares in the sets before.
  /// By round k: means of the sets of round k + 1 in those of the latest round applied, [set][set].
  std::vector<std::vector<double>> products_;
  std::vector<std::size_t> applied_;  ///< By round k: the latest round applied.
  std::vector<double> half_;
  Eigen::MatrixXd coefficients_;  ///< q(r, k).
};

}  // namespace tombolo::schedule
