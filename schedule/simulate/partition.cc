#include "schedule/simulate/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tombolo::schedule {
namespace {

/// Fisher and Yates: every order is equally likely.
template <typename T>
void shuffle(std::span<T> values, Random& random) {
  for (std::size_t left = values.size(); left > 1; --left)
    std::swap(values[left - 1], values[random.below(left)]);
}

}  // namespace

Result<std::vector<std::vector<std::uint32_t>>> partition_samples(std::span<const std::uint8_t> labels,
                                                                  std::size_t islands, double skew,
                                                                  Random& random) {
  if (!(skew >= 0 && skew <= 1)) return invalid_input(fmt::format("skew {}: must be 0 to 1", skew));
  if (islands == 0 || labels.size() < islands)
    return invalid_input(
        fmt::format("{} samples for {} islands; needs at least one each", labels.size(), islands));

  std::vector<std::uint32_t> order(labels.size());
  std::iota(order.begin(), order.end(), 0U);
  shuffle(std::span(order), random);
  const auto sorted_count = std::llround(skew * static_cast<double>(order.size()));
  const auto sorted_end = order.begin() + sorted_count;
  std::stable_sort(order.begin(), sorted_end,
                   [&](std::uint32_t a, std::uint32_t b) { return labels[a] < labels[b]; });

  std::vector<std::size_t> pieces(islands);
  std::iota(pieces.begin(), pieces.end(), std::size_t{0});
  shuffle(std::span(pieces), random);
  std::vector<std::vector<std::uint32_t>> parts(islands);
  const auto sorted = static_cast<std::size_t>(sorted_count);
  for (std::size_t piece = 0; piece < islands; ++piece) {
    std::vector<std::uint32_t>& part = parts[pieces[piece]];
    // The random rest fills every island up to its share of the whole.
    const auto share = [&](std::size_t total, std::size_t p) { return total * p / islands; };
    part.assign(order.begin() + static_cast<std::ptrdiff_t>(share(sorted, piece)),
                order.begin() + static_cast<std::ptrdiff_t>(share(sorted, piece + 1)));
    const std::size_t rest_begin = sorted + share(order.size(), piece) - share(sorted, piece);
    const std::size_t rest_end = sorted + share(order.size(), piece + 1) - share(sorted, piece + 1);
    part.insert(part.end(), order.begin() + static_cast<std::ptrdiff_t>(rest_begin),
                order.begin() + static_cast<std::ptrdiff_t>(rest_end));
  }
  return parts;
}

}  // namespace tombolo::schedule
