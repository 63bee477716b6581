#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/testbed/experiment.h"
#include "tools/testbed/netns/namespaces.h"
#include "tools/testbed/sizing.h"

namespace tombolo::testbed {

/// How a run is laid out on the machine: names, addresses, folders, and what every node must reserve. All
/// that is written for the programs to read comes from this.
struct Layout {
  RunConfig config;
  std::string profile;
  std::string bytes;  ///< Of an update before scaling, as on the command line.
  double scale = 1;
  bool jumbo = true;
  std::uint32_t hello_interval_ms = 200;
  bool native_multicast = false;  ///< Links between edges deliver by IPv4 groups.
  bool builtin_emulation = true;  ///< In the edges' ports; otherwise netem does it.
  std::string run_id;
  std::string folder;                      ///< The run's, absolute.
  std::string socket_folder;               ///< Apart, because a socket's path may only have 107 bytes.
  std::vector<control::EdgePlace> places;  ///< By site.
  NetworkNeeds needs;

  std::string controller_namespace() const;
  std::string edge_namespace(schedule::SiteId site) const;
  std::string island_namespace(schedule::Rank rank) const;
  std::string edge_socket(schedule::SiteId site) const;
  std::string controller_socket() const;
  std::string edge_file(schedule::SiteId site) const;
  std::string controller_file() const;
  std::string log_file(const std::string& node) const;
  std::string edge_management(schedule::SiteId site) const;
  std::string island_management(schedule::Rank rank) const;
  std::string controller_management() const;

  const std::string& site(schedule::SiteId id) const { return config.network.site_names[id]; }
  const schedule::Island& island(schedule::Rank rank) const { return config.network.islands[rank]; }
};

/// Fills in places and needs. Errors: those of make_plan and check_addresses.
Status complete_layout(Layout& layout);

/// Interfaces: `link3` of topology link 3 at both of its edges, `access7` of island 7 at its edge, `edge` at
/// the island, `manage` at every node.
std::string link_interface(std::size_t link);
std::string access_interface(schedule::Rank rank);
inline constexpr const char* kIslandInterface = "edge";
inline constexpr const char* kManagementInterface = "manage";

/// The position in Network::links / 2 of the link that joins two sites.
std::size_t link_between(const schedule::Network& network, schedule::SiteId a, schedule::SiteId b);
/// The direction from one site to another.
const schedule::DirectedLink& direction(const schedule::Network& network, schedule::SiteId from,
                                        schedule::SiteId to);

NamespacePlan namespace_plan(const Layout& layout);
std::vector<NetemRule> netem_rules(const Layout& layout);

}  // namespace tombolo::testbed
