#include "schedule/mixing_input.h"

#include <fmt/format.h>

#include <cmath>

namespace tombolo::schedule {

Status check_mixing_input(std::size_t rounds, std::span<const double> seconds, std::size_t islands) {
  if (islands == 0 || rounds == 0 || seconds.size() != rounds)
    return invalid_input(
        fmt::format("mixing: {} islands, {} rounds, {} times; needs islands and a time per round", islands,
                    rounds, seconds.size()));
  for (const double time_s : seconds)
    if (!(time_s > 0) || !std::isfinite(time_s))
      return invalid_input(fmt::format("mixing: a round of {} s; must be above 0", time_s));
  return ok_status();
}

Result<std::vector<double>> scaled_probabilities(std::span<const double> probabilities, std::size_t rounds) {
  double sum = 0;
  for (const double chance : probabilities) {
    if (!(chance >= 0) || !std::isfinite(chance))
      return invalid_input(fmt::format("mixing: a probability of {}; must be at least 0", chance));
    sum += chance;
  }
  if (probabilities.size() != rounds || !(sum > 0) || !std::isfinite(sum))
    return invalid_input(fmt::format("mixing: {} probabilities that sum to {}; needs {}, not all 0",
                                     probabilities.size(), sum, rounds));
  std::vector<double> scaled(probabilities.begin(), probabilities.end());
  for (double& chance : scaled) chance /= sum;
  return scaled;
}

RoundMoments round_moments(std::span<const double> seconds, std::span<const double> probabilities) {
  RoundMoments moments;
  for (std::size_t r = 0; r < seconds.size(); ++r) {
    moments.mean_s += probabilities[r] * seconds[r];
    moments.mean_square_s2 += probabilities[r] * seconds[r] * seconds[r];
  }
  return moments;
}

double random_disagreement(double trace, const RoundMoments& moments, std::size_t islands) {
  const double n = static_cast<double>(islands);
  return (moments.mean_s * trace + moments.mean_square_s2 * (n - 1) / 2) / (n * moments.mean_s);
}

}  // namespace tombolo::schedule
