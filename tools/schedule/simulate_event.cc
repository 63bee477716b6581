#include "tools/schedule/simulate_event.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tools/schedule/event_score.h"

namespace tombolo::tools {
namespace {

constexpr double kNsPerSecond = 1e9;

/// An arrival is a nanosecond early, so that what is sent at the same moment carries it, however both round.
schedule::Averaging averaging(const schedule::TimedExchange& timed, double begin_s, std::uint32_t weights) {
  const std::int64_t sent_ns = std::llround((begin_s + timed.start_s) * kNsPerSecond);
  const std::int64_t arrives_ns = std::llround((begin_s + timed.end_s()) * kNsPerSecond) - 1;
  return {sent_ns, std::max(sent_ns, arrives_ns), weights, timed.fragment};
}

}  // namespace

Result<schedule::Method> event_method(std::string name, const NetworkInput& input,
                                      schedule::Schedule schedule, double duration_s) {
  auto score = score_event(input, std::move(schedule));
  if (!score) return std::move(score).error();
  const schedule::Timetable& timetable = score->timetable;
  if (duration_s / timetable.cycle_s * static_cast<double>(timetable.exchanges.size()) >
      static_cast<double>(schedule::kMaxExchanges))
    return invalid_input(fmt::format("more than {} exchanges in {} s", schedule::kMaxExchanges, duration_s));
  schedule::Timeline timeline;
  timeline.fragments = timetable.fragments;
  for (const schedule::TimedExchange& timed : timetable.exchanges)
    timeline.weights.push_back(schedule::clique_weights(
        {{score->schedule.rounds[timed.round].cliques[timed.clique]}}, input.network.islands.size()));
  for (double begin_s = 0; begin_s < duration_s; begin_s += timetable.cycle_s)
    for (std::uint32_t i = 0; i < timetable.exchanges.size(); ++i)
      timeline.exchanges.push_back(averaging(timetable.exchanges[i], begin_s, i));
  // Causal order: by the moment of sending.
  std::ranges::stable_sort(timeline.exchanges, {}, &schedule::Averaging::sent_ns);
  schedule::Method method;
  method.name = std::move(name);
  method.note =
      fmt::format("no barriers, {} fragments, a cycle of {:.3f} s", timetable.fragments, timetable.cycle_s);
  method.disagreement_s = score->disagreement_s;
  method.cycle_s = timetable.cycle_s;
  method.how = std::move(timeline);
  return method;
}

}  // namespace tombolo::tools
