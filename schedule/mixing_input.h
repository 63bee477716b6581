#pragma once

#include <span>
#include <vector>

#include "base/result.h"

namespace tombolo::schedule {

/// What all measures of mixing ask of their input: islands, rounds, and a time above 0 for every round.
Status check_mixing_input(std::size_t rounds, std::span<const double> seconds, std::size_t islands);

/// Probabilities scaled to a sum of 1.
Result<std::vector<double>> scaled_probabilities(std::span<const double> probabilities, std::size_t rounds);

/// Of the time of a round drawn at random.
struct RoundMoments {
  double mean_s = 0;
  double mean_square_s2 = 0;
};
RoundMoments round_moments(std::span<const double> seconds, std::span<const double> probabilities);

/// D of rounds drawn independently, from the trace of S at a round's start: a moment that is picked from all
/// of time lies in a round that is picked with a chance proportional to its length, but S does not depend on
/// it: (E[T] tr S + E[T^2] (n - 1) / 2) / (n E[T]).
double random_disagreement(double trace, const RoundMoments& moments, std::size_t islands);

}  // namespace tombolo::schedule
