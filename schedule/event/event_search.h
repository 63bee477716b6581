#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"
#include "schedule/event/event_model.h"
#include "schedule/schedule.h"

namespace tombolo::schedule {

struct EventSearchOptions {
  double update_bytes = 0;
  std::uint32_t max_fragments = 1;   ///< 1 to kMaxFragments.
  std::size_t max_rounds = 8;        ///< Of the schedule that is sought.
  std::uint32_t evaluations = 4000;  ///< How many schedules are looked at, about.
  std::uint64_t seed = 1;
  /// Asked between schedules; the best so far is the result when it says true. May be empty.
  std::function<bool()> stop;
  /// Told after each run of annealing how many schedules were looked at and the least D. May be empty.
  std::function<void(std::uint32_t evaluations, double best_s)> progress;
};

struct EventSearchResult {
  Schedule schedule;
  Timetable timetable;
  double disagreement_s = 0;
  std::uint32_t evaluations = 0;
};

/// Seeks a schedule without barriers, and a number of fragments, of least D: by annealing from the best of
/// `seeds` and of event_seeds. The same arguments give the same result, unless `stop` says so.
/// Errors: kInvalidInput for options out of range, fewer than two islands, or a seed that is none of this
/// network's; those of the model.
Result<EventSearchResult> search_event(const EventModel& model, std::span<const Schedule> seeds,
                                       const EventSearchOptions& options);

/// Schedules to start from: the full clique (where it may be), groups of near islands and then one of each
/// group, and pairs that double what they know.
std::vector<Schedule> event_seeds(const EventModel& model);

}  // namespace tombolo::schedule
