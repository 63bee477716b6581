#include "schedule/event/event_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/random.h"
#include "schedule/event/event_mixing.h"
#include "schedule/event/event_moves.h"

namespace tombolo::schedule {
namespace {

/// Annealing: how much worse, as a share of D, is taken with probability 1/e; at first and in the end.
constexpr double kFirstHeat = 0.03;
constexpr double kLastHeat = 0.0005;
/// A schedule is better if it is so by more than rounding: else a longer one could pass for better.
constexpr double kBetter = 1 - 1e-7;
/// Starts of annealing, each with its share of the evaluations.
constexpr std::size_t kStarts = 4;

struct Candidate {
  Schedule schedule;
  std::uint32_t fragments = 1;
  double disagreement_s = std::numeric_limits<double>::infinity();
};

class Search {
 public:
  Search(const EventModel& model, const EventSearchOptions& options)
      : model_(model), options_(options), random_(options.seed) {}

  Result<EventSearchResult> run(std::vector<Schedule> seeds) {
    std::vector<Candidate> starts;
    for (Schedule& seed : seeds)
      for (std::uint32_t fragments = 1; fragments <= options_.max_fragments; fragments *= 2)
        starts.push_back(judged({seed, fragments}));
    std::stable_sort(starts.begin(), starts.end(), [](const Candidate& a, const Candidate& b) {
      return a.disagreement_s < b.disagreement_s;
    });
    best_ = starts.front();
    starts.resize(std::min(starts.size(), kStarts));
    const std::uint32_t left = options_.evaluations > evaluations_ ? options_.evaluations - evaluations_ : 0;
    for (const Candidate& start : starts) anneal(start, left / static_cast<std::uint32_t>(2 * starts.size()));
    anneal(best_, left / 2);
    return finish();
  }

 private:
  bool stopped() const { return options_.stop && options_.stop(); }

  Candidate judged(Candidate candidate) {
    ++evaluations_;
    candidate.disagreement_s = std::numeric_limits<double>::infinity();
    const auto timetable = model_.timetable(candidate.schedule, options_.update_bytes, candidate.fragments);
    if (!timetable) return candidate;  // It never joins all islands.
    const auto value =
        fragment_disagreement(candidate.schedule, *timetable, model_.network().islands.size(), 0);
    if (value && !std::isnan(*value)) candidate.disagreement_s = *value;
    return candidate;
  }

  void anneal(Candidate at, std::uint32_t steps) {
    for (std::uint32_t step = 0; step < steps && !stopped(); ++step) {
      const double done = static_cast<double>(step) / steps;
      const double heat = kFirstHeat * std::pow(kLastHeat / kFirstHeat, done);
      Candidate next = at;
      if (!move(next)) continue;
      next = judged(std::move(next));
      const double worse = std::log(next.disagreement_s / at.disagreement_s);
      if (!(worse <= -heat * std::log(1 - random_.unit()))) continue;
      at = std::move(next);
      if (at.disagreement_s < best_.disagreement_s * kBetter) best_ = at;
    }
    if (options_.progress) options_.progress(evaluations_, best_.disagreement_s);
  }

  bool move(Candidate& candidate) {
    if (options_.max_fragments > 1 && random_.chance(0.05)) {
      const std::uint32_t fragments = random_.chance(0.5) ? candidate.fragments * 2 : candidate.fragments / 2;
      if (fragments == 0 || fragments > options_.max_fragments) return false;
      candidate.fragments = fragments;
      return true;
    }
    return move_at_random(candidate.schedule, model_.network().islands.size(), options_.max_rounds, random_);
  }

  Result<EventSearchResult> finish() const {
    auto timetable = model_.timetable(best_.schedule, options_.update_bytes, best_.fragments);
    if (!timetable) return std::move(timetable).error();
    const auto value = event_disagreement(best_.schedule, *timetable, model_.network().islands.size());
    if (!value) return value.error();
    EventSearchResult result{best_.schedule, std::move(*timetable), *value, evaluations_};
    result.schedule.name = "event";
    result.schedule.form = Form::kEvent;
    result.schedule.fragments = best_.fragments;
    return result;
  }

  const EventModel& model_;
  const EventSearchOptions& options_;
  Random random_;
  Candidate best_;
  std::uint32_t evaluations_ = 0;
};

}  // namespace

Result<EventSearchResult> search_event(const EventModel& model, std::span<const Schedule> seeds,
                                       const EventSearchOptions& options) {
  const std::size_t n = model.network().islands.size();
  if (n < 2) return invalid_input(fmt::format("event search: {} islands; needs two", n));
  if (options.max_fragments == 0 || options.max_fragments > kMaxFragments || options.max_rounds == 0 ||
      options.max_rounds > kMaxRounds)
    return invalid_input(
        fmt::format("event search: up to {} fragments and {} rounds; must be 1 to {} and 1 to {}",
                    options.max_fragments, options.max_rounds, kMaxFragments, kMaxRounds));
  if (!(options.update_bytes > 0) || !std::isfinite(options.update_bytes))
    return invalid_input("the update must be larger than 0 bytes");
  for (const Schedule& seed : seeds)
    for (const Round& round : seed.rounds)
      for (const Clique& clique : round.cliques)
        for (const Rank rank : clique)
          if (rank >= n) return invalid_input("event search: a seed with an island that does not exist");
  std::vector<Schedule> all = event_seeds(model);
  all.insert(all.end(), seeds.begin(), seeds.end());
  return Search(model, options).run(std::move(all));
}

}  // namespace tombolo::schedule
