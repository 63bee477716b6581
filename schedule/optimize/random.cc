#include "schedule/optimize/random.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <bit>
#include <cmath>
#include <coin/ClpSimplex.hpp>
#include <limits>

namespace tombolo::schedule {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// I - W of a round: what it removes.
MatrixXd removed_by(const Partition& sets, std::size_t islands) {
  MatrixXd removed = MatrixXd::Identity(islands, islands);
  for (const IslandSet set : sets)
    for (IslandSet i = set; i != 0; i &= i - 1)
      for (IslandSet j = set; j != 0; j &= j - 1)
        removed(std::countr_zero(i), std::countr_zero(j)) -= 1.0 / std::popcount(set);
  return removed;
}

/// The master problem: shares p of the time, one per round, and the value z.
class Master {
 public:
  explicit Master(std::size_t islands) : islands_(islands) {
    lp_.setLogLevel(0);
    lp_.setOptimizationDirection(-1);
    lp_.addRow(0, nullptr, nullptr, 1, 1);  // The shares are 1 in all.
    lp_.addColumn(0, nullptr, nullptr, 0, COIN_DBL_MAX, 1);
  }

  void add_round(const TimedRound& round) {
    removed_per_s_.push_back(removed_by(round.sets, islands_) / round.seconds);
    std::vector<int> rows{0};
    std::vector<double> values{1};
    for (std::size_t i = 0; i < cuts_.size(); ++i)
      add_value(i, cuts_[i], removed_per_s_.back(), rows, values);
    lp_.addColumn(static_cast<int>(rows.size()), rows.data(), values.data(), 0, COIN_DBL_MAX, 0);
  }

  void add_cut(const VectorXd& v) {
    std::vector<int> columns{0};
    std::vector<double> values{-1};
    for (std::size_t i = 0; i < removed_per_s_.size(); ++i)
      add_value(i, v, removed_per_s_[i], columns, values);
    cuts_.push_back(v);
    lp_.addRow(static_cast<int>(columns.size()), columns.data(), values.data(), 0, COIN_DBL_MAX);
  }

  /// False if the solver gave up.
  bool solve() { return lp_.dual() == 0 || lp_.primal() == 0; }
  double value_per_s() const { return lp_.objectiveValue(); }
  std::size_t rounds() const { return removed_per_s_.size(); }

  std::vector<double> shares() const {
    const double* solution = lp_.primalColumnSolution();
    std::vector<double> shares(removed_per_s_.size());
    double all = 0;
    for (std::size_t i = 0; i < shares.size(); ++i) all += shares[i] = std::max(0.0, solution[i + 1]);
    for (double& share : shares) share /= all;
    return shares;
  }

  MatrixXd removed_per_s(const std::vector<double>& shares) const {
    MatrixXd sum = MatrixXd::Zero(islands_, islands_);
    for (std::size_t i = 0; i < shares.size(); ++i)
      if (shares[i] > 0) sum += shares[i] * removed_per_s_[i];
    return sum;
  }

  /// The dual's X, of trace 1.
  MatrixXd weights() const {
    const double* dual = lp_.dualRowSolution();
    MatrixXd x = MatrixXd::Zero(islands_, islands_);
    for (std::size_t i = 0; i < cuts_.size(); ++i)
      x += std::abs(dual[i + 1]) * cuts_[i] * cuts_[i].transpose();
    return x / x.trace();
  }

 private:
  /// Rounding's remainders would upset the solver's scaling: they are 0.
  static void add_value(std::size_t index, const VectorXd& v, const MatrixXd& removed_per_s,
                        std::vector<int>& indices, std::vector<double>& values) {
    const double value = v.dot(removed_per_s * v);
    if (value < 1e-9 * removed_per_s.trace()) return;
    indices.push_back(static_cast<int>(index + 1));
    values.push_back(value);
  }

  std::size_t islands_;
  ClpSimplex lp_;
  std::vector<MatrixXd> removed_per_s_;
  std::vector<VectorXd> cuts_;
};

/// The search: what is known from both sides.
class Search {
 public:
  Search(const Problem& problem, const RandomOptions& options)
      : options_(options), islands_(problem.islands()), pricing_(problem), master_(islands_) {}

  Result<RandomSchedule> run();

 private:
  void begin();
  Status settle();
  void price(const MatrixXd& x);
  bool near(double gap) const { return bound_per_s_ <= best_per_s_ * (1 + gap); }
  RandomSchedule result() const;

  RandomOptions options_;
  std::size_t islands_;
  Pricing pricing_;
  Master master_;
  std::vector<TimedRound> rounds_;
  std::vector<double> best_shares_;
  double best_per_s_ = 0;
  double bound_per_s_ = std::numeric_limits<double>::infinity();
  MatrixXd best_weights_;
  std::size_t pricings_ = 0;
};

void Search::begin() {
  const MatrixXd middle = MatrixXd::Identity(islands_, islands_) -
                          MatrixXd::Constant(islands_, islands_, 1.0 / static_cast<double>(islands_));
  for (std::size_t i = 0; i < islands_; ++i)
    for (std::size_t j = 0; j < i; ++j)
      master_.add_cut((VectorXd::Unit(islands_, i) - VectorXd::Unit(islands_, j)) / std::sqrt(2.0));
  rounds_.push_back(pricing_.timed({(IslandSet{1} << islands_) - 1}));
  master_.add_round(rounds_.back());
  price(middle / (static_cast<double>(islands_) - 1));
}

/// Solves the master for the rounds known, until the vectors added tell it what it gets.
Status Search::settle() {
  for (int step = 0; step < 200; ++step) {
    if (!master_.solve()) return Error{ErrorCode::kFailed, "the linear solver gave up"};
    const std::vector<double> shares = master_.shares();
    const MatrixXd removed = master_.removed_per_s(shares);
    // The mean's eigenvalue, 0, is moved to the upper end, so that no other eigenvector can mix with it.
    const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(
        removed + MatrixXd::Constant(islands_, islands_, removed.trace() + 1));
    const double second = eigen.eigenvalues()(0);
    if (second > best_per_s_) {
      best_per_s_ = second;
      best_shares_ = shares;
    }
    const double value = master_.value_per_s();
    if (second >= value * (1 - options_.gap / 4)) break;
    for (std::size_t i = 0; i + 1 < islands_ && eigen.eigenvalues()(i) < value * (1 - options_.gap / 8); ++i)
      master_.add_cut(eigen.eigenvectors().col(i));
  }
  return ok_status();
}

void Search::price(const MatrixXd& x) {
  ++pricings_;
  // A round hardly better than what is known would change nothing.
  const auto answer = pricing_.price(x, best_per_s_ * (1 + options_.gap / 2));
  if (answer.bound_per_s < bound_per_s_) {
    bound_per_s_ = answer.bound_per_s;
    best_weights_ = x;
  }
  const std::size_t first = answer.rounds.size() - std::min<std::size_t>(answer.rounds.size(), 8);
  for (std::size_t i = first; i < answer.rounds.size(); ++i) {
    rounds_.push_back(answer.rounds[i]);
    master_.add_round(rounds_.back());
  }
}

Result<RandomSchedule> Search::run() {
  begin();
  while (true) {
    if (auto settled = settle(); !settled) return std::move(settled).error();
    if (near(options_.gap) || pricings_ >= options_.max_pricings) break;
    // Between the dual and the weights of the best bound: the dual alone leaps about.
    const MatrixXd dual = master_.weights();
    const std::size_t known = rounds_.size();
    price(0.5 * dual + 0.5 * best_weights_);
    if (near(options_.gap)) break;
    if (rounds_.size() == known) price(dual);
  }
  return result();
}

RandomSchedule Search::result() const {
  RandomSchedule schedule;
  schedule.r_iid_per_s = best_per_s_;
  schedule.bound_per_s = bound_per_s_;
  schedule.gap = bound_per_s_ / best_per_s_ - 1;
  schedule.pricings = pricings_;
  double draws_per_s = 0;
  for (std::size_t i = 0; i < best_shares_.size(); ++i) draws_per_s += best_shares_[i] / rounds_[i].seconds;
  for (std::size_t i = 0; i < best_shares_.size(); ++i)
    if (best_shares_[i] > 0)
      schedule.entries.push_back({rounds_[i], best_shares_[i] / rounds_[i].seconds / draws_per_s});
  return schedule;
}

}  // namespace

Result<RandomSchedule> optimal_random(const Problem& problem, const RandomOptions& options) {
  if (auto checked = problem.check(); !checked) return std::move(checked).error();
  if (problem.islands() > kMaxPricedIslands)
    return Error{ErrorCode::kNotSupported,
                 fmt::format("the best random schedule is known for up to {} islands, not for {}",
                             kMaxPricedIslands, problem.islands())};
  return Search(problem, options).run();
}

}  // namespace tombolo::schedule
