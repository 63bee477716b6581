#include "schedule/event/steady_state.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tombolo::schedule {
namespace {

constexpr double kUnset = -std::numeric_limits<double>::infinity();
/// Relative to the cycle: less than this is rounding.
constexpr double kRounding = 1e-12;
/// Policy iteration needs a handful of steps.
constexpr int kMostSteps = 1000;

class Howard {
 public:
  Howard(std::size_t events, std::span<const Precedence> precedences)
      : precedences_(precedences), policy_(events, kNone), value_(events, 0) {}

  Result<SteadyState> run() {
    for (std::uint32_t i = 0; i < precedences_.size(); ++i) {
      std::uint32_t& best = policy_[precedences_[i].to];
      if (best == kNone || precedences_[i].seconds > precedences_[best].seconds) best = i;
    }
    if (std::find(policy_.begin(), policy_.end(), kNone) != policy_.end())
      return invalid_input("event graph: an event waits for nothing");
    for (int step = 0; step < kMostSteps; ++step) {
      if (!evaluate()) return invalid_input("event graph: a loop within one cycle");
      if (!improve()) return finish();
    }
    return Error{ErrorCode::kFailed, "event graph: no steady state was found"};
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// Finds the loop of the policy with the largest ratio, and the values of what hangs on it.
  bool evaluate() {
    const std::size_t events = policy_.size();
    std::vector<std::uint32_t> seen(events, kNone);
    double best = kUnset;
    for (std::uint32_t first = 0; first < events; ++first) {
      std::uint32_t event = first;
      while (seen[event] == kNone) {
        seen[event] = first;
        event = before(event);
      }
      if (seen[event] != first) continue;  // Runs into a loop that is known.
      double seconds = 0;
      std::uint64_t periods = 0;
      std::uint32_t on = event;
      do {
        seconds += precedences_[policy_[on]].seconds;
        periods += precedences_[policy_[on]].periods;
        on = before(on);
      } while (on != event);
      if (periods == 0) return false;
      const double ratio = seconds / static_cast<double>(periods);
      if (ratio > best) {
        best = ratio;
        root_ = event;
      }
    }
    cycle_s_ = best;
    hang_on_root();
    return true;
  }

  void hang_on_root() {
    std::vector<std::vector<std::uint32_t>> after(policy_.size());
    for (std::uint32_t event = 0; event < policy_.size(); ++event)
      if (event != root_) after[before(event)].push_back(event);
    // The root keeps its value: values only ever grow against one another, so the iteration ends.
    std::vector<std::uint32_t> open{root_};
    while (!open.empty()) {
      const std::uint32_t event = open.back();
      open.pop_back();
      for (const std::uint32_t next : after[event]) {
        value_[next] = through(precedences_[policy_[next]]);
        open.push_back(next);
      }
    }
  }

  bool improve() {
    bool improved = false;
    for (std::uint32_t i = 0; i < precedences_.size(); ++i) {
      const std::uint32_t to = precedences_[i].to;
      const double value = through(precedences_[i]);
      if (value <= value_[to] + kRounding * cycle_s_) continue;
      value_[to] = value;
      policy_[to] = i;
      improved = true;
    }
    return improved;
  }

  /// The longest ways from the root; there is no loop that lengthens them any more.
  Result<SteadyState> finish() {
    std::fill(value_.begin(), value_.end(), kUnset);
    value_[root_] = 0;
    bool changed = true;
    for (std::size_t pass = 0; changed && pass <= policy_.size(); ++pass) {
      changed = false;
      for (const Precedence& precedence : precedences_) {
        const double value = through(precedence);
        if (value <= value_[precedence.to] + kRounding * cycle_s_) continue;
        value_[precedence.to] = value;
        changed = true;
      }
    }
    if (std::find(value_.begin(), value_.end(), kUnset) != value_.end())
      return invalid_input("event graph: some events never wait for others, not even in the end");
    return SteadyState{cycle_s_, std::move(value_)};
  }

  std::uint32_t before(std::uint32_t event) const { return precedences_[policy_[event]].from; }
  double through(const Precedence& precedence) const {
    return value_[precedence.from] + precedence.seconds - cycle_s_ * precedence.periods;
  }

  std::span<const Precedence> precedences_;
  std::vector<std::uint32_t> policy_;  ///< By event: the precedence that it waits for.
  std::vector<double> value_;
  std::uint32_t root_ = 0;
  double cycle_s_ = 0;
};

}  // namespace

Result<SteadyState> steady_state(std::size_t events, std::span<const Precedence> precedences) {
  if (events == 0) return invalid_input("event graph: no events");
  for (const Precedence& precedence : precedences)
    if (precedence.from >= events || precedence.to >= events || !(precedence.seconds >= 0) ||
        !std::isfinite(precedence.seconds))
      return invalid_input("event graph: an unknown event, or a time below 0");
  return Howard(events, precedences).run();
}

}  // namespace tombolo::schedule
