#include "schedule/optimize/pricing.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/check.h"
#include "base/units.h"

namespace tombolo::schedule {
namespace {

/// How many steps of time the bound tells apart.
constexpr std::size_t kLimits = 32;
/// Partial rounds that one search may look at: some seconds.
constexpr std::uint64_t kMaxVisits = 40'000'000;

}  // namespace

Pricing::Pricing(const Problem& problem)
    : problem_(problem), islands_(problem.islands()), links_(problem.network().links.size()) {
  CHECK(islands_ >= 2 && islands_ <= kMaxPricedIslands);
  const IslandSet sets = IslandSet{1} << islands_;
  options_.resize(sets);
  quickest_s_.assign(sets, 0);
  scatter_.assign(sets, 0);
  std::vector<double> times;
  for (IslandSet set = 1; set < sets; ++set) {
    if (std::has_single_bit(set)) continue;
    add_options(set);
    quickest_s_[set] = std::numeric_limits<double>::infinity();
    for (const Option& option : options_[set]) quickest_s_[set] = std::min(quickest_s_[set], option.alone_s);
    times.push_back(quickest_s_[set]);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  const std::size_t limits = std::min(kLimits, times.size());
  for (std::size_t i = 1; i <= limits; ++i) limits_s_.push_back(times[i * times.size() / limits - 1]);
  most_.assign(limits, std::vector<double>(sets, 0));
}

void Pricing::add_options(IslandSet set) {
  const Clique clique = to_clique(set);
  const auto capacities = problem_.model().capacities_bps();
  const double bits = problem_.update_bytes() * static_cast<double>(kBitsPerByte);
  for (const CliqueMode& mode : problem_.model().allowed_modes(clique)) {
    const CliqueLoad load = problem_.model().load(clique, mode);
    Option option{.mode = mode, .latency_s = load.latency_s, .alone_s = load.latency_s, .uses = {}};
    for (const ResourceLoad& resource : load.loads) {
      const double alone_s = resource.updates * bits / capacities[resource.resource];
      option.alone_s = std::max(option.alone_s, load.latency_s + alone_s);
      // An island is in one clique: only core links are shared.
      if (resource.resource < 2 * islands_) continue;
      option.uses.push_back({static_cast<std::uint32_t>(resource.resource - 2 * islands_), alone_s});
    }
    options_[set].push_back(std::move(option));
  }
}

/// trace(X (I - W)) of one clique C: the sum of X_ii in C less the mean over C of the sums of its rows.
void Pricing::find_scatter(const Eigen::MatrixXd& x) {
  for (IslandSet set = 1; set < scatter_.size(); ++set) {
    double diagonal = 0;
    double all = 0;
    for (IslandSet i = set; i != 0; i &= i - 1) {
      const int row = std::countr_zero(i);
      diagonal += x(row, row);
      for (IslandSet j = set; j != 0; j &= j - 1) all += x(row, std::countr_zero(j));
    }
    scatter_[set] = diagonal - all / std::popcount(set);
  }
}

/// For every set and limit: its lowest island rests, or is in one of the cliques within the limit.
void Pricing::find_most() {
  for (std::size_t limit = 0; limit < limits_s_.size(); ++limit) {
    std::vector<double>& most = most_[limit];
    for (IslandSet set = 1; set < most.size(); ++set) {
      const IslandSet low = set & -set;
      const IslandSet others = set ^ low;
      double best = most[others];
      for (IslandSet part = others; part != 0; part = (part - 1) & others) {
        if (quickest_s_[part | low] > limits_s_[limit]) continue;
        best = std::max(best, scatter_[part | low] + most[others ^ part]);
      }
      most[set] = best;
    }
  }
}

/// Whether a round that begins with this scatter and time could beat the best, whatever the rest does.
bool Pricing::may_improve(double scatter, double seconds, IslandSet rest) const {
  double least_s = seconds;
  for (std::size_t limit = 0; limit < limits_s_.size(); ++limit) {
    // A round with no clique slower than this limit, and one slower than the limit before.
    if (limits_s_[limit] < seconds && limit + 1 < limits_s_.size()) continue;
    if (scatter + most_[limit][rest] > best_per_s_ * least_s) return true;
    least_s = std::max(seconds, limits_s_[limit]);
  }
  return false;
}

/// Puts a clique into the partial round; gives the time of the round with it.
double Pricing::join(const Option& option, double seconds) {
  seconds = std::max(seconds, option.alone_s);
  for (const Use& use : option.uses) {
    auto& shared = links_[use.link];
    shared.push_back({option.latency_s, use.alone_s});
    if (shared.size() == 1) continue;
    // Newton's method on a convex, falling function, from the left of its root. No T - L is 0: every clique's
    // own time is above its latency.
    for (int step = 0; step < 100; ++step) {
      double load = -1;
      double slope = 0;
      for (const Shared& one : shared) {
        const double share = one.alone_s / (seconds - one.latency_s);
        load += share;
        slope += share / (seconds - one.latency_s);
      }
      if (!(load > 1e-13)) break;
      seconds += load / slope;
    }
  }
  return seconds;
}

void Pricing::leave(const Option& option) {
  for (const Use& use : option.uses) links_[use.link].pop_back();
}

void Pricing::choose(IslandSet rest, double scatter, double seconds, Answer& answer) {
  if (visits_left_ == 0) {
    answer.complete = false;
    return;
  }
  --visits_left_;
  if (rest == 0) {
    if (!(scatter > best_per_s_ * seconds)) return;
    best_per_s_ = scatter / seconds;
    answer.rounds.push_back({sets_, modes_, seconds});
    return;
  }
  const IslandSet low = rest & -rest;
  const IslandSet others = rest ^ low;
  for (IslandSet part = others;; part = (part - 1) & others) {
    const IslandSet set = part | low;
    const IslandSet left = others ^ part;
    if (may_improve(scatter + scatter_[set], std::max(seconds, quickest_s_[set]), left)) {
      sets_.push_back(set);
      modes_.emplace_back();
      if (part == 0) choose(left, scatter, seconds, answer);
      for (const Option& option : options_[set]) {
        modes_.back() = option.mode;
        const double longer_s = join(option, seconds);
        if (may_improve(scatter + scatter_[set], longer_s, left))
          choose(left, scatter + scatter_[set], longer_s, answer);
        leave(option);
      }
      sets_.pop_back();
      modes_.pop_back();
    }
    if (part == 0) break;
  }
}

Pricing::Answer Pricing::price(const Eigen::MatrixXd& x, double known_per_s) {
  find_scatter(x);
  find_most();
  best_per_s_ = known_per_s;
  visits_left_ = kMaxVisits;
  Answer answer;
  const IslandSet all = (IslandSet{1} << islands_) - 1;
  choose(all, 0, 0, answer);
  answer.bound_per_s = best_per_s_;
  if (answer.complete) return answer;
  double least_s = std::numeric_limits<double>::infinity();
  for (IslandSet set = 1; set <= all; ++set)
    if (!std::has_single_bit(set)) least_s = std::min(least_s, quickest_s_[set]);
  for (std::size_t limit = 0; limit < limits_s_.size(); ++limit) {
    answer.bound_per_s = std::max(answer.bound_per_s, most_[limit][all] / least_s);
    least_s = std::max(least_s, limits_s_[limit]);
  }
  return answer;
}

void Pricing::choose_fastest(const Partition& sets, std::size_t next, double seconds, TimedRound& best) {
  if (seconds >= best.seconds) return;
  if (next == sets.size()) {
    best = {sets, modes_, seconds};
    return;
  }
  modes_.emplace_back();
  if (std::has_single_bit(sets[next])) choose_fastest(sets, next + 1, seconds, best);
  for (const Option& option : options_[sets[next]]) {
    modes_.back() = option.mode;
    choose_fastest(sets, next + 1, join(option, seconds), best);
    leave(option);
  }
  modes_.pop_back();
}

TimedRound Pricing::timed(const Partition& sets) {
  TimedRound best{{}, {}, std::numeric_limits<double>::infinity()};
  choose_fastest(sets, 0, 0, best);
  return best;
}

}  // namespace tombolo::schedule
