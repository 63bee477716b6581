#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "control/epoch_tables.h"
#include "schedule/epoch_plan.h"

namespace tombolo::control {

/// What one job may use at an edge (invariant I4). Nobody else can take it, and it takes no more.
struct JobQuota {
  std::uint64_t buffers = 0;                ///< Packet buffers.
  std::uint64_t arena_bytes = 0;            ///< For contributions that wait long; 0: as much as plans need.
  std::vector<std::uint32_t> link_windows;  ///< By link: packets outstanding per lane.
};

/// How large the windows of a job's fold points are at an edge, in chunks.
struct Windows {
  std::uint32_t chunks = 0;          ///< The largest, within the quota; 0: nothing is folded here.
  std::uint32_t planned_chunks = 0;  ///< The plan's largest.

  bool is_cut() const { return chunks < planned_chunks; }
};

/// The largest windows, none above the plan's, with which what waits in them stays within the quota. Grants
/// follow windows, so smaller ones make sources wait and lose nothing; caches of links cannot be cut that
/// way, and are taken to be large enough (edge_needs says what that is). Errors: kUnavailable, naming what is
/// too small even for the smallest windows (one chunk per lane), and what those need.
Result<Windows> windows_within(const schedule::EpochPlan& plan, const EdgePlace& place,
                               const JobQuota& quota);

/// The same plan with no window above that.
schedule::EpochPlan with_windows(const schedule::EpochPlan& plan, std::uint32_t most_chunks);

}  // namespace tombolo::control
