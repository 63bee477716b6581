#include "schedule/optimize/time_form.h"

#include <algorithm>
#include <utility>

namespace tombolo::schedule {

/// After round k + 1 the drift of round k is I - J averaged over its sets, of square (sets - 1).
void TimeForm::begin(std::span<const RoundHandle> cycle) {
  const std::size_t count = cycle.size();
  partitions_.clear();
  for (const RoundHandle& round : cycle) partitions_.push_back(round.get());
  shares_.resize(std::max(shares_.size(), count));
  products_.resize(std::max(products_.size(), count));
  applied_.resize(std::max(applied_.size(), count));
  coefficients_.setZero(static_cast<Eigen::Index>(count), static_cast<Eigen::Index>(count));
  for (std::size_t k = 0; k < count; ++k) {
    set_shares(*partitions_[(k + count - 1) % count], *partitions_[k], shares_[k]);
    const std::size_t next = (k + 1) % count;
    const std::size_t sets = partitions_[next]->sets.size();
    products_[k].assign(sets * sets, 0.0);
    for (std::size_t a = 0; a < sets; ++a) products_[k][a * sets + a] = 1;
    applied_[k] = next;
    const auto column = static_cast<Eigen::Index>(k);
    coefficients_(column, column) += (islands_ - 1) / 2;
    coefficients_(static_cast<Eigen::Index>(next), column) += islands_ - 1;
    coefficients_(static_cast<Eigen::Index>((next + 1) % count), column) += static_cast<double>(sets) - 1;
  }
}

double TimeForm::refine() {
  double added = 0;
  for (std::size_t k = 0; k < rounds(); ++k)
    for (std::size_t step = 0; step < rounds(); ++step) {
      const double square = apply_next(k);
      const auto row = static_cast<Eigen::Index>((applied_[k] + 1) % rounds());
      coefficients_(row, static_cast<Eigen::Index>(k)) += square;
      added += square;
    }
  return added / coefficients_.sum();
}

/// With M the means, a square is the sum over sets a of the latest round and p of the first of
/// size_a M(a, p)^2 / size_p, less the 1 of J.
double TimeForm::apply_next(std::size_t k) {
  const std::vector<double>& first = partitions_[(k + 1) % rounds()]->sizes;
  const std::size_t old_sets = partitions_[applied_[k]]->sizes.size();
  applied_[k] = (applied_[k] + 1) % rounds();
  const std::vector<double>& sizes = partitions_[applied_[k]]->sizes;
  const double* const share = shares_[applied_[k]].data();
  half_.assign(sizes.size() * first.size(), 0.0);
  double square = -1;
  for (std::size_t a = 0; a < sizes.size(); ++a) {
    double* const row = half_.data() + a * first.size();
    for (std::size_t b = 0; b < old_sets; ++b) {
      const double weight = share[a * old_sets + b];
      if (weight == 0) continue;
      const double* const old_row = products_[k].data() + b * first.size();
      for (std::size_t p = 0; p < first.size(); ++p) row[p] += weight * old_row[p];
    }
    for (std::size_t p = 0; p < first.size(); ++p) square += sizes[a] * row[p] * row[p] / first[p];
  }
  std::swap(products_[k], half_);
  return std::max(square, 0.0);
}

Eigen::ArrayXd TimeForm::disagreements_s(const Eigen::MatrixXd& seconds) const {
  const Eigen::ArrayXd sums = (seconds * coefficients_.transpose()).cwiseProduct(seconds).rowwise().sum();
  return sums / (islands_ * seconds.rowwise().sum().array());
}

}  // namespace tombolo::schedule
