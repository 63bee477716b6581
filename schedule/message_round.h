#pragma once

#include <cstdint>
#include <vector>

#include "schedule/epoch_plan.h"

namespace tombolo::schedule {

/// Data that one island sends to another in a round that is not made of cliques: gossip, rings, servers.
struct Message {
  Rank from = 0;
  Rank to = 0;
  double share = 1;           ///< Its size over that of an update, above 0.
  double weight = 0;          ///< What it counts in the receiver's new value; see mixing_matrix.
  std::uint32_t payload = 0;  ///< A source's messages of equal payload and share are copies of the same data.
};

/// Everything that is sent at once, from the round's start. Two islands may send each other several messages.
struct MessageRound {
  std::vector<Message> messages;
  /// Whether what one island receives may be summed at its site on the way, where the site aggregates: then
  /// its ingress carries the largest message instead of all. Not so for baselines whose papers know no such
  /// network.
  bool foldable = false;
};

}  // namespace tombolo::schedule
