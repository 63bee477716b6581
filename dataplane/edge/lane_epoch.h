#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "aggregation/fold_point.h"
#include "base/result.h"
#include "dataplane/edge/epoch_table.h"
#include "dataplane/edge/tree_state.h"
#include "protocol/link/grant_table.h"

namespace tombolo::dataplane {

/// How an edge folds, whatever the epoch.
struct FoldOptions {
  fold::InstructionSet instruction_set = fold::InstructionSet::kBaseline;
  std::uint32_t held_bytes = aggregation::kHeldBytes;  ///< See FoldPointConfig.
};

/// One epoch's state in one lane: fold points and grants. Allocated whole by control when the epoch is
/// committed, then owned by the lane until a later epoch takes its place.
struct LaneEpoch {
  static constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();

  /// Errors: kInvalidInput, naming what is wrong with the table: an island without an entry for each round, a
  /// member whose chunks no tree delivers, a fold point whose entries do not fit.
  static Result<std::unique_ptr<LaneEpoch>> create(std::shared_ptr<const EpochTable> table,
                                                   std::uint32_t first_round, std::uint16_t lane,
                                                   const FoldOptions& options = {});

  /// Whether the round belongs to this epoch.
  bool covers(std::uint32_t round) const { return round >= first_round && round < end_round; }
  std::uint32_t entry_of(std::uint32_t round) const { return (round - first_round) % table->period; }

  /// Fold points are those of the islands first, then those of the site.
  bool is_site(std::size_t point) const { return point >= table->islands.size(); }
  const SitePoint& site(std::size_t point) const { return table->sites[point - table->islands.size()]; }
  const SiteEntry& site_entry(std::size_t point, std::uint32_t round) const {
    return site(point).entries[entry_of(round)];
  }
  /// The members of the clique that are in those inputs of a site's fold point.
  std::uint64_t members_in(std::size_t point, std::uint32_t round, std::uint64_t inputs) const;

  /// Children of a branch are numbered: links first, then local fold points, lowest bit first.
  static std::uint32_t child_of_link(const multicast::Branch& branch, std::uint8_t link) {
    return static_cast<std::uint32_t>(std::popcount(branch.child_links & ((std::uint64_t{1} << link) - 1)));
  }
  static std::uint32_t child_of_island(const multicast::Branch& branch, std::size_t island) {
    return static_cast<std::uint32_t>(std::popcount(branch.child_links) +
                                      std::popcount(branch.deliver & ((std::uint64_t{1} << island) - 1)));
  }

  /// The members of that round, at a fold point, that are lost.
  std::uint64_t lost_members(std::size_t point, std::uint32_t round) const {
    return successor == nullptr ? 0 : successor->losses.members[point][entry_of(round)];
  }

  /// The epoch ends before the first round of `next`, and knows from it what is lost.
  void end_before(const LaneEpoch& next, Nanoseconds now_ns);

  /// The epoch has ended and nothing of it is under way here: no round is open, none is on its way through. A
  /// round that nobody begins holds this up for one deadline after the epoch was last used, not for ever.
  bool drained(Nanoseconds now_ns) const;

  std::shared_ptr<const EpochTable> table;
  std::uint32_t first_round;
  std::uint64_t end_round = kNoEnd;  ///< First round of the next epoch.
  Nanoseconds last_used_ns = 0;      ///< When its last contribution came, or it ended.
  /// The next epoch, if this one has to go on without what is lost (EpochTable::losses); else nullptr.
  std::shared_ptr<const EpochTable> successor;
  link::GrantTable grants;
  /// By local island, then the site's; empty without edge aggregation.
  std::vector<aggregation::FoldPoint> points;
  ResultCounts results;    ///< Of trees that end at islands here.
  SourceEnds source_ends;  ///< What this edge has to say down trees about ends of rounds.

 private:
  LaneEpoch(std::shared_ptr<const EpochTable> epoch_table, std::uint32_t first, link::GrantTable grant_table)
      : table(std::move(epoch_table)),
        first_round(first),
        grants(std::move(grant_table)),
        results(*table),
        source_ends(*table) {}
};

}  // namespace tombolo::dataplane
