#pragma once

#include <optional>
#include <vector>

#include "base/random.h"
#include "schedule/optimize/cycle_mixing.h"
#include "schedule/optimize/pair_times.h"
#include "schedule/optimize/round_timer.h"

namespace tombolo::schedule {

/// Looks for better groups in one round of a cycle while the other rounds stay: swaps and moves of islands,
/// and now and then a split, a merger or a rest. With S before the round and the worth after it known
/// (CycleMixing), what a move does to D is found in a time that grows with the number of groups only.
class RoundSearch {
 public:
  /// All must outlive this.
  RoundSearch(const Problem& problem, RoundTimer& timer, const PairTimes& pairs, Random& random)
      : problem_(problem), timer_(timer), pairs_(pairs), random_(random) {}

  struct Outcome {
    Grouping grouping;
    double seconds = 0;
    bool changed = false;
  };
  /// Proposes moves for the round at `index`. A move that makes D worse is taken with the probability
  /// exp(-rise / heat_s). What comes out may turn out worse when measured: the estimate leaves out what comes
  /// round again.
  Outcome search(const Grouping& grouping, double seconds, const CycleMixing& cycle, std::size_t index,
                 std::size_t proposals, double heat_s);

  std::uint64_t work() const { return work_; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  /// `leaver` goes from its group to the group `to` (kNone: it rests); `comer`, if any, goes the other way.
  struct Move {
    Rank leaver = 0;
    std::size_t to = kNone;
    std::optional<Rank> comer;
  };

  void load(const Grouping& grouping);
  std::optional<Move> propose();
  Rank pick_island();
  void try_move(const Move& move);
  void try_groups(std::vector<Clique> groups);
  void restructure();
  double moved_overlap(const Move& move) const;
  double disagreement_with(double overlap, double seconds) const;
  bool accepts(double disagreement_s);
  TimedGroups time_of(const std::vector<Clique>& groups, std::vector<std::size_t>* group_of_clique);

  const Problem& problem_;
  RoundTimer& timer_;
  const PairTimes& pairs_;
  Random& random_;
  std::uint64_t work_ = 0;

  // The round at hand.
  const CycleMixing* cycle_ = nullptr;
  const BlockMatrix* before_ = nullptr;
  const BlockMatrix* worth_ = nullptr;
  double trace_before_ = 0;
  double trace_worth_ = 0;
  double old_seconds_ = 0;  ///< As in the cycle that was measured.
  double old_overlap_ = 0;
  double heat_s_ = 0;
  Grouping now_;
  double seconds_ = 0;
  double overlap_ = 0;  ///< trace(worth W before W).
  double disagreement_s_ = 0;
  std::vector<std::size_t> critical_;  ///< Groups on the bottleneck.
  std::vector<bool> is_critical_;      ///< By group.
  RowMatrix before_rows_;
  RowMatrix worth_rows_;
  RowMatrix before_blocks_;
  RowMatrix worth_blocks_;
  Eigen::ArrayXd share_;  ///< By group: 1 / its size.
};

}  // namespace tombolo::schedule
