#include "tools/schedule/event_solution.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "schedule/event/event_search.h"
#include "schedule/optimize/exact.h"
#include "schedule/optimize/optimize.h"

namespace tombolo::tools {
namespace {

/// How many schedules the search looks at: each costs as the cube of the islands, and fragments besides.
std::uint32_t suitable_evaluations(std::size_t islands, const EventWishes& wishes) {
  constexpr double kUsual = 60'000;
  constexpr double kLeast = 200;
  constexpr double kMost = 1e9;  // That many are not lived to see.
  const double more =
      std::max(1.0, static_cast<double>(islands) / static_cast<double>(schedule::kMaxExactIslands));
  const double fragments = std::max(1.0, static_cast<double>(wishes.fragments) / kUsualFragments);
  return static_cast<std::uint32_t>(
      std::clamp(wishes.effort * kUsual / (more * more * more * fragments), kLeast, kMost));
}

}  // namespace

Result<EventScore> find_event(const NetworkInput& input, std::span<const schedule::Schedule> seeds,
                              const EventWishes& wishes, const Clock& clock,
                              const std::function<void(std::string_view)>& tell) {
  const Nanoseconds begin_ns = clock.now_ns();
  const auto elapsed_s = [&] {
    return static_cast<double>(clock.now_ns() - begin_ns) / static_cast<double>(kSecond);
  };
  const std::size_t islands = input.network.islands.size();
  if (islands > kMaxEventIslands)
    return Error{ErrorCode::kNotSupported,
                 fmt::format("{} islands; schedules without barriers are sought for at most {}", islands,
                             kMaxEventIslands)};
  const schedule::Routes routes(input.network);
  const schedule::EventModel model(input.network, routes, input.capabilities);
  schedule::EventSearchOptions options;
  options.update_bytes = static_cast<double>(input.update_bytes);
  options.max_fragments = wishes.fragments;
  const bool few = islands <= schedule::kMaxAnnealedIslands;
  options.max_rounds = wishes.max_rounds != 0 ? wishes.max_rounds
                       : few                  ? schedule::kFewRounds
                                              : schedule::kManyRounds;
  options.evaluations = suitable_evaluations(islands, wishes);
  options.seed = wishes.seed;
  if (wishes.time_limit_s) options.stop = [&] { return elapsed_s() >= *wishes.time_limit_s; };
  options.progress = [&](std::uint32_t evaluations, double best_s) {
    tell(fmt::format("no barriers: D {:.6f} s after {} of {} schedules", best_s, evaluations,
                     options.evaluations));
  };
  tell(fmt::format("searching schedules without barriers, in up to {} fragments", wishes.fragments));
  auto found = schedule::search_event(model, seeds, options);
  if (!found) return std::move(found).error();
  auto score = score_event(input, std::move(found->schedule));
  if (score) score->solve_s = elapsed_s();
  return score;
}

}  // namespace tombolo::tools
