#pragma once

#include <cstddef>
#include <cstdint>

#include "schedule/topology.h"

namespace tombolo::schedule {

/// A made-up WAN for tests and benchmarks, the same for the same seed: `sites` sites (1 to kMaxSites) with an
/// island each, in a few regions on a sphere; a connected, sparse core of cables between neighbours and some
/// long ones; latency from distance; capacities of links and access lines from a few classes. Its one profile
/// is "random"; an access line has the same rate both ways, each direction of a cable may differ in latency.
Topology random_topology(std::uint64_t seed, std::size_t sites);

/// random_topology under its profile.
Network random_network(std::uint64_t seed, std::size_t sites);

}  // namespace tombolo::schedule
