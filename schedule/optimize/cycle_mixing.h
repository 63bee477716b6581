#pragma once

#include <Eigen/Dense>
#include <cstdint>
#include <vector>

#include "schedule/optimize/grouping.h"

namespace tombolo::schedule {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// A symmetric matrix over islands that is constant on the blocks of a partition, but for a multiple of I -
/// J: X = P averages P' + spread (I - J), with P the membership of `grouping`. Every S and every weight of a
/// cycle of partitions has this form, so a round costs islands x groups and never islands squared.
struct BlockMatrix {
  const Grouping* grouping = nullptr;
  RowMatrix averages;  ///< [group][group].
  double spread = 0;

  double at(Rank i, Rank j) const {
    const double flat = 1.0 / static_cast<double>(grouping->islands());
    return averages(grouping->group_of[i], grouping->group_of[j]) + spread * ((i == j ? 1.0 : 0.0) - flat);
  }
  double trace() const;
  /// Sums over the groups of another partition: [island][group].
  RowMatrix row_sums(const Grouping& other) const;
  /// [group][group] of another partition.
  RowMatrix block_sums(const Grouping& other) const;
};

/// D of a cycle of partitions, kept so that a small change is quickly measured again. With round times T_r,
/// S_r before round r, S_{r+1} = W_r S_r W_r + T_r (I - J):
///   D = N / (n sum T),  N = sum of T_r trace S_r + T_r^2 (n - 1)/2.
/// Backwards, the worth Y_r = T_r (I - J) + W_r Y_{r+1} W_r is the derivative of N with respect to S_r: what
/// a change of round r alone does to N is trace(Y_{r+1} (W' S_r W' - W S_r W)), exact but for what comes
/// round again after a whole cycle.
class CycleMixing {
 public:
  explicit CycleMixing(std::size_t islands) : islands_(islands) {}

  /// A new cycle, with S and Y found anew. Rounds must outlive the next `measure`.
  void measure(const std::vector<Grouping>& rounds, const std::vector<double>& seconds);

  /// Infinite if it does not settle: the rounds do not join all islands, or hardly.
  double disagreement_s() const { return disagreement_s_; }
  double numerator() const { return numerator_; }
  double cycle_s() const { return cycle_s_; }
  const BlockMatrix& before(std::size_t round) const { return before_[round]; }      ///< S_r.
  const BlockMatrix& worth_after(std::size_t round) const { return worth_[round]; }  ///< Y_{r+1}.
  /// Passes of one round in the last measurement, both ways.
  std::size_t passes() const { return passes_; }

 private:
  bool settle(const std::vector<Grouping>& rounds, const std::vector<double>& seconds, bool forwards);

  std::size_t islands_;
  std::vector<BlockMatrix> before_;
  std::vector<BlockMatrix> worth_;
  double disagreement_s_ = 0;
  double numerator_ = 0;
  double cycle_s_ = 0;
  std::size_t passes_ = 0;
};

}  // namespace tombolo::schedule
