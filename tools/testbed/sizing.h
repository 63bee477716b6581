#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "control/epoch_tables.h"
#include "schedule/epoch_plan.h"
#include "schedule/topology.h"

namespace tombolo::testbed {

/// By site: the edge's links, those to other sites first, in the order of the network's links, then those to
/// its islands by rank. Every backend wires its edges in this order.
std::vector<control::EdgePlace> edge_places(const schedule::Network& network);

/// What every node must reserve: the most that any of some plans asks for.
struct NetworkNeeds {
  std::vector<control::EdgeNeeds> edges;    ///< By site.
  std::vector<control::EdgeNeeds> islands;  ///< By rank.
};
NetworkNeeds network_needs(std::span<const control::EdgePlace> places, std::size_t islands,
                           std::span<const schedule::EpochPlan> plans);

/// Bytes that an emulated wire's queue holds: what arrives in 50 ms at full rate, never less than a few
/// bursts.
std::uint64_t wire_queue_bytes(std::uint64_t rate_bps);

}  // namespace tombolo::testbed
