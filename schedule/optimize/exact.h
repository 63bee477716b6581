#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "schedule/optimize/problem.h"
#include "schedule/schedule.h"

namespace tombolo::schedule {

/// Up to this many islands every pair of rounds can be looked at: 21,147 partitions.
inline constexpr std::size_t kMaxExactIslands = 9;

/// The best of all cycles of one or two rounds, and what it took to know.
struct ExactOptimum {
  Schedule schedule;
  double disagreement_s = 0;
  std::vector<Schedule>
      runners_up;                ///< Good cycles met on the way, best first; the optimum is not among them.
  std::uint64_t partitions = 0;  ///< Rounds that were timed.
  std::uint64_t pairs_measured = 0;  ///< Pairs that no bound ruled out.
};

/// Finds the cycle of at most two rounds with the least D by going through all of them, passing over a pair
/// only where a lower bound on its D is not below the best D known. The answer is the same for the same
/// problem; among equals the first in the order of the search stays.
///
/// Two rounds with times T1, T2 and a and b sets: P = W_1 - J and Q = W_2 - J are orthogonal projections of
/// rank a - 1 and b - 1. With c the cosines of the angles between them (the canonical correlations of the
/// partitions) the geometric series of S <- A S A' + T (I - J) has the traces
///   n (T1 + T2) D = T1^2 ((n - 1)/2 + b - 1 + X) + T2^2 ((n - 1)/2 + a - 1 + X) + 2 T1 T2 (n - 1 + Y),
///   X = sum of c^4 / (1 - c^4),  Y = sum of c^2 / (1 - c^4).
/// D grows with T1 and T2, so a round at its least time is best. Bounds: X and Y are at least 0, and at least
/// what they are when all of the sum of c^2, which is cheap to compute, is spread evenly (both are convex).
///
/// Errors: those of Problem::check; kNotSupported for more than kMaxExactIslands islands.
Result<ExactOptimum> best_two_rounds(const Problem& problem);

/// D of the cycle of the two partitions with times `first_s` and `second_s`, by the formula above. Infinite
/// if together they do not join all islands.
double two_round_disagreement(const std::vector<std::uint64_t>& first, double first_s,
                              const std::vector<std::uint64_t>& second, double second_s, std::size_t islands);

}  // namespace tombolo::schedule
