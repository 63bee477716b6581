#include "schedule/optimize/search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/random.h"
#include "schedule/optimize/cycle.h"
#include "schedule/optimize/moves.h"

namespace tombolo::schedule {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Annealing accepts a cycle worse by this share of D at its start and at its end, one time in e.
constexpr double kStartHeat = 0.04;
constexpr double kEndHeat = 0.0005;
/// Annealing runs so many times, each from one of the starts, in their order.
constexpr std::size_t kRuns = 12;
/// A cycle is better if it is so by more than rounding.
constexpr double kBetter = 1 - 1e-11;
constexpr std::uint64_t kAskEvery = 1024;

struct Measured {
  Cycle cycle;
  double disagreement_s = kInfinity;
};

class Search {
 public:
  Search(const Problem& problem, const SearchOptions& options)
      : options_(options),
        random_(options.seed),
        book_(problem),
        meter_(problem.islands()),
        moves_(problem.islands(), options.max_rounds, book_, random_) {}

  bool begin(std::span<const Schedule> starts, std::size_t islands) {
    for (const Schedule& start : starts) {
      if (start.rounds.size() > options_.max_rounds) continue;
      Measured measured;
      for (const Round& round : start.rounds)
        measured.cycle.push_back(book_.find(to_partition(round, islands)));
      if (std::count(measured.cycle.begin(), measured.cycle.end(), nullptr) > 0) continue;
      for (const RoundHandle& round : measured.cycle) moves_.remember(round);
      measured.disagreement_s = measure(measured.cycle, kInfinity);
      if (measured.disagreement_s < best_.disagreement_s) best_ = measured;
      starts_.push_back(std::move(measured));
    }
    return best_.disagreement_s < kInfinity;
  }

  Searched run() {
    for (std::size_t i = 0; i < kRuns && !over(); ++i) {
      const std::uint64_t end = cycles_ + (options_.max_cycles - cycles_) / (kRuns - i);
      Measured found = anneal(starts_[i % starts_.size()], cycles_ + (end - cycles_) * 3 / 4);
      polish(found, end);
      if (found.disagreement_s < best_.disagreement_s * kBetter) best_ = std::move(found);
    }
    return {to_schedule(best_.cycle, "searched"), best_.disagreement_s, cycles_, stopped_};
  }

 private:
  double measure(const Cycle& cycle, double cutoff_s) {
    ++cycles_;
    if (cycles_ % kAskEvery == 0 && options_.stop && options_.stop()) stopped_ = true;
    return meter_.disagreement_s(cycle, cutoff_s);
  }

  bool over() const { return stopped_ || cycles_ >= options_.max_cycles; }

  Measured anneal(const Measured& start, std::uint64_t end) {
    Measured now = start;
    Measured best = start;
    const std::uint64_t begin = cycles_;
    while (!stopped_ && cycles_ < end) {
      const double progress = static_cast<double>(cycles_ - begin) / static_cast<double>(end - begin);
      const double heat_s = best.disagreement_s * kStartHeat * std::pow(kEndHeat / kStartHeat, progress);
      Cycle next = moves_.change(now.cycle);
      if (next.empty()) {
        ++cycles_;  // So that a problem without moves ends too.
        continue;
      }
      const double limit_s = now.disagreement_s - heat_s * std::log(1 - random_.unit());
      const double disagreement_s = measure(next, limit_s);
      if (!(disagreement_s <= limit_s)) continue;
      now = {std::move(next), disagreement_s};
      if (now.disagreement_s < best.disagreement_s * kBetter) best = now;
    }
    return best;
  }

  /// Puts every known partition in the place of each round, and drops rounds, until nothing is better.
  void polish(Measured& found, std::uint64_t end) {
    const std::vector<RoundHandle>& pool = moves_.pool();
    for (bool better = true; better && !stopped_ && cycles_ < end;) {
      better = false;
      for (std::size_t r = 0; r < found.cycle.size(); ++r) {
        for (std::size_t i = 0; i < pool.size() && !stopped_ && cycles_ < end; ++i) {
          Cycle next = found.cycle;
          next[r] = pool[i];
          better |= take_better(std::move(next), found);
        }
      }
      for (std::size_t r = 0; r < found.cycle.size() && found.cycle.size() > 1; ++r) {
        Cycle next = found.cycle;
        next.erase(next.begin() + static_cast<std::ptrdiff_t>(r));
        better |= take_better(std::move(next), found);
      }
    }
  }

  bool take_better(Cycle next, Measured& found) {
    const double limit_s = found.disagreement_s * kBetter;
    const double disagreement_s = measure(next, limit_s);
    if (!(disagreement_s < limit_s)) return false;
    found = {std::move(next), disagreement_s};
    return true;
  }

  const SearchOptions& options_;
  Random random_;
  RoundBook book_;
  CycleMeter meter_;
  Moves moves_;
  std::vector<Measured> starts_;
  Measured best_;
  std::uint64_t cycles_ = 0;
  bool stopped_ = false;
};

}  // namespace

Result<Searched> search_cycles(const Problem& problem, std::span<const Schedule> starts,
                               const SearchOptions& options) {
  if (auto sound = problem.check(); !sound) return std::move(sound).error();
  if (problem.islands() > kMaxSetIslands)
    return Error{ErrorCode::kNotSupported,
                 "the search is for at most " + std::to_string(kMaxSetIslands) + " islands"};
  if (options.max_rounds == 0) return invalid_input("a schedule has at least one round");
  Search search(problem, options);
  if (!search.begin(starts, problem.islands()))
    return invalid_input("no schedule to start the search from joins all islands");
  return search.run();
}

}  // namespace tombolo::schedule
