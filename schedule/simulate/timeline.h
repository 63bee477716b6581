#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "schedule/schedule.h"

namespace tombolo::schedule {

/// One weighted averaging on its way: the parameters that islands held at `sent_ns` are mixed by the weights,
/// and the results are there at `arrives_ns`.
struct Averaging {
  std::int64_t sent_ns = 0;
  std::int64_t arrives_ns = 0;  ///< Not before `sent_ns`.
  std::uint32_t weights = 0;    ///< Index in Timeline::weights.
  std::uint32_t fragment = 0;   ///< Which part of the model, below Timeline::fragments.
};

/// All exchanges of a run. The list is in causal order: where one exchange arrives at the very time at which
/// another is sent, the later one in the list carries the result of the earlier one.
struct Timeline {
  std::vector<Eigen::MatrixXd> weights;  ///< n x n; island i gets the sum over j of (i, j) times what j sent.
  std::vector<Averaging> exchanges;
  std::uint32_t fragments = 1;  ///< The model is cut into as many parts of equal size.
};

/// Rounds with a barrier behind each: what a schedule, a table of weights, or a lottery of rounds becomes.
struct WeightedRounds {
  std::vector<Eigen::MatrixXd> weights;  ///< By round.
  std::vector<double> seconds;           ///< By round, above 0.
  std::vector<double> probability;  ///< Empty: in order, again and again. Else every round is drawn anew.
};

/// The weights of a round of cliques: the mean inside a clique; an island that rests keeps what it has.
Eigen::MatrixXd clique_weights(const Round& round, std::size_t islands);

/// `seconds` by round of the schedule.
WeightedRounds weighted_rounds(const Schedule& schedule, std::span<const double> seconds,
                               std::size_t islands);

/// Lets a round begin where the one before it ends, from 0 to at least `duration_s`.
/// Errors: kInvalidInput for a count of times or probabilities that does not fit, a time below a nanosecond,
/// weights that are no n x n matrix of row sums 1, or more than kMaxExchanges exchanges.
Result<Timeline> make_timeline(const WeightedRounds& rounds, std::size_t islands, double duration_s,
                               Random& random);

inline constexpr std::size_t kMaxExchanges = 1000000;

}  // namespace tombolo::schedule
