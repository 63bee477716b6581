#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "schedule/round_model.h"
#include "schedule/schedule.h"

namespace tombolo::schedule {

struct PackOptions {
  /// How many linear programmes may be solved: a limit that gives the same answer on every machine.
  std::size_t max_programmes = 2000;
};

/// What a round takes by the trees that are chosen for it.
struct PackedTime {
  double shortest_s = 0;  ///< Along shortest routes.
  double packed_s = 0;    ///< With these trees, one for each member; never above shortest_s.
  /// No trees are quicker, even if updates are split and each part goes by a tree of its own, paced for that
  /// tree's latency.
  double bound_s = 0;
  bool proven = false;  ///< No other choice of one tree for each member is quicker.
};

struct PackedRound {
  Round round;  ///< Has trees where shortest routes are slower, else none.
  PackedTime time;
};

/// Chooses a tree for every member of the cliques of mode direct, so that the round's time is least: latency
/// and load together. Modes that the round leaves open are those that are quickest along shortest routes;
/// trees that it has are where the search begins. By column generation: a linear programme (CLP) for shares
/// of trees, prices of links from its dual, trees of least price for each latency by dynamic programming;
/// then branch and bound over "this member uses this link". Exact in this model, where `proven`: with
/// multicast for cliques of up to CliquePricer::kMostTerminals sites. Without multicast a member's paths form
/// one tree, which the bound does not ask for. Errors: those of RoundModel::time; kNotSupported, by name,
/// where the network does not let us choose or its sites and links differ in what they can do.
Result<PackedRound> pack_round(const RoundModel& model, const Round& round, double update_bytes,
                               const PackOptions& options = {});

/// The same for each round of a schedule of the form barrier, in place. Errors: those of pack_round, with the
/// round's number; the schedule is then as it was.
Result<std::vector<PackedTime>> pack_schedule(const RoundModel& model, double update_bytes,
                                              Schedule& schedule, const PackOptions& options = {});

}  // namespace tombolo::schedule
