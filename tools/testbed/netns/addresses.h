#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "schedule/topology.h"

namespace tombolo::testbed {

inline constexpr std::uint16_t kBasePort = 4700;
inline constexpr std::uint16_t kControllerPort = 4600;
inline constexpr std::uint16_t kEdgeMetricsPort = 9464;
inline constexpr std::uint16_t kIslandMetricsPort = 9465;
inline constexpr std::uint16_t kControllerMetricsPort = 9463;
inline constexpr unsigned kLinkPrefix = 30;
inline constexpr unsigned kManagementPrefix = 16;

/// The two ends of a link: its first and its second site, or an edge and its island.
struct EndAddresses {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
};

/// Of Topology::links[index]: a /30 in 10.1.0.0/16.
EndAddresses link_addresses(std::size_t index);
/// Of an island's access link: a /30 in 10.2.0.0/16.
EndAddresses access_addresses(schedule::Rank rank);
/// In 10.99.0.0/16. Node 0 is the controller, then the edges by site, then the islands by rank.
std::uint32_t management_address(std::size_t node);

/// Errors: kInvalidInput for a topology with more links or nodes than there are addresses.
Status check_addresses(const schedule::Network& network);

/// "10.1.0.2".
std::string ipv4_text(std::uint32_t address);

}  // namespace tombolo::testbed
