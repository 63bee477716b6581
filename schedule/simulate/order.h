#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace tombolo::schedule {

/// Spearman's rank correlation of two lists of equal length: 1 if they put things in the same order, -1 if in
/// the opposite one; ties share the mean of their ranks. NaN for fewer than two things, or where all of one
/// list is equal.
double rank_correlation(std::span<const double> a, std::span<const double> b);

/// Pairs (i, j) with a[i] < a[j] but b[i] > b[j], where both differ by more than their tolerance, relative to
/// the larger one: what the two lists disagree about.
std::vector<std::pair<std::size_t, std::size_t>> reversed_pairs(std::span<const double> a,
                                                                std::span<const double> b, double a_tolerance,
                                                                double b_tolerance);

}  // namespace tombolo::schedule
