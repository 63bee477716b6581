#include "schedule/optimize/exact.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "schedule/optimize/partition.h"

namespace tombolo::schedule {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// The first pass tries this many of the quickest partitions of each number of sets, so that the full pass
/// starts with a good value to prune by.
constexpr std::size_t kFirstPass = 200;
constexpr std::size_t kRunnersUp = 16;
/// Where a canonical correlation is this close to 1 the partitions leave two groups of islands apart.
constexpr double kJoined = 1 - 1e-9;
/// A pair must be better by more than rounding, so that the simplest of equal cycles stays.
constexpr double kBetter = 1 - 1e-12;

/// A partition with its round's time, packed for the inner loop.
struct Candidate {
  std::array<std::uint16_t, kMaxExactIslands> sets{};
  std::array<double, kMaxExactIslands> inverse_size{};
  std::size_t count = 0;
  double seconds = 0;
};

/// n (T1 + T2) D of the declaration's formula, given X and Y.
struct Formula {
  double n;
  double at(double first_s, double first_sets, double second_s, double second_sets, double x,
            double y) const {
    const double first = first_s * first_s * ((n - 1) / 2 + second_sets - 1 + x);
    const double second = second_s * second_s * ((n - 1) / 2 + first_sets - 1 + x);
    return (first + second + 2 * first_s * second_s * (n - 1 + y)) / (n * (first_s + second_s));
  }
};

/// The sum of c^2: the squared norm of |A n B| / sqrt(|A||B|), less 1 for the mean that both keep.
double overlap(const Candidate& a, const Candidate& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.count; ++i) {
    double row = 0;
    for (std::size_t j = 0; j < b.count; ++j) {
      const int common = std::popcount(static_cast<unsigned>(a.sets[i] & b.sets[j]));
      row += common * common * b.inverse_size[j];
    }
    sum += row * a.inverse_size[i];
  }
  return sum - 1;
}

/// X and Y of two partitions given as sets; infinite if they do not join all islands.
template <typename Sets>
std::pair<double, double> correlation_sums(const Sets& a, std::size_t a_count, const Sets& b,
                                           std::size_t b_count, std::size_t islands) {
  Eigen::MatrixXd c(a_count, b_count);
  for (std::size_t i = 0; i < a_count; ++i)
    for (std::size_t j = 0; j < b_count; ++j) {
      const double sizes = std::sqrt(static_cast<double>(std::popcount(a[i]) * std::popcount(b[j])));
      const int common = std::popcount(static_cast<std::uint64_t>(a[i] & b[j]));
      c(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) =
          common / sizes - sizes / static_cast<double>(islands);
    }
  const Eigen::MatrixXd squares =
      a_count <= b_count ? Eigen::MatrixXd(c * c.transpose()) : Eigen::MatrixXd(c.transpose() * c);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(squares, Eigen::EigenvaluesOnly);
  double x = 0;
  double y = 0;
  for (const double eigenvalue : solver.eigenvalues()) {
    const double square = std::max(eigenvalue, 0.0);
    if (square > kJoined) return {kInfinity, kInfinity};
    x += square * square / (1 - square * square);
    y += square / (1 - square * square);
  }
  return {x, y};
}

/// Goes through pairs and remembers the best.
class PairSearch {
 public:
  explicit PairSearch(const Problem& problem)
      : islands_(problem.islands()), formula_{static_cast<double>(problem.islands())} {
    for_each_partition(islands_, [&](const Partition& partition) { add(problem, partition); });
    for (auto& group : by_sets_)
      std::sort(group.begin(), group.end(), [](const Candidate& a, const Candidate& b) {
        return std::pair(a.seconds, a.sets) < std::pair(b.seconds, b.sets);
      });
  }

  ExactOptimum run() {
    consider_full();
    // Partitions of a and b sets join all islands only if (a - 1) + (b - 1) <= n - 1: else some direction is
    // left alone by both projections.
    for (const std::size_t limit : {kFirstPass, std::numeric_limits<std::size_t>::max()})
      for (std::size_t sum = 2; sum <= islands_ + 1; ++sum)
        for (std::size_t a = 1; 2 * a <= sum; ++a) try_groups(a, sum - a, limit);
    return result();
  }

 private:
  struct Found {
    double disagreement_s = kInfinity;
    std::vector<Candidate> rounds;
  };

  void add(const Problem& problem, const Partition& partition) {
    if (partition.size() == islands_) return;  // Nobody meets.
    const auto time = problem.model().time(to_round(partition), problem.update_bytes());
    if (!time) return;  // The network does not join a clique.
    Candidate candidate;
    candidate.count = partition.size();
    candidate.seconds = time->seconds;
    for (std::size_t i = 0; i < partition.size(); ++i) {
      candidate.sets[i] = static_cast<std::uint16_t>(partition[i]);
      candidate.inverse_size[i] = 1.0 / std::popcount(partition[i]);
    }
    by_sets_[partition.size()].push_back(candidate);
    ++partitions_;
  }

  void consider_full() {
    const double n = static_cast<double>(islands_);
    for (const Candidate& full : by_sets_[1]) keep({1.5 * full.seconds * (n - 1) / n, {full}});
  }

  /// All pairs of a partition of `a` sets and one of `b`, of which only the `limit` quickest.
  void try_groups(std::size_t a, std::size_t b, std::size_t limit) {
    const auto& first = by_sets_[a];
    const auto& second = by_sets_[b];
    for (std::size_t i = 0; i < std::min(first.size(), limit); ++i)
      for (std::size_t j = a == b ? i : 0; j < std::min(second.size(), limit); ++j)
        if (!try_pair(first[i], second[j])) break;
  }

  /// False if no partner of `a` that takes as long as `b` or longer, and has as many sets, can do better.
  bool try_pair(const Candidate& a, const Candidate& b) {
    const auto value = [&](double x, double y) {
      return formula_.at(a.seconds, static_cast<double>(a.count), b.seconds, static_cast<double>(b.count), x,
                         y);
    };
    const double best_s = found_.empty() ? kInfinity : found_.back().disagreement_s * kBetter;
    if (value(0, 0) >= best_s) return false;
    const double angles = static_cast<double>(std::min(a.count, b.count) - 1);
    if (angles > 0) {
      const double mean = overlap(a, b) / angles;
      if (mean > kJoined) return true;
      const double square = mean * mean;
      if (value(angles * square / (1 - square), angles * mean / (1 - square)) >= best_s) return true;
    }
    ++measured_;
    const auto [x, y] = correlation_sums(a.sets, a.count, b.sets, b.count, islands_);
    if (x < kInfinity && value(x, y) < best_s) keep({value(x, y), {a, b}});
    return true;
  }

  void keep(Found found) { found_.push_back(std::move(found)); }

  ExactOptimum result() const {
    ExactOptimum optimum;
    optimum.partitions = partitions_;
    optimum.pairs_measured = measured_;
    optimum.disagreement_s = found_.back().disagreement_s;
    optimum.schedule = to_schedule(found_.back(), "optimum of two rounds");
    for (std::size_t i = found_.size() - 1; i-- > 0 && optimum.runners_up.size() < kRunnersUp;)
      optimum.runners_up.push_back(to_schedule(found_[i], "runner-up"));
    return optimum;
  }

  static Schedule to_schedule(const Found& found, const char* name) {
    Schedule schedule{name, {}};
    for (const Candidate& round : found.rounds)
      schedule.rounds.push_back(to_round(Partition(round.sets.begin(), round.sets.begin() + round.count)));
    return schedule;
  }

  std::size_t islands_;
  Formula formula_;
  std::array<std::vector<Candidate>, kMaxExactIslands + 1> by_sets_;  ///< By number of sets; quickest first.
  std::vector<Found> found_;                                          ///< Each better than the one before.
  std::uint64_t partitions_ = 0;
  std::uint64_t measured_ = 0;
};

}  // namespace

Result<ExactOptimum> best_two_rounds(const Problem& problem) {
  if (auto sound = problem.check(); !sound) return std::move(sound).error();
  if (problem.islands() > kMaxExactIslands)
    return Error{ErrorCode::kNotSupported,
                 "the exact search is for at most " + std::to_string(kMaxExactIslands) + " islands"};
  // With the network sound and joined only what the model does not support can go wrong; ask it once.
  Partition all{(IslandSet{1} << problem.islands()) - 1};
  if (auto time = problem.model().time(to_round(all), problem.update_bytes()); !time)
    return std::move(time).error();
  return PairSearch(problem).run();
}

double two_round_disagreement(const Partition& first, double first_s, const Partition& second,
                              double second_s, std::size_t islands) {
  const auto [x, y] = correlation_sums(first, first.size(), second, second.size(), islands);
  return Formula{static_cast<double>(islands)}.at(first_s, static_cast<double>(first.size()), second_s,
                                                  static_cast<double>(second.size()), x, y);
}

}  // namespace tombolo::schedule
