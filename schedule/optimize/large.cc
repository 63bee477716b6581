#include "schedule/optimize/large.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "base/random.h"
#include "schedule/optimize/cycle_mixing.h"
#include "schedule/optimize/round_search.h"
#include "schedule/optimize/structured_seeds.h"

namespace tombolo::schedule {
namespace {

/// How many starts are tried in earnest, and the share of the work that they get together.
constexpr std::size_t kFinalists = 6;
constexpr double kFinalistsShare = 0.35;
/// The search begins by taking moves that make D worse by about this share of it.
constexpr double kHeat = 3e-4;

struct Candidate {
  GroupedCycle rounds;
  std::vector<double> seconds;
  double disagreement_s = std::numeric_limits<double>::infinity();
};

/// One network's search; counts its work.
class LargeSearch {
 public:
  LargeSearch(const Problem& problem, const LargeOptions& options)
      : problem_(problem),
        options_(options),
        random_(options.seed),
        timer_(problem),
        pairs_(pair_times(timer_, problem.islands())),
        round_search_(problem, timer_, pairs_, random_),
        mixing_(problem.islands()) {}

  std::vector<Candidate> starts();
  void improve(Candidate& candidate, std::uint64_t work);
  bool stopped() const { return stopped_; }

 private:
  void time(Candidate& candidate);
  void measure(Candidate& candidate);
  bool search_round(Candidate& candidate, std::size_t index, double heat_s);
  bool change_rounds(Candidate& candidate);
  std::uint64_t work() const { return work_ + timer_.work() + round_search_.work(); }

  const Problem& problem_;
  const LargeOptions& options_;
  Random random_;
  RoundTimer timer_;
  PairTimes pairs_;
  RoundSearch round_search_;
  CycleMixing mixing_;
  std::uint64_t work_ = 0;
  bool stopped_ = false;
};

void LargeSearch::time(Candidate& candidate) {
  candidate.seconds.clear();
  for (const Grouping& round : candidate.rounds) {
    timer_.forget_if_full();
    std::vector<const TimedClique*> cliques;
    for (const Clique& group : round.groups)
      if (group.size() >= 2) cliques.push_back(&timer_.clique(group));
    candidate.seconds.push_back(timer_.time(cliques).seconds);
  }
}

/// D of the candidate; leaves `mixing_` at it.
void LargeSearch::measure(Candidate& candidate) {
  mixing_.measure(candidate.rounds, candidate.seconds);
  std::size_t groups = 0;
  for (const Grouping& round : candidate.rounds) groups += round.size();
  work_ += 2 * mixing_.passes() * problem_.islands() * groups / candidate.rounds.size();
  candidate.disagreement_s = mixing_.disagreement_s();
}

std::vector<Candidate> LargeSearch::starts() {
  std::vector<GroupedCycle> cycles;
  for (const Schedule& schedule : options_.starts) {
    if (schedule.rounds.size() > options_.max_rounds || schedule.rounds.empty()) continue;
    GroupedCycle cycle;
    for (const Round& round : schedule.rounds)
      if (!round.cliques.empty()) cycle.push_back(to_grouping(round, problem_.islands()));
    if (!cycle.empty()) cycles.push_back(std::move(cycle));
  }
  for (GroupedCycle& cycle : structured_cycles(problem_, pairs_, options_.max_rounds))
    cycles.push_back(std::move(cycle));
  std::vector<Candidate> candidates;
  for (GroupedCycle& cycle : cycles) {
    Candidate candidate{std::move(cycle), {}};
    time(candidate);
    measure(candidate);
    if (std::isfinite(candidate.disagreement_s)) candidates.push_back(std::move(candidate));
  }
  std::stable_sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return a.disagreement_s < b.disagreement_s;
  });
  return candidates;
}

/// Searches one round; whether the cycle changed. `mixing_` must be at the candidate, and is afterwards.
bool LargeSearch::search_round(Candidate& candidate, std::size_t index, double heat_s) {
  const std::size_t proposals = 2 * problem_.islands() + 50;
  auto outcome = round_search_.search(candidate.rounds[index], candidate.seconds[index], mixing_, index,
                                      proposals, heat_s);
  if (!outcome.changed) return false;
  const double before_s = candidate.disagreement_s;
  std::swap(candidate.rounds[index], outcome.grouping);
  std::swap(candidate.seconds[index], outcome.seconds);
  measure(candidate);
  if (candidate.disagreement_s <= before_s + 3 * heat_s) return true;
  std::swap(candidate.rounds[index], outcome.grouping);
  std::swap(candidate.seconds[index], outcome.seconds);
  measure(candidate);
  return false;
}

/// Takes a round out, doubles one somewhere, or swaps two; keeps it if D falls.
bool LargeSearch::change_rounds(Candidate& candidate) {
  Candidate changed = candidate;
  const std::size_t length = candidate.rounds.size();
  const std::size_t index = random_.below(length);
  const std::size_t other = random_.below(length);
  const auto at = [](auto& list, std::size_t i) { return list.begin() + static_cast<std::ptrdiff_t>(i); };
  const std::uint64_t kind = random_.below(3);
  if (kind == 0 && length > 1) {
    changed.rounds.erase(at(changed.rounds, index));
    changed.seconds.erase(at(changed.seconds, index));
  } else if (kind == 1 && length < options_.max_rounds) {
    changed.rounds.insert(at(changed.rounds, other), candidate.rounds[index]);
    changed.seconds.insert(at(changed.seconds, other), candidate.seconds[index]);
  } else {
    std::swap(changed.rounds[index], changed.rounds[other]);
    std::swap(changed.seconds[index], changed.seconds[other]);
  }
  measure(changed);
  if (kind == 1 && std::isfinite(changed.disagreement_s))
    search_round(changed, other % changed.rounds.size(), 0);
  const bool better = changed.disagreement_s < candidate.disagreement_s * (1 - 1e-9);
  if (better) candidate = std::move(changed);
  measure(candidate);
  return better;
}

void LargeSearch::improve(Candidate& candidate, std::uint64_t budget) {
  const std::uint64_t begin = work();
  Candidate now = candidate;
  measure(now);
  for (std::uint64_t used = 0; used < budget; used = work() - begin) {
    stopped_ = stopped_ || (options_.stop && options_.stop());
    if (stopped_) break;
    const double left = 1 - static_cast<double>(used) / static_cast<double>(budget);
    // It cools down, and is cold for the last quarter.
    const double heat_s = kHeat * candidate.disagreement_s * std::max(0.0, left - 0.25);
    if (random_.chance(0.15))
      change_rounds(now);
    else
      search_round(now, random_.below(now.rounds.size()), heat_s);
    if (now.disagreement_s < candidate.disagreement_s) candidate = now;
    work_ += 1000;  // However little there is to do, it ends.
  }
}

}  // namespace

std::uint64_t suitable_work(std::size_t islands) {
  const double n = static_cast<double>(islands);
  return static_cast<std::uint64_t>(3e9 * std::pow(std::max(n, 10.0) / 50, 1.4));
}

Result<LargeSchedule> improve_large(const Problem& problem, const LargeOptions& options) {
  if (auto checked = problem.check(); !checked) return std::move(checked).error();
  LargeSearch search(problem, options);
  std::vector<Candidate> candidates = search.starts();
  if (candidates.empty()) return invalid_input("no schedule to start with has so few rounds");
  LargeSchedule result;
  result.seed_disagreement_s = candidates.front().disagreement_s;

  const auto work = static_cast<double>(options.work != 0 ? options.work : suitable_work(problem.islands()));
  candidates.resize(std::min(candidates.size(), kFinalists));
  for (Candidate& candidate : candidates)
    search.improve(candidate, static_cast<std::uint64_t>(work * kFinalistsShare /
                                                         static_cast<double>(candidates.size())));
  Candidate& best = *std::min_element(
      candidates.begin(), candidates.end(),
      [](const Candidate& a, const Candidate& b) { return a.disagreement_s < b.disagreement_s; });
  search.improve(best, static_cast<std::uint64_t>(work * (1 - kFinalistsShare)));
  result.stopped = search.stopped();

  result.schedule.name = "optimized";
  std::vector<double> seconds;
  for (const Grouping& grouping : best.rounds) {
    result.schedule.rounds.push_back(to_round(grouping));
    auto time = problem.model().time(result.schedule.rounds.back(), problem.update_bytes());
    if (!time) return std::move(time).error();
    seconds.push_back(time->seconds);
    result.times.push_back(*std::move(time));
  }
  auto mixing = measure_mixing(result.schedule, seconds, problem.islands());
  if (!mixing) return std::move(mixing).error();
  result.mixing = *mixing;
  return result;
}

}  // namespace tombolo::schedule
