#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace tombolo::multicast {

/// Links of one edge, and fold points at it: one bit each.
inline constexpr std::size_t kMaxLinks = 64;
inline constexpr std::size_t kMaxLocalPoints = 64;
/// Instead of a fold point.
inline constexpr std::uint8_t kNoPoint = 0xff;

/// What a tree carries. The last three belong to cliques that fold on a tree.
enum class Traffic : std::uint8_t {
  kDirect,         ///< Contributions to the fold points of all members.
  kContributions,  ///< Contributions to the first site that folds them.
  kPartials,       ///< What a site has folded, to the next one.
  kResults,        ///< What the root has folded, to all members.
};

/// What this edge does with the packets of one tree.
struct Branch {
  bool valid = false;             ///< The tree passes through this edge.
  std::uint8_t parent_link = 0;   ///< The link that its packets come from; anything else is foreign.
  std::uint16_t rank = 0;         ///< The source island; wire::kNoRank: a site that folds.
  std::uint32_t entry = 0;        ///< The schedule entry that the tree belongs to.
  std::uint64_t child_links = 0;  ///< A bit per link that gets a copy.
  /// A bit per fold point of this edge that gets the payload. Of results: per island.
  std::uint64_t deliver = 0;
  Traffic traffic = Traffic::kDirect;
  /// The fold point here that makes its packets: then they come from no link.
  std::uint8_t parent_point = kNoPoint;
  std::uint8_t input = 0;  ///< Its place among the inputs of the site's fold point in `deliver`.

  bool starts_here() const { return parent_point != kNoPoint; }
};

/// A branch and the tree that it belongs to, as control hands them over.
struct BranchSpec {
  std::uint16_t tree = 0;
  Branch branch;
};

/// An edge's part in every tree of an epoch: looked up by the tree number of each packet. Immutable once
/// built.
class ForwardingTable {
 public:
  /// An empty table: every tree is unknown.
  ForwardingTable() = default;

  /// Errors: kInvalidInput, naming the tree and the field: a tree that is given twice, the reserved number,
  /// a link or fold point that does not exist, a copy that would go back where it came from, a branch that
  /// leads nowhere. `valid` is set by the table.
  static Result<ForwardingTable> build(std::span<const BranchSpec> specs, std::size_t link_count,
                                       std::size_t point_count);

  /// The tree's branch, or nullptr when the tree does not pass here.
  const Branch* find(std::uint16_t tree) const {
    if (tree >= branches_.size() || !branches_[tree].valid) return nullptr;
    return &branches_[tree];
  }

  /// One past the highest tree number in the table.
  std::size_t size() const { return branches_.size(); }

 private:
  std::vector<Branch> branches_;  ///< By tree number; dense, because trees are numbered from 0.
};

}  // namespace tombolo::multicast
