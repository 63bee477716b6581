#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "schedule/optimize/problem.h"
#include "schedule/schedule.h"

namespace tombolo::schedule {

/// What is out of service. A lost site has lost its links and its islands.
struct Losses {
  std::vector<SiteId> sites;
  std::vector<LostLink> links;
};

/// What is left: the largest part of the network that is still joined.
struct Remainder {
  Network network;            ///< All sites; without the links and islands that are lost or cut off.
  Capabilities capabilities;  ///< Its list by link as short as the network's.
  std::vector<Rank> ranks;    ///< By rank in `network`: the rank in the whole network.
};

/// Errors: kInvalidInput for a site that does not exist.
Result<Remainder> without(const Network& network, const Capabilities& capabilities, const Losses& losses);

struct ReoptimizeOptions {
  double tolerance = 0.05;  ///< How much worse than afresh is good enough, for the sake of fewer changes.
  std::uint64_t seed = 1;
  std::size_t max_rounds = 8;
  std::uint64_t max_cycles = 20'000;  ///< Cycles measured, afresh and again for the changes: well under 1 s.
};

/// The schedule to go on with. Ranks are those of the whole network; D is over the islands that are left.
struct Reoptimized {
  Schedule schedule;
  std::vector<Rank> lost;  ///< Islands that are lost or cut off, ascending.
  double disagreement_s = 0;
  double unchanged_disagreement_s = 0;  ///< Of the running schedule, lost islands taken out; may be infinite.
  double fresh_disagreement_s = 0;      ///< Of the best that was found with no regard to what runs.
  std::size_t cliques = 0;
  /// Cliques that the running schedule, lost islands taken out, does not have, or of its cliques those that
  /// are gone, whichever are more.
  std::size_t changed_cliques = 0;
};

/// After a loss: the running schedule without the lost islands, and then one change at a time, that which
/// gains most per clique changed, until D is within `tolerance` of the best found afresh. If that is not
/// reached it gives the fresh schedule.
/// Errors: those of `without` and of Problem::check for what is left; kNotSupported above 64 islands.
Result<Reoptimized> reoptimize(const Network& network, const Capabilities& capabilities, double update_bytes,
                               const Schedule& running, const Losses& losses,
                               const ReoptimizeOptions& options = {});

}  // namespace tombolo::schedule
