#pragma once

#include <coin/ClpSimplex.hpp>
#include <span>
#include <vector>

#include "schedule/round_model.h"
#include "schedule/trees/steiner.h"

namespace tombolo::schedule {

/// One way to send for a whole clique: a tree for each member, and what they ask for together.
struct TreeBundle {
  std::size_t clique = 0;
  std::vector<LinkTree> trees;  ///< By member.
  CliqueLoad load;
};

/// The linear programme of a round that is to take a given time: shares of bundles, 1 in all for each clique,
/// so that the fullest resource is as little full as possible. A share that goes by a bundle is paced to be
/// through at the round's end: it takes its loads over the time less its own latency.
class TreeMaster {
 public:
  /// `update_s` by resource; `time_s` above the latency of every bundle that is added.
  TreeMaster(std::span<const double> update_s, std::size_t cliques, double time_s);

  void add(const TreeBundle& bundle);
  /// Whether there is an answer: every clique has a bundle.
  bool solve();
  double fullness() const { return lp_.objectiveValue(); }
  /// By resource, at least 0, 1 in all: what a share of its capacity is worth.
  std::vector<double> prices() const;
  /// By bundle, in the order of adding.
  double share(std::size_t bundle) const { return lp_.primalColumnSolution()[bundle + 1]; }

 private:
  std::span<const double> update_s_;
  double time_s_;
  ClpSimplex lp_;
};

}  // namespace tombolo::schedule
