#include "schedule/optimize/uncertainty.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "schedule/mixing.h"

namespace tombolo::schedule {
namespace {

DisagreementSpread spread_of(std::vector<double> values_s) {
  DisagreementSpread spread;
  spread.worst_decile_s = mean_of_worst_tenth(values_s);
  std::sort(values_s.begin(), values_s.end());
  const auto quantile = [&](std::size_t percent) { return values_s[(values_s.size() - 1) * percent / 100]; };
  spread.p10_s = quantile(10);
  spread.p50_s = quantile(50);
  spread.p90_s = quantile(90);
  spread.ascending_s = std::move(values_s);
  return spread;
}

}  // namespace

double mean_of_worst_tenth(std::span<double> values) {
  const std::size_t worst = std::max<std::size_t>(1, values.size() / 10);
  const auto end = values.begin() + static_cast<std::ptrdiff_t>(worst);
  std::nth_element(values.begin(), end - 1, values.end(), std::greater<>());
  return std::accumulate(values.begin(), end, 0.0) / static_cast<double>(worst);
}

Result<DisagreementSpread> disagreement_spread(const Problem& problem, const Schedule& schedule,
                                               const UncertaintyOptions& options) {
  if (auto checked = options.check(); !checked) return std::move(checked).error();
  if (auto checked = problem.check(); !checked) return std::move(checked).error();
  const Scenarios scenarios(problem, options);
  std::vector<std::vector<double>> seconds;  // [round][draw].
  for (const Round& round : schedule.rounds) {
    auto planned = plan_round(problem, round);
    if (!planned) return std::move(planned).error();
    seconds.push_back(scenarios.seconds(*std::move(planned)));
  }
  std::vector<double> disagreements_s;
  for (std::size_t i = 0; i < scenarios.draws(); ++i) {
    std::vector<double> drawn_s;
    for (const std::vector<double>& round_s : seconds) drawn_s.push_back(round_s[i]);
    const auto mixing = measure_mixing(schedule, drawn_s, problem.islands());
    if (!mixing) return Error{mixing.error()};
    disagreements_s.push_back(mixing->disagreement_s);
  }
  return spread_of(std::move(disagreements_s));
}

Result<RobustChoice> choose_robust(const Problem& problem, std::span<const Schedule> candidates,
                                   const UncertaintyOptions& options) {
  if (candidates.empty()) return invalid_input("there is no schedule to choose from");
  RobustChoice choice;
  for (const Schedule& candidate : candidates) {
    auto spread = disagreement_spread(problem, candidate, options);
    if (!spread) return std::move(spread).error();
    choice.spreads.push_back(*std::move(spread));
    if (choice.spreads.back().worst_decile_s < choice.spreads[choice.index].worst_decile_s)
      choice.index = choice.spreads.size() - 1;
  }
  return choice;
}

}  // namespace tombolo::schedule
