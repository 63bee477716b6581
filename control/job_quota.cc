#include "control/job_quota.h"

#include <fmt/format.h>

#include <algorithm>

namespace tombolo::control {
namespace {

using schedule::EpochPlan;

/// With that a chunk is under way in each lane: slow over a long link, and never stuck.
constexpr std::uint32_t kLeastChunksPerLane = 1;

/// What the edge would use: the caches of its links as they are reserved, and what the plan's windows hold.
struct Use {
  std::uint64_t buffers = 0;
  std::uint64_t arena_bytes = 0;
};

Use use_of(const EpochPlan& plan, const EdgePlace& place, const JobQuota& quota) {
  EdgeNeeds needs = edge_needs(plan, place);
  needs.link_windows = quota.link_windows;
  return {needs.buffers(), needs.arena_bytes};
}

bool fits(const Use& use, const JobQuota& quota) {
  return use.buffers <= quota.buffers && (quota.arena_bytes == 0 || use.arena_bytes <= quota.arena_bytes);
}

Error too_small(const Use& least, const JobQuota& quota) {
  const bool buffers = least.buffers > quota.buffers;
  return {ErrorCode::kUnavailable,
          buffers ? fmt::format("the plan needs at least {} packet buffers, the job's quota is {}",
                                least.buffers, quota.buffers)
                  : fmt::format("the plan needs an arena of at least {} bytes, the job's quota is {}",
                                least.arena_bytes, quota.arena_bytes)};
}

/// The largest window that a fold point of the plan has here, in chunks; 0: nothing is folded here.
std::uint32_t largest_window(const EpochPlan& plan, const EdgePlace& place) {
  const auto here = [&](schedule::Rank rank) {
    return std::any_of(place.links.begin(), place.links.end(),
                       [rank](const Neighbour& link) { return link.is_island && link.id == rank; });
  };
  std::uint32_t largest = 0;
  for (const schedule::PlannedEntry& entry : plan.entries)
    for (const schedule::PlannedClique& clique : entry.cliques) {
      const bool folds = std::any_of(clique.folds.begin(), clique.folds.end(),
                                     [&](const auto& fold) { return fold.site == place.site; });
      const bool ends = plan.edge_aggregation && !clique.on_tree() &&
                        std::any_of(clique.members.begin(), clique.members.end(), here);
      if (folds || ends) largest = std::max(largest, clique.window_chunks);
    }
  return largest;
}

}  // namespace

Result<Windows> windows_within(const EpochPlan& plan, const EdgePlace& place, const JobQuota& quota) {
  const std::uint32_t largest = largest_window(plan, place);
  if (fits(use_of(plan, place, quota), quota)) return Windows{largest, largest};
  const std::uint32_t lanes = plan.lane_count;
  const auto fits_at = [&](std::uint32_t chunks_per_lane) {
    return fits(use_of(with_windows(plan, chunks_per_lane * lanes), place, quota), quota);
  };
  std::uint32_t good = kLeastChunksPerLane;
  std::uint32_t bad = largest / lanes;
  if (bad <= good || !fits_at(good))
    return too_small(use_of(with_windows(plan, good * lanes), place, quota), quota);
  while (bad - good > 1) {
    const std::uint32_t middle = good + (bad - good) / 2;
    (fits_at(middle) ? good : bad) = middle;
  }
  return Windows{good * lanes, largest};
}

EpochPlan with_windows(const EpochPlan& plan, std::uint32_t most_chunks) {
  EpochPlan cut = plan;
  for (schedule::PlannedEntry& entry : cut.entries)
    for (schedule::PlannedClique& clique : entry.cliques)
      clique.window_chunks = std::min(clique.window_chunks, most_chunks);
  return cut;
}

}  // namespace tombolo::control
