#pragma once

#include <vector>

#include "schedule/round_model.h"
#include "schedule/trees/clique_pricer.h"

namespace tombolo::schedule {

/// By clique and member.
using RoundTrees = std::vector<std::vector<LinkTree>>;
/// By clique and member: trees to choose from.
using TreePool = std::vector<std::vector<std::vector<LinkTree>>>;

/// A round as packing sees it: cliques whose trees may be chosen, and what the others ask for anyway.
struct PackedCliques {
  std::vector<CliquePricer> cliques;
  std::vector<CliqueLoad> fixed;
  std::vector<double> update_s;  ///< By resource.

  /// The round's least time with these trees, one for each member.
  double time_s(const RoundTrees& trees) const;
};

/// Exchanges trees for others of the pool, one member at a time, while that shortens the round or, at the
/// same time, evens out what its resources carry. Returns the round's time.
double improve_choice(const PackedCliques& round, const TreePool& pool, RoundTrees& trees);

}  // namespace tombolo::schedule
