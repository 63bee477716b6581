#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "schedule/round_model.h"
#include "schedule/routes.h"
#include "schedule/schedule.h"
#include "schedule/topology.h"

namespace tombolo::schedule {

/// What an exchange puts on one resource: `updates` updates at the exchange's rate, from `offset_s` after its
/// start on, for as long as it sends and `spread_s` longer. Resources are numbered as in RoundModel.
struct Stream {
  std::uint32_t resource = 0;
  double offset_s = 0;
  double updates = 0;
  double spread_s =
      0;  ///< 0 where it is known when they pass; else they may pass at any time of the exchange.
};

/// One clique's exchange on a network, without its rate: what it loads, where and how much later.
struct Exchange {
  Clique members;
  CliqueMode mode{};
  double latency_s = 0;              ///< From the last bit sent to the last result; the clique's L.
  std::vector<Stream> streams;       ///< By resource, then offset.
  std::vector<ResourceLoad> totals;  ///< What the round model says: the sums of the streams' updates.
};

/// The exchange of a clique of at least two islands in a mode that it can do. Where all sites and links can
/// do the same and the mode is direct or tree, each stream is followed on its way: it reaches a link as much
/// later as the way there takes. Otherwise each resource is taken for the whole exchange, to be safe.
/// Errors: kInvalidInput for islands that the network does not join, or a tree without a root.
Result<Exchange> make_exchange(const RoundModel& rounds, const Clique& members, CliqueMode mode);

}  // namespace tombolo::schedule
