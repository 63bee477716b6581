#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "dataplane/edge/epoch_table.h"
#include "schedule/epoch_plan.h"

namespace tombolo::control {

/// What an edge's link i leads to: the edge of another site, or an island of its own.
struct Neighbour {
  bool is_island = false;
  std::uint16_t id = 0;  ///< A site, or a rank.
};

/// What an edge's own sites and links are, in the order of its configuration.
struct EdgePlace {
  schedule::SiteId site = 0;
  std::vector<Neighbour> links;
};

/// Turns a plan, which speaks of sites and ranks, into the tables of one edge, which speak of its links. The
/// plan has passed schedule::check_plan; `losses` (make_losses) goes into the table as it is. Errors:
/// kInvalidInput, naming the site, island or tree that the edge has no link for.
Result<std::shared_ptr<const dataplane::EpochTable>> make_epoch_table(const schedule::EpochPlan& plan,
                                                                      const EdgePlace& place,
                                                                      dataplane::Losses losses = {});

/// What an edge must reserve for a plan (invariant I4).
struct EdgeNeeds {
  std::vector<std::uint32_t> link_windows;  ///< By link: packets outstanding per lane, a power of two.
  std::uint16_t lane_count = 0;
  std::uint64_t slot_buffers = 0;     ///< Held in the slots of its fold points, two epochs live.
  std::uint64_t arena_bytes = 0;      ///< For what waits long in those slots, outside of packet buffers.
  std::uint64_t receive_buffers = 0;  ///< On the way through.
  std::uint32_t buffer_bytes = 0;     ///< One packet.

  /// Held for repair, over all links and lanes.
  std::uint64_t cache_buffers() const;
  std::uint64_t buffers() const { return cache_buffers() + slot_buffers + receive_buffers; }
  std::uint64_t bytes() const { return buffers() * buffer_bytes + arena_bytes; }
};
EdgeNeeds edge_needs(const schedule::EpochPlan& plan, const EdgePlace& place);

/// Makes `needs` the larger of both, field by field.
void widen(EdgeNeeds& needs, const EdgeNeeds& other);

/// The same for an island of that rank: its window towards its edge, and, when it folds itself, its slots.
EdgeNeeds island_needs(const schedule::EpochPlan& plan, schedule::Rank rank);

}  // namespace tombolo::control
