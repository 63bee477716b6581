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
/// Annealing accepts a cycle worse by this share of D at its end, one time in e.
constexpr double kEndHeat = 0.001;
/// Of all cycles measured, this share goes into a short trial of every length; the rest into a long one for
/// each of the lengths that did best.
constexpr double kTrialShare = 0.35;
constexpr std::size_t kLongRuns = 3;
/// Of a run's cycles, this share is for annealing, what is left for polishing.
constexpr double kAnnealShare = 0.9;
/// D to this share is enough to decide on a step of annealing.
constexpr double kRough = 1e-7;
constexpr double kFine = 1e-14;
/// A cycle is better if it is so by more than rounding.
constexpr double kBetter = 1 - 1e-11;
constexpr std::uint64_t kAskEvery = 64;
/// Changes drawn for the rounds of a new start; then unchanged ones serve, as with two islands, where there
/// is but one round.
constexpr std::size_t kStartTries = 1000;

struct Measured {
  Cycle cycle;
  double disagreement_s = kInfinity;
};

class Search {
 public:
  Search(const Problem& problem, const SearchOptions& options)
      : options_(options),
        random_(options.seed),
        book_(problem, options.round_seconds),
        meter_(problem.islands()),
        moves_(problem.islands(), book_, random_) {}

  bool begin(std::span<const Schedule> starts, std::size_t islands) {
    for (const Schedule& start : starts) {
      if (start.rounds.size() > options_.max_rounds) continue;
      Measured measured;
      for (const Round& round : start.rounds)
        measured.cycle.push_back(book_.find(to_partition(round, islands)));
      if (std::count(measured.cycle.begin(), measured.cycle.end(), nullptr) > 0) continue;
      for (const RoundHandle& round : measured.cycle) moves_.remember(round);
      measured.disagreement_s = measure(measured.cycle, kInfinity, kFine);
      if (measured.disagreement_s < best_.disagreement_s) best_ = measured;
      starts_.push_back(std::move(measured));
    }
    return best_.disagreement_s < kInfinity;
  }

  Searched run() {
    const std::vector<std::size_t> lengths = trial_lengths();
    std::vector<Measured> trials;
    for (std::size_t i = 0; i < lengths.size() && !over(); ++i) {
      const double share = kTrialShare * static_cast<double>(i + 1) / static_cast<double>(lengths.size());
      trials.push_back(refine(start_of(lengths[i]), share));
    }
    std::stable_sort(trials.begin(), trials.end(), [](const Measured& a, const Measured& b) {
      return a.disagreement_s < b.disagreement_s;
    });
    const std::size_t runs = std::min(kLongRuns, trials.size());
    for (std::size_t i = 0; i < runs && !over(); ++i)
      refine(trials[i],
             kTrialShare + (1 - kTrialShare) * static_cast<double>(i + 1) / static_cast<double>(runs));
    return {to_schedule(best_.cycle, "searched"), best_.disagreement_s, cycles_, stopped_};
  }

 private:
  /// Every length from two on, and from eight in steps of an eighth; or one.
  std::vector<std::size_t> trial_lengths() const {
    if (options_.one_length) return {best_.cycle.size()};
    std::vector<std::size_t> lengths;
    for (std::size_t length = std::min<std::size_t>(2, options_.max_rounds); length <= options_.max_rounds;
         length += std::max<std::size_t>(1, length / 8))
      lengths.push_back(length);
    return lengths;
  }

  /// The best known cycle of this length; if there is none, one of changed rounds of the best.
  Measured start_of(std::size_t length) {
    const Measured* known = nullptr;
    for (const Measured& start : starts_)
      if (start.cycle.size() == length && (!known || start.disagreement_s < known->disagreement_s))
        known = &start;
    if (known) return *known;
    Measured start;
    for (std::size_t tries = 0; start.cycle.size() < length; ++tries) {
      const RoundHandle& base = best_.cycle[start.cycle.size() % best_.cycle.size()];
      RoundHandle round = tries < kStartTries ? moves_.change_round(*base) : base;
      if (round) start.cycle.push_back(std::move(round));
    }
    start.disagreement_s = measure(start.cycle, kInfinity, kFine);
    return start;
  }

  /// Anneals and polishes until that share of all cycles is used up.
  Measured refine(Measured start, double share) {
    const auto end = static_cast<std::uint64_t>(share * static_cast<double>(options_.max_cycles));
    if (end > cycles_) {
      const auto anneal_end =
          cycles_ + static_cast<std::uint64_t>(kAnnealShare * static_cast<double>(end - cycles_));
      start = anneal(start, anneal_end);
      polish(start, end);
    }
    if (start.disagreement_s < best_.disagreement_s * kBetter) best_ = start;
    if (options_.progress) options_.progress(cycles_, best_.disagreement_s);
    return start;
  }

  double measure(const Cycle& cycle, double cutoff_s, double precision) {
    ++cycles_;
    if (cycles_ % kAskEvery == 0 && options_.stop && options_.stop()) stopped_ = true;
    return options_.cost ? options_.cost(cycle, cutoff_s, precision)
                         : meter_.disagreement_s(cycle, cutoff_s, precision);
  }

  bool over() const { return stopped_ || cycles_ >= options_.max_cycles; }

  Measured anneal(const Measured& start, std::uint64_t end) {
    Measured now = start;
    Measured best = start;
    const std::uint64_t begin = cycles_;
    while (!stopped_ && cycles_ < end) {
      const double progress = static_cast<double>(cycles_ - begin) / static_cast<double>(end - begin);
      const double heat_s =
          best_.disagreement_s * options_.start_heat * std::pow(kEndHeat / options_.start_heat, progress);
      Cycle next = moves_.change(now.cycle);
      if (next.empty()) {
        ++cycles_;  // So that a problem without moves ends too.
        continue;
      }
      const double limit_s = now.disagreement_s - heat_s * std::log(1 - random_.unit());
      const double disagreement_s = measure(next, limit_s, kRough);
      if (!(disagreement_s <= limit_s)) continue;
      now = {std::move(next), disagreement_s};
      for (const RoundHandle& round : now.cycle) moves_.remember(round);
      if (now.disagreement_s < best.disagreement_s * kBetter) best = now;
    }
    best.disagreement_s = measure(best.cycle, kInfinity, kFine);
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
    const double disagreement_s = measure(next, limit_s, kFine);
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
