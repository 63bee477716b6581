#include "schedule/optimize/cycle_mixing.h"

#include <cmath>
#include <limits>
#include <numeric>

namespace tombolo::schedule {
namespace {

/// A cycle whose D still changes by more than this share after kMaxCycles is not worth a search's while.
constexpr double kSettled = 1e-11;
constexpr int kMaxCycles = 300;

/// W X W + seconds (I - J), W averaging within `round`: constant on its blocks.
BlockMatrix pass(const BlockMatrix& x, const Grouping& round, double seconds) {
  BlockMatrix next{&round, x.block_sums(round), seconds};
  for (std::size_t g = 0; g < round.size(); ++g)
    for (std::size_t h = 0; h < round.size(); ++h)
      next.averages(g, h) /= static_cast<double>(round.groups[g].size() * round.groups[h].size());
  return next;
}

}  // namespace

double BlockMatrix::trace() const {
  double sum = spread * (static_cast<double>(grouping->islands()) - 1);
  for (std::size_t g = 0; g < grouping->size(); ++g)
    sum += static_cast<double>(grouping->groups[g].size()) * averages(g, g);
  return sum;
}

RowMatrix BlockMatrix::row_sums(const Grouping& other) const {
  // Over the groups of this matrix first: islands of one group have the same row.
  RowMatrix transposed = RowMatrix::Zero(other.size(), grouping->size());
  for (std::size_t i = 0; i < other.islands(); ++i)
    transposed.row(other.group_of[i]) += averages.row(grouping->group_of[i]);
  const RowMatrix group_sums = transposed.transpose();
  RowMatrix flat(1, other.size());
  for (std::size_t g = 0; g < other.size(); ++g)
    flat(0, g) = spread * static_cast<double>(other.groups[g].size()) / static_cast<double>(other.islands());
  RowMatrix sums(other.islands(), other.size());
  for (std::size_t i = 0; i < other.islands(); ++i) {
    sums.row(i) = group_sums.row(grouping->group_of[i]) - flat.row(0);
    sums(i, other.group_of[i]) += spread;
  }
  return sums;
}

RowMatrix BlockMatrix::block_sums(const Grouping& other) const {
  RowMatrix half = RowMatrix::Zero(other.size(), grouping->size());
  for (std::size_t i = 0; i < other.islands(); ++i)
    half.row(other.group_of[i]) += averages.row(grouping->group_of[i]);
  const RowMatrix turned = half.transpose();
  RowMatrix sums = RowMatrix::Zero(other.size(), other.size());
  for (std::size_t i = 0; i < other.islands(); ++i)
    sums.row(other.group_of[i]) += turned.row(grouping->group_of[i]);
  const double islands = static_cast<double>(other.islands());
  for (std::size_t g = 0; g < other.size(); ++g) {
    const double size = static_cast<double>(other.groups[g].size());
    for (std::size_t h = 0; h < other.size(); ++h)
      sums(g, h) -= spread * size * static_cast<double>(other.groups[h].size()) / islands;
    sums(g, g) += spread * size;
  }
  return sums;
}

/// Goes round and round until the sum of the traces stands still.
bool CycleMixing::settle(const std::vector<Grouping>& rounds, const std::vector<double>& seconds,
                         bool forwards) {
  const std::size_t length = rounds.size();
  std::vector<BlockMatrix>& all = forwards ? before_ : worth_;
  all.resize(length);
  BlockMatrix x{&rounds[0], RowMatrix::Zero(rounds[0].size(), rounds[0].size()), 0};
  double last = 0;
  for (int cycle = 0; cycle < kMaxCycles; ++cycle) {
    double sum = 0;
    for (std::size_t step = 0; step < length; ++step) {
      const std::size_t r = forwards ? step : length - 1 - step;
      all[r] = std::move(x);
      x = pass(all[r], rounds[r], seconds[r]);
      sum += seconds[r] * x.trace();
    }
    passes_ += length;
    if (cycle > 0 && std::abs(sum - last) <= kSettled * sum) {
      // Once more round would change nothing: what came out last is what goes in first.
      all[forwards ? 0 : length - 1] = std::move(x);
      return true;
    }
    last = sum;
  }
  return false;
}

void CycleMixing::measure(const std::vector<Grouping>& rounds, const std::vector<double>& seconds) {
  passes_ = 0;
  cycle_s_ = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  disagreement_s_ = std::numeric_limits<double>::infinity();
  numerator_ = disagreement_s_;
  if (!settle(rounds, seconds, true)) return;
  const double n = static_cast<double>(islands_);
  double sum = 0;
  for (std::size_t r = 0; r < rounds.size(); ++r)
    sum += seconds[r] * (before_[r].trace() + seconds[r] * (n - 1) / 2);
  numerator_ = sum;
  disagreement_s_ = sum / (n * cycle_s_);
  if (!settle(rounds, seconds, false)) disagreement_s_ = std::numeric_limits<double>::infinity();
}

}  // namespace tombolo::schedule
