#include "schedule/simulate/methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "schedule/mixing.h"
#include "schedule/simulate/steady_drift.h"

namespace tombolo::schedule {
namespace {

/// DiLoCo's outer optimizer, section 3 of its paper.
constexpr double kOuterRate = 0.7;
constexpr double kOuterMomentum = 0.9;
/// Streaming DiLoCo's alpha.
constexpr double kOwnShare = 0.5;
constexpr double kSettlingCycles = 10;

Method blocking_method(std::string name, const OuterSetting& setting, double exchange_s) {
  const double training_s = static_cast<double>(setting.local_steps) * setting.step_s;
  Method method;
  method.name = std::move(name);
  method.note = fmt::format("{} steps, then {:.3f} s of standing still", setting.local_steps, exchange_s);
  method.disagreement_s = rest_then_full_disagreement_s(training_s, exchange_s, setting.islands);
  method.cycle_s = training_s + exchange_s;
  OuterOptions outer;
  outer.local_steps = setting.local_steps;
  outer.exchange_s = exchange_s;
  method.how = outer;
  return method;
}

}  // namespace

Method colocated_method() {
  return {"colocated", "gradients averaged at every step, at no cost", 0, 0, Colocated{}};
}

Result<Method> scheduled_method(std::string name, const Schedule& schedule, const RoundModel& model,
                                double update_bytes, std::size_t islands) {
  std::vector<double> seconds;
  for (const Round& round : schedule.rounds) {
    const auto time = model.time(round, update_bytes);
    if (!time) return time.error();
    seconds.push_back(time->seconds);
  }
  const auto mixing = measure_mixing(schedule, seconds, islands);
  if (!mixing) return mixing.error();
  Method method;
  method.name = std::move(name);
  method.note = fmt::format("{} rounds: {:.3f} s", seconds.size(), fmt::join(seconds, ", "));
  method.disagreement_s = mixing->disagreement_s;
  method.cycle_s = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  method.how = weighted_rounds(schedule, seconds, islands);
  return method;
}

Method exact_method(std::string name, double seconds, std::size_t islands) {
  const auto n = static_cast<Eigen::Index>(islands);
  Method method;
  method.name = std::move(name);
  method.note = fmt::format("all islands in {:.3f} s", seconds);
  method.disagreement_s = rest_then_full_disagreement_s(0, seconds, islands);
  method.cycle_s = seconds;
  method.how =
      WeightedRounds{{Eigen::MatrixXd::Constant(n, n, 1 / static_cast<double>(islands))}, {seconds}, {}};
  return method;
}

Method fed_avg_method(const OuterSetting& setting, double exchange_s) {
  return blocking_method("FedAvg", setting, exchange_s);
}

Method diloco_method(const OuterSetting& setting, double exchange_s) {
  Method method = blocking_method("DiLoCo", setting, exchange_s);
  auto& outer = std::get<OuterOptions>(method.how);
  outer.learning_rate = kOuterRate;
  outer.momentum = kOuterMomentum;
  return method;
}

Method streaming_diloco_method(const OuterSetting& setting, std::uint32_t fragments, double exchange_s) {
  OuterOptions outer;
  outer.local_steps = setting.local_steps;
  outer.fragments = fragments;
  outer.exchange_s = exchange_s;
  outer.blocking = false;
  outer.learning_rate = kOuterRate;
  outer.momentum = kOuterMomentum;
  outer.kept = kOwnShare;
  Method method;
  method.name = "Streaming DiLoCo";
  // As simulate_outer does it: a fragment waits for the one before it.
  const double turn_s =
      std::max(static_cast<double>(setting.local_steps) * setting.step_s / fragments, exchange_s);
  method.cycle_s = turn_s * fragments;
  method.note = fmt::format("{} fragments, one every {:.3f} s, each {:.3f} s on its way", fragments, turn_s,
                            exchange_s);
  method.disagreement_s =
      rest_then_full_disagreement_s(method.cycle_s - exchange_s, exchange_s, setting.islands);
  method.how = outer;
  return method;
}

double rest_then_full_disagreement_s(double rest_s, double exchange_s, std::size_t islands) {
  // After a full clique S is exchange_s (I - J), the drift of the time on the way. From there it grows by
  // (I - J) per second until the next result; the mean over the cycle is the value half a cycle later.
  const double n = static_cast<double>(islands);
  return (exchange_s + (rest_s + exchange_s) / 2) * (n - 1) / n;
}

Result<Curve> simulate_method(Islands& islands, const Method& method, const Course& course, Random& random) {
  if (const auto* const outer = std::get_if<OuterOptions>(&method.how))
    return simulate_outer(islands, *outer, course);
  if (const auto* const timeline = std::get_if<Timeline>(&method.how))
    return simulate_timeline(islands, *timeline, course);
  if (const auto* const rounds = std::get_if<WeightedRounds>(&method.how)) {
    const auto timeline = make_timeline(*rounds, islands.count(), course.duration_s, random);
    if (!timeline) return timeline.error();
    return simulate_timeline(islands, *timeline, course);
  }
  return simulate_colocated(islands, course);
}

std::optional<double> method_steady_drift_s(const Method& method, std::size_t islands, double duration_s,
                                            Random& random) {
  if (std::holds_alternative<Colocated>(method.how)) return 0;
  const auto* const rounds = std::get_if<WeightedRounds>(&method.how);
  if (rounds == nullptr) return std::nullopt;
  const auto timeline =
      make_timeline(*rounds, islands, std::max(duration_s, kSettlingCycles * method.cycle_s), random);
  if (!timeline) return std::nullopt;
  return steady_drift_s(*timeline, islands);
}

}  // namespace tombolo::schedule
