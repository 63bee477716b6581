#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "tools/schedule/event_score.h"

namespace tombolo::tools {

/// More are refused: the search would look at too few schedules to be worth its time.
inline constexpr std::size_t kMaxEventIslands = 64;
/// As many as islands have under way: what `testbed run` takes.
inline constexpr std::uint32_t kUsualFragments = 2;

/// How to look for a schedule without barriers.
struct EventWishes {
  std::uint32_t fragments = kUsualFragments;  ///< At most.
  std::size_t max_rounds = 0;                 ///< 0: as many as suit the number of islands.
  double effort = 1;                          ///< As a multiple of the usual: for nine islands some seconds.
  std::uint64_t seed = 1;
  std::optional<double> time_limit_s{};  ///< By the clock; then the answer depends on the machine.
};

/// The best schedule without barriers that is found from `seeds`: never worse than any of them in which
/// nobody rests. `clock` only stops it and measures solve_s; `tell` hears how far it is. Errors:
/// kNotSupported for more than kMaxEventIslands islands; those of search_event.
Result<EventScore> find_event(const NetworkInput& input, std::span<const schedule::Schedule> seeds,
                              const EventWishes& wishes, const Clock& clock,
                              const std::function<void(std::string_view)>& tell);

}  // namespace tombolo::tools
