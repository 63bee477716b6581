#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "protocol/wire/header.h"

namespace tombolo::link {

/// Merges grants and round ends on their way up the trees, at one node, in one lane, in one epoch.
///
/// A node has, for each tree, a number of children: the links below it and its own fold points. For each
/// round the tree carries, a child says up to which chunk it has slots, and at last that it is done with the
/// round. What goes up is the least of the grants and, once all are done, the worst of the outcomes. Both
/// only ever grow, so a repeated or overtaken message does no harm.
///
/// A source has at most two rounds open and its receivers may be one ahead, so a tree keeps its kRounds
/// newest rounds.
class GrantTable {
 public:
  static constexpr std::uint32_t kRounds = 4;
  static constexpr std::uint32_t kEverything = 0xffffffff;

  struct End {
    wire::RoundOutcome outcome = wire::RoundOutcome::kComplete;
    std::uint64_t missing = 0;  ///< A bit per member of the clique.
  };

  /// What must go up a tree: a new grant, or the round's end.
  struct Upward {
    std::uint16_t tree = 0;
    std::uint32_t round = 0;
    std::uint32_t granted = 0;
    bool ended = false;
    End end;
  };

  /// `period`: rounds of one tree are this far apart. `children`: by tree, 0 where a tree does not pass here.
  GrantTable(std::uint32_t period, std::span<const std::uint8_t> children);

  /// Child `child` of `tree` has slots for chunks before `up_to`. Older rounds than those kept are ignored.
  void grant(std::uint16_t tree, std::uint32_t round, std::uint32_t child, std::uint32_t up_to);

  /// The round is on its way on the tree, whatever was granted: it is unfinished until all children are done.
  void note(std::uint16_t tree, std::uint32_t round) { use(tree, round); }

  /// That child is done with the round; it no longer limits the others.
  void end(std::uint16_t tree, std::uint32_t round, std::uint32_t child, const End& end);

  /// Nothing will come from these children of `tree` any more: they are done with every round, those to come
  /// included, with the outcome kLost.
  void lose(std::uint16_t tree, std::uint64_t children);

  /// Up to which chunk the source may send, as told upward by this node; 0 when nothing was granted or the
  /// round is no longer kept.
  std::uint32_t granted(std::uint16_t tree, std::uint32_t round) const;
  bool ended(std::uint16_t tree, std::uint32_t round) const { return end_of(tree, round) != nullptr; }
  /// How it ended; nullptr while a child is not done.
  const End* end_of(std::uint16_t tree, std::uint32_t round) const;

  /// How many tree rounds that are kept have been granted or ended in part, but not ended by all children.
  std::size_t unfinished() const { return unfinished_; }

  /// How many tree rounds have something to tell upward.
  std::size_t pending() const { return pending_count_; }
  /// The oldest of them; false if there is none. told() takes it off; postpone() puts it behind the others.
  bool next_upward(Upward& upward) const;
  void told(const Upward& upward);
  void postpone();

  /// Everything of this tree has to be told again: its parent is new.
  void tell_again(std::uint16_t tree);

 private:
  struct Instance {
    std::uint32_t round = 0;
    bool used = false;
    bool queued = false;
    std::uint32_t told = 0;    ///< The grant that went up last.
    std::uint32_t merged = 0;  ///< The least over the children.
    std::uint64_t done = 0;    ///< A bit per child that ended.
    End end;
  };
  struct Tree {
    std::uint32_t children = 0;
    std::uint32_t first_child = 0;  ///< Of instance 0, in grants_; instance i is `i * children` further.
    std::uint64_t lost = 0;         ///< A bit per child that is out of service.
  };

  Instance* use(std::uint16_t tree, std::uint32_t round);
  const Instance* find(std::uint16_t tree, std::uint32_t round) const;
  void end_lost(std::uint16_t tree, Instance& instance);
  void merge(std::uint16_t tree, Instance& instance);
  void queue(std::uint16_t tree, Instance& instance);
  std::uint32_t slot(std::uint16_t tree, std::uint32_t round) const {
    return std::uint32_t{tree} * kRounds + (round / period_) % kRounds;
  }
  bool all_done(const Tree& tree, const Instance& instance) const;

  std::uint32_t period_;
  std::vector<Tree> trees_;
  std::vector<Instance> instances_;    ///< kRounds per tree.
  std::vector<std::uint32_t> grants_;  ///< By tree, instance and child.
  std::vector<std::uint32_t>
      pending_;  ///< Ring of instance indexes with something to tell; each at most once.
  std::size_t pending_head_ = 0;
  std::size_t pending_count_ = 0;
  std::size_t unfinished_ = 0;
};

}  // namespace tombolo::link
