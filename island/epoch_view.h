#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "aggregation/fold_point.h"
#include "protocol/link/grant_table.h"
#include "protocol/wire/config.h"

namespace tombolo::island {

/// One epoch as its edge told this island (CONFIG, one schedule entry at a time), and the island's state in
/// it.
class EpochView {
 public:
  /// Longest period that is taken from an edge.
  static constexpr std::uint32_t kMaxEntries = 1U << 16;

  /// `first` may be any entry of the epoch; it fixes the period and what all entries share.
  EpochView(std::uint32_t epoch, const wire::Config& first);

  /// Takes an entry; false if it contradicts the others.
  bool add(const wire::Config& config);
  bool complete() const { return known_ == entries_.size(); }
  /// The first entry that is missing.
  std::uint32_t next_missing() const;

  /// Bytes that the fold points' windows will take; 0 with edge aggregation. When complete.
  std::uint64_t fold_bytes() const;

  /// Sets up grants and, when the island folds itself, its fold points. Once, when complete.
  /// Errors: kInvalidInput from a fold point whose entries do not fit.
  Status start(fold::InstructionSet instruction_set = fold::InstructionSet::kBaseline);

  std::uint32_t epoch() const { return epoch_; }
  std::uint32_t first_round() const { return common_.first_round; }
  std::uint16_t lane_count() const { return common_.lane_count; }
  std::uint32_t period() const { return static_cast<std::uint32_t>(entries_.size()); }
  std::uint32_t chunk_elements() const { return common_.chunk_elements; }
  std::uint32_t max_payload_bytes() const { return common_.max_payload_bytes; }
  std::uint64_t deadline_ns() const { return common_.deadline_ns; }
  bool edge_aggregation() const { return common_.edge_aggregation; }
  const wire::Config& entry_of(std::uint32_t round) const {
    return entries_[(round - common_.first_round) % entries_.size()];
  }
  /// Whether the clique of an entry folds on a tree: then nobody's chunks come here or to the island's edge,
  /// but what becomes of the one tree that the island sends on becomes of the round.
  bool on_tree(const wire::Config& entry) const {
    return common_.edge_aggregation && entry.members > 0 && entry.receive_tree[entry.self] == wire::kNoTree;
  }
  /// Whether this island sends on that tree in that round.
  bool sends_on(std::uint32_t round, std::uint16_t tree) const;
  aggregation::LaneGeometry geometry(std::uint16_t lane) const {
    return {lane, common_.lane_count, common_.chunk_elements, common_.max_payload_bytes};
  }

  /// The rounds that no operation has reached yet begin here; returns the first of those before `round`,
  /// which the island skips (nothing to skip: `round` itself).
  std::uint32_t reach(std::uint32_t round) {
    const std::uint32_t first = next_round_;
    next_round_ = std::max(next_round_, round + 1);
    return first;
  }

  /// The island takes no part any more in any round that an operation has reached so far.
  void give_up_reached() { given_up_before_ = next_round_; }
  /// Rounds from first_round() to below this one are given up like that.
  std::uint32_t given_up_before() const { return given_up_before_; }

  /// The edge ended its part of a round that no operation has reached yet: one that does finds it ended.
  /// False, and nothing is kept, if one has. Of too many the oldest is forgotten; that round ends by its
  /// deadline.
  bool note_end(std::uint32_t round, const link::GrantTable::End& end);
  /// What was noted like that; nullptr: nothing.
  const link::GrantTable::End* noted_end(std::uint32_t round) const;

  /// Forgets what was granted and noted: the edge is a new one.
  void forget_grants();

  /// What the receivers of this island's trees granted, by lane. The island is the end of the way up.
  link::GrantTable& grants(std::uint16_t lane) { return grants_[lane]; }
  /// By lane; empty with edge aggregation.
  std::vector<aggregation::FoldPoint>& points() { return points_; }

 private:
  void make_grants(std::size_t lanes);

  std::uint32_t epoch_;
  wire::Config common_;
  std::vector<wire::Config> entries_;
  std::vector<bool> present_;
  std::size_t known_ = 0;
  std::uint32_t next_round_;
  std::uint32_t given_up_before_;
  std::map<std::uint32_t, link::GrantTable::End> ends_;  ///< By round.
  std::vector<link::GrantTable> grants_;
  std::vector<aggregation::MemberEntry> members_;
  std::vector<aggregation::FoldPoint> points_;
};

}  // namespace tombolo::island
