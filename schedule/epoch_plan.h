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
/// The source of trees that start at a site which folds.
inline constexpr Rank kNoRank = 0xffff;

/// One site's part in a tree: packets come from `parent` and go on to `children` and to the `deliver`
/// islands.
struct TreeHop {
  SiteId site = 0;
  SiteId parent = 0;             ///< Equal to `site` at the root, where the source island is the parent.
  std::vector<SiteId> children;  ///< Ascending.
  std::vector<Rank> deliver;     ///< Islands at this site that receive from this tree, ascending.
};

/// What travels on a tree. The last three are those of cliques in the mode tree.
enum class TreeUse : std::uint8_t {
  kDirect,         ///< An island's contributions, to the fold points of the clique's members.
  kContributions,  ///< An island's contributions, to the first site that folds them.
  kPartials,       ///< What a site has folded, to the next site that folds.
  kResults,        ///< What the root has folded, to all members.
};

/// How one source's packets fan out in one schedule entry: over a whole clique (multicast), or to one
/// destination (without multicast; a source then has k - 1 trees, each a path). In the mode tree
/// contributions and partials go along a path to the site that folds them, where `deliver` is empty.
struct PlannedTree {
  std::uint16_t id = 0;  ///< Index in EpochPlan::trees.
  Rank source = 0;       ///< kNoRank: the site of the first hop, which folds.
  std::uint32_t entry = 0;
  std::vector<TreeHop> hops;  ///< Root first, parents before children.
  TreeUse use = TreeUse::kDirect;
};

/// One site that folds for a clique in the mode tree: what comes in on `inputs`, folded in that order, goes
/// out on `tree`: as partials to the next site, or, from the root, as results to all members.
struct PlannedFold {
  SiteId site = 0;
  std::uint16_t tree = 0;
  std::vector<std::uint16_t> inputs;  ///< Trees that end here, by the lowest rank that is in what they bring.

  friend bool operator==(const PlannedFold&, const PlannedFold&) = default;
};

/// The number format of partials: fp32 (int32 for an update of int32), or the update's own, which rounds once
/// at every site that folds.
enum class PartialFormat : std::uint8_t { kFp32, kUpdate };
/// The same as a format, for an update in `update`.
constexpr NumberFormat partials_of(NumberFormat update, PartialFormat partial) {
  const bool own = partial == PartialFormat::kUpdate || update == NumberFormat::kInt32;
  return own ? update : NumberFormat::kFp32;
}

/// One clique of at least two islands in one schedule entry. Members are in fold order: ascending rank.
struct PlannedClique {
  std::vector<Rank> members;
  std::uint64_t latency_ns =
      0;  ///< The largest one-way latency of a pair; on a tree, all the way up and down.
  std::uint64_t stream_rate_bps = 0;  ///< Wire bit rate, framing included, of one stream of one source.
  std::uint32_t window_chunks = 0;    ///< Slots of a fold point for one round; a multiple of the lane count.
  /// By member, for the operation weighted: normal numbers above 0; empty: the schedule gives none.
  std::vector<float> weights{};
  std::vector<std::vector<std::uint16_t>> send_trees;  ///< [member]: trees on which it sends each chunk.
  /// [receiver][source]: tree; kNoTreeId if none, as everywhere in the mode tree.
  std::vector<std::vector<std::uint16_t>> receive_trees;
  /// In the mode tree: the sites that fold, the root first, each behind the one that its partials go to.
  std::vector<PlannedFold> folds{};

  bool on_tree() const { return !folds.empty(); }
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
  PartialFormat partial_format = PartialFormat::kFp32;
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

  /// What partials of an update in `format` are in.
  NumberFormat partials() const { return partials_of(format, partial_format); }
  bool has_trees() const {
    return std::any_of(entries.begin(), entries.end(), [](const PlannedEntry& entry) {
      return std::any_of(entry.cliques.begin(), entry.cliques.end(),
                         [](const PlannedClique& clique) { return clique.on_tree(); });
    });
  }
  /// Of a chunk, as a contribution, as a result or, where cliques fold on trees, as a partial.
  std::uint32_t max_payload_bytes() const {
    std::uint64_t most =
        std::max(encoded_bytes(format, chunk_elements), encoded_bytes(result_format, chunk_elements));
    if (has_trees()) most = std::max(most, encoded_bytes(partials(), chunk_elements));
    return static_cast<std::uint32_t>(most);
  }
};

}  // namespace tombolo::schedule
