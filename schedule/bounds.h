#pragma once

#include <vector>

#include "base/result.h"
#include "schedule/round_model.h"

namespace tombolo::schedule {

/// A value that no schedule of a class can beat, and what proves it. BOUNDS.md has the proofs.
struct DisagreementBound {
  double seconds = 0;
  /// By rank from 1 on: the pairs of a least spanning tree, and how long a round that joins each must take.
  struct Edge {
    Rank a = 0;
    Rank b = 0;
    double seconds = 0;
  };
  std::vector<Edge> tree;
};

/// The least time of a round in which two islands are in one clique, whatever else the round holds.
/// `any_mode` false: cliques exchange directly; the pair's latency and the narrowest resource on its routes.
/// true: cliques may also be sharded or trees, which may avoid the pair's routes; latency and access alone.
double pair_seconds(const Network& network, const Routes& routes, Rank a, Rank b, double update_bytes,
                    bool any_mode);

/// D >= 3 / (2 n) x the least spanning tree of pair_seconds, for every schedule with barriers: of any length,
/// random ones and those with rests included. 0 for one island.
/// Errors: kInvalidInput for a size that is not above 0, or islands that the network does not join.
Result<DisagreementBound> disagreement_bound(const Network& network, const Routes& routes,
                                             double update_bytes, bool any_mode);

/// Whether these capabilities allow other modes than direct: which bound holds.
bool allows_any_mode(const Capabilities& capabilities);

/// How far a value may be from the best: (disagreement - bound) / disagreement.
double optimality_gap(double disagreement_s, double bound_s);

/// The largest canonical correlation of two rounds' partitions: ||W_2 W_1 - J||. 0 if and only if the two
/// rounds average exactly: every block of one meets every block of the other in |A| |B| / n islands.
double two_round_correlation(const Round& first, const Round& second, std::size_t islands);

}  // namespace tombolo::schedule
