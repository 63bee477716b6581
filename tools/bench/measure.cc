#include "tools/bench/measure.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include "base/check.h"

namespace tombolo::bench {
namespace {

/// Iterations of a side that take at least `seconds`. The search itself warms caches and branch predictors
/// up.
std::uint64_t calibrate(const Side& side, double seconds) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
  std::uint64_t iterations = 1;
  double took = side.run(iterations);
  while (took < seconds / 4 && iterations < kMost) {
    iterations *= 2;
    took = side.run(iterations);
  }
  if (took >= seconds) return iterations;
  return static_cast<std::uint64_t>(std::ceil(static_cast<double>(iterations) * seconds / took));
}

/// Work per second by repetition: iterations, not yet bytes or packets.
using Rates = std::vector<double>;

void fill_in(const Side& side, const Rates& rates, const Rates* limit, double limit_bytes, Row& row) {
  const double median = quantile(rates, 0.5);
  if (side.bytes > 0) {
    row.gbytes_per_s = side.bytes * median * 1e-9;
    row.gbit_per_s = 8 * *row.gbytes_per_s;
  }
  if (side.packets > 0) row.mpps = side.packets * median * 1e-6;
  row.spread = (quantile(rates, 0.75) - quantile(rates, 0.25)) / median;
  if (limit == nullptr) return;
  Rates parts;
  for (std::size_t r = 0; r < rates.size(); ++r)
    parts.push_back(side.bytes * rates[r] / (limit_bytes * (*limit)[r]));
  row.of_limit = quantile(parts, 0.5);
}

}  // namespace

double quantile(std::vector<double> values, double p) {
  CHECK(!values.empty() && p >= 0 && p <= 1);
  std::sort(values.begin(), values.end());
  const double position = p * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], position - static_cast<double>(below));
}

std::vector<Row> measure(std::span<const Side> sides, const MeasureOptions& options,
                         const std::function<void(std::uint32_t)>& progress) {
  std::vector<std::uint64_t> iterations;
  for (const Side& side : sides) iterations.push_back(calibrate(side, options.seconds));
  std::vector<Rates> rates(sides.size(), Rates(options.repeat));
  for (std::uint32_t r = 0; r < options.repeat; ++r) {
    progress(r + 1);
    for (std::size_t n = 0; n < sides.size(); ++n) {
      const std::size_t i = (n + r) % sides.size();
      rates[i][r] = static_cast<double>(iterations[i]) / sides[i].run(iterations[i]);
    }
  }
  std::optional<std::size_t> limit;
  for (std::size_t i = 0; i < sides.size(); ++i)
    if (sides[i].row.impl == "limit") limit = i;
  std::vector<Row> rows;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    rows.push_back(sides[i].row);
    fill_in(sides[i], rates[i], limit ? &rates[*limit] : nullptr, limit ? sides[*limit].bytes : 0,
            rows.back());
  }
  return rows;
}

}  // namespace tombolo::bench
