#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "aggregation/fold_point.h"
#include "base/number_format.h"
#include "multicast/forwarding.h"
#include "protocol/port.h"

namespace tombolo::dataplane {

/// What an island must know to send in one schedule entry; its edge hands it on in CONFIG.
struct SendEntry {
  std::uint64_t stream_rate_bps = 0;      ///< Wire bits per second of one stream, framing included.
  std::vector<std::uint16_t> send_trees;  ///< Trees on which it sends each chunk.
};

/// One schedule entry as a site's fold point sees it: a clique that folds on a tree, and here.
struct SiteEntry {
  std::uint16_t tree = 0;              ///< Of what it folds: partials, or the root's results.
  bool is_root = false;                ///< What it folds is the result.
  std::uint64_t partials = 0;          ///< A bit per input that brings partials.
  std::vector<std::uint64_t> below;    ///< By input: a bit per member of the clique that is in it.
  std::vector<std::uint16_t> members;  ///< The clique's ranks, ascending.
};

/// A fold point that serves no island of its own, but this site's part in cliques that fold on trees. All of
/// its cliques have one lowest member, whose rounds come one after the other, so none waits for another's.
struct SitePoint {
  std::uint16_t lowest_member = 0;
  std::vector<aggregation::MemberEntry> inputs;  ///< By schedule entry; `ranks` are places: 0, 1, ...
  std::vector<SiteEntry> entries;                ///< By schedule entry.
};

/// An island behind this edge.
struct LocalIsland {
  std::uint16_t rank = 0;
  std::uint8_t link = 0;                          ///< Its access link at this edge.
  std::vector<aggregation::MemberEntry> members;  ///< By schedule entry.
  std::vector<SendEntry> sends;                   ///< By schedule entry.
};

/// What the epoch before can no longer count on: the newer one was made to go on without it. Rounds of the
/// older one that need any of it end at once.
struct Losses {
  std::uint32_t epoch = 0;  ///< The older one; 0: nothing is lost.
  /// By fold point of the older table (islands, then sites' points) and schedule entry: a bit per member
  /// whose chunks cannot arrive any more.
  std::vector<std::vector<std::uint64_t>> members;
  /// By tree of the older table: a bit per link below which nobody is left to reach.
  std::vector<std::uint64_t> links;
};

/// One epoch as one edge needs it: lookup tables, built by control from the installed plan. Immutable; shared
/// by all lanes of the edge.
struct EpochTable {
  std::uint16_t job = 0;
  std::uint32_t epoch = 0;  ///< Never 0.
  bool edge_aggregation = true;
  std::uint16_t lane_count = 0;
  std::uint32_t chunk_elements = 0;
  std::uint32_t max_payload_bytes = kMaxPayloadBytes;  ///< Of a contribution or a result of a chunk.
  NonFinitePolicy non_finite = NonFinitePolicy::kPropagate;
  Nanoseconds deadline_ns = 0;
  std::uint32_t period = 0;  ///< Schedule entries.
  multicast::ForwardingTable forwarding;
  Losses losses;
  std::vector<LocalIsland> islands;  ///< Bit i of Branch::deliver is islands[i] ...
  std::vector<SitePoint> sites;      ///< ... and bit islands.size() + i is sites[i].
  bool narrow_partials = false;      ///< Partials have the update's format; otherwise fp32.

  std::size_t points() const { return islands.size() + sites.size(); }
};

}  // namespace tombolo::dataplane
