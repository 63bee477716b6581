#include "schedule/simulate/timeline.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>
#include <utility>

namespace tombolo::schedule {
namespace {

constexpr double kNsPerSecond = 1e9;
constexpr double kRowSumTolerance = 1e-9;

Status check_rounds(const WeightedRounds& rounds, std::size_t islands) {
  const std::size_t count = rounds.weights.size();
  if (count == 0 || rounds.seconds.size() != count ||
      (!rounds.probability.empty() && rounds.probability.size() != count))
    return invalid_input(fmt::format("{} rounds, {} times, {} probabilities: they must be as many", count,
                                     rounds.seconds.size(), rounds.probability.size()));
  const auto n = static_cast<Eigen::Index>(islands);
  double probability = 0;
  for (std::size_t r = 0; r < count; ++r) {
    const Eigen::MatrixXd& weights = rounds.weights[r];
    if (!(rounds.seconds[r] * kNsPerSecond >= 1) || !std::isfinite(rounds.seconds[r]))
      return invalid_input(fmt::format("round {} takes {} s; must be above 1 ns", r, rounds.seconds[r]));
    if (weights.rows() != n || weights.cols() != n)
      return invalid_input(fmt::format("round {}: weights of {} x {} for {} islands", r, weights.rows(),
                                       weights.cols(), islands));
    if (!((weights.rowwise().sum().array() - 1).abs().maxCoeff() <= kRowSumTolerance))
      return invalid_input(fmt::format("round {}: the weights of an island do not sum to 1", r));
    if (rounds.probability.empty()) continue;
    if (!(rounds.probability[r] >= 0))
      return invalid_input(fmt::format("round {}: probability {}", r, rounds.probability[r]));
    probability += rounds.probability[r];
  }
  if (!rounds.probability.empty() && !(std::abs(probability - 1) <= kRowSumTolerance))
    return invalid_input(fmt::format("the rounds' probabilities sum to {}", probability));
  return ok_status();
}

/// Index of a round, by a draw from [0, 1).
std::size_t pick(const std::vector<double>& probability, double drawn) {
  std::size_t last = 0;
  for (std::size_t r = 0; r < probability.size(); ++r) {
    if (probability[r] == 0) continue;
    last = r;  // Rounding may leave a rest behind the last round.
    drawn -= probability[r];
    if (drawn < 0) break;
  }
  return last;
}

}  // namespace

Eigen::MatrixXd clique_weights(const Round& round, std::size_t islands) {
  const auto n = static_cast<Eigen::Index>(islands);
  Eigen::MatrixXd weights = Eigen::MatrixXd::Identity(n, n);
  for (const Clique& clique : round.cliques)
    for (const Rank to : clique)
      for (const Rank from : clique) weights(to, from) = 1.0 / static_cast<double>(clique.size());
  return weights;
}

WeightedRounds weighted_rounds(const Schedule& schedule, std::span<const double> seconds,
                               std::size_t islands) {
  WeightedRounds rounds;
  for (const Round& round : schedule.rounds) rounds.weights.push_back(clique_weights(round, islands));
  rounds.seconds.assign(seconds.begin(), seconds.end());
  return rounds;
}

Result<Timeline> make_timeline(const WeightedRounds& rounds, std::size_t islands, double duration_s,
                               Random& random) {
  if (auto valid = check_rounds(rounds, islands); !valid) return std::move(valid).error();
  Timeline timeline;
  timeline.weights = rounds.weights;
  const auto duration_ns = static_cast<std::int64_t>(duration_s * kNsPerSecond);
  std::int64_t now_ns = 0;
  for (std::size_t turn = 0; now_ns < duration_ns; ++turn) {
    if (timeline.exchanges.size() == kMaxExchanges)
      return invalid_input(fmt::format("more than {} rounds in {} s", kMaxExchanges, duration_s));
    const std::size_t r =
        rounds.probability.empty() ? turn % rounds.weights.size() : pick(rounds.probability, random.unit());
    const std::int64_t end_ns = now_ns + std::llround(rounds.seconds[r] * kNsPerSecond);
    timeline.exchanges.push_back({now_ns, end_ns, static_cast<std::uint32_t>(r), 0});
    now_ns = end_ns;
  }
  return timeline;
}

}  // namespace tombolo::schedule
