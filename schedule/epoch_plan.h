#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "base/number_format.h"

namespace tombolo::schedule {

/// Index of a site in its Topology, in the file's order.
using SiteId = std::uint16_t;
using Rank = std::uint16_t;
inline constexpr std::uint16_t kNoTreeId = 0xffff;

/// One site's part in a tree: packets come from `parent` and go on to `children` and to the `deliver`
/// islands.
struct TreeHop {
  SiteId site = 0;
  SiteId parent = 0;             ///< Equal to `site` at the root, where the source island is the parent.
  std::vector<SiteId> children;  ///< Ascending.
  std::vector<Rank> deliver;     ///< Islands at this site that receive from this tree, ascending.
};

/// How one source's packets fan out in one schedule entry: over a whole clique (multicast), or to one
/// destination (without multicast; a source then has k - 1 trees, each a path).
struct PlannedTree {
  std::uint16_t id = 0;  ///< Index in EpochPlan::trees.
  Rank source = 0;
  std::uint32_t entry = 0;
  std::vector<TreeHop> hops;  ///< Root first, parents before children.
};

/// One clique of at least two islands in one schedule entry. Members are in fold order: ascending rank.
struct PlannedClique {
  std::vector<Rank> members;
  std::uint64_t latency_ns = 0;       ///< The largest one-way latency of a pair.
  std::uint64_t stream_rate_bps = 0;  ///< Wire bit rate, framing included, of one stream of one source.
  std::uint32_t window_chunks = 0;    ///< Slots of a fold point for one round; a multiple of the lane count.
  std::vector<std::vector<std::uint16_t>> send_trees;     ///< [member]: trees on which it sends each chunk.
  std::vector<std::vector<std::uint16_t>> receive_trees;  ///< [receiver][source]: tree; kNoTreeId if none.
  /// By member, for the operation weighted: normal numbers above 0; empty: the schedule gives none.
  std::vector<float> weights{};
};

struct PlannedEntry {
  std::vector<PlannedClique> cliques;  ///< Singletons are left out: they rest.
};

struct PlannedIsland {
  Rank rank = 0;
  SiteId site = 0;
};

/// What one directed link between sites must carry at most, over all entries: sizes its caches.
struct PlannedLink {
  SiteId from = 0;
  SiteId to = 0;
  std::uint64_t rtt_ns = 0;
  std::uint64_t load_bps = 0;  ///< Wire bit rate, framing included.
  /// The IPv4 group that its packets are sent to, host byte order; 0: they go straight to the other end.
  std::uint32_t group = 0;
};

/// A link, both directions of it, that is out of service. A site that is lost has lost all of its links.
struct LostLink {
  SiteId a = 0;
  SiteId b = 0;  ///< Greater than a.

  friend auto operator<=>(const LostLink&, const LostLink&) = default;
};

/// Everything an epoch says, for the whole network, compiled from topology, schedule and capabilities. Plain
/// data: control turns it into each edge's lookup tables. Immutable once made.
struct EpochPlan {
  std::uint16_t job = 0;
  std::uint32_t epoch = 0;  ///< Never 0, never reused.
  bool multicast = true;
  bool edge_aggregation = true;
  std::uint32_t chunk_elements = 0;  ///< Of a chunk; a multiple of 32.
  std::uint16_t lane_count = 0;
  std::uint64_t deadline_ns = 0;        ///< A round's longest life at a fold point.
  std::vector<std::string> site_names;  ///< By SiteId.
  std::vector<PlannedIsland> islands;   ///< By rank.
  std::vector<PlannedEntry> entries;    ///< The period: round r of the epoch uses entry r mod period.
  std::vector<PlannedTree> trees;
  std::vector<PlannedLink> links;
  /// What this epoch was made to go on without; both ascending. Rounds of the epoch before it that need any
  /// of it end at once, by name.
  std::vector<LostLink> lost_links{};
  std::vector<Rank> lost_ranks{};
  /// What rates and buffers are planned for: of updates and of results. Islands may use any formats whose
  /// chunks fit max_payload_bytes().
  NumberFormat format = NumberFormat::kFp32;
  NumberFormat result_format = NumberFormat::kFp32;
  NonFinitePolicy non_finite = NonFinitePolicy::kPropagate;

  /// Of a chunk, as a contribution or as a result.
  std::uint32_t max_payload_bytes() const {
    return static_cast<std::uint32_t>(
        std::max(encoded_bytes(format, chunk_elements), encoded_bytes(result_format, chunk_elements)));
  }
};

}  // namespace tombolo::schedule
