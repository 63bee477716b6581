#include "schedule/simulate/order.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace tombolo::schedule {
namespace {

/// From 0; equal values share the mean of their ranks.
std::vector<double> ranks(std::span<const double> values) {
  std::vector<double> result;
  for (const double value : values) {
    const auto less = std::ranges::count_if(values, [&](double other) { return other < value; });
    const auto equal = std::ranges::count(values, value);
    result.push_back(static_cast<double>(less) + static_cast<double>(equal - 1) / 2);
  }
  return result;
}

bool clearly_less(double a, double b, double tolerance) { return b - a > tolerance * std::abs(b); }

}  // namespace

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  CHECK(a.size() == b.size());
  const std::vector<double> x = ranks(a);
  const std::vector<double> y = ranks(b);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
    xy += (x[i] - mean) * (y[i] - mean);
  }
  return xy / std::sqrt(xx * yy);
}

std::vector<std::pair<std::size_t, std::size_t>> reversed_pairs(std::span<const double> a,
                                                                std::span<const double> b, double a_tolerance,
                                                                double b_tolerance) {
  CHECK(a.size() == b.size());
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < a.size(); ++j)
      if (clearly_less(a[i], a[j], a_tolerance) && clearly_less(b[j], b[i], b_tolerance))
        pairs.emplace_back(i, j);
  return pairs;
}

}  // namespace tombolo::schedule
