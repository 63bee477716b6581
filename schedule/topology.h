#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schedule/epoch_plan.h"

namespace tombolo::schedule {

inline constexpr std::size_t kMaxSites = 1000;
inline constexpr std::size_t kMaxIslands = 1024;

struct Site {
  std::string id;
  std::string city;               ///< For people; may be empty.
  std::optional<double> lat_deg;  ///< Both or neither.
  std::optional<double> lon_deg;
  bool replicates = true;  ///< Whether its edge can make copies of its islands' packets,
  bool aggregates = true;  ///< and fold what comes in.
};

/// A full-duplex link between two sites. Latencies are of one direction; the link's own rates, if it has any.
struct Link {
  SiteId a = 0;
  SiteId b = 0;
  std::uint64_t one_way_ns_ab = 0;
  std::uint64_t one_way_ns_ba = 0;
  std::optional<double> gbps_ab;  ///< Both or neither.
  std::optional<double> gbps_ba;
  bool multicast = true;  ///< Both directions.
};

/// An island's place in the list is its rank.
struct Island {
  std::string id;
  SiteId site = 0;
};

/// One assumption about capacities. A link takes the first that exists of: the profile's figure for this
/// link, the link's own `gbps`, the profile's `core_gbps`. An island's access takes the profile's figure for
/// its site, else `egress_gbps` and `ingress_gbps`.
struct Profile {
  std::string name;
  std::optional<double> core_gbps;
  std::optional<double> egress_gbps;
  std::optional<double> ingress_gbps;
  std::map<std::size_t, double> core_gbps_by_link;  ///< By index in Topology::links; both directions.
  std::map<SiteId, double> access_gbps_by_site;     ///< Egress and ingress alike.
};

/// A topology file, validated whole: connected, ids unique, every profile complete.
struct Topology {
  std::string name;
  std::vector<Site> sites;
  std::vector<Link> links;
  std::vector<Island> islands;
  std::vector<Profile> profiles;
  bool explicit_trees = true;  ///< Whether the network lets us choose the trees of packets.
};

/// One direction of a link, as a profile makes it.
struct DirectedLink {
  SiteId from = 0;
  SiteId to = 0;
  std::uint64_t one_way_ns = 0;
  std::uint64_t rtt_ns = 0;
  std::uint64_t capacity_bps = 0;
  bool multicast = true;  ///< Whether one copy on it may serve all that is behind it.
};

/// A topology under one profile and scale: what routes, times and plans are computed from.
struct Network {
  std::string name;
  std::vector<std::string> site_names;     ///< By SiteId.
  std::vector<Island> islands;             ///< By rank. Each has an access link of its own.
  std::vector<std::uint64_t> egress_bps;   ///< By SiteId: of each island there; 0 at a site without capacity.
  std::vector<std::uint64_t> ingress_bps;  ///< By SiteId, likewise.
  std::vector<DirectedLink> links;         ///< 2 i is Topology::links[i] from a to b, 2 i + 1 from b to a.
  /// What sites cannot do, whatever is asked of them; empty: nothing is denied.
  std::vector<bool> site_replicates{};  ///< By SiteId.
  std::vector<bool> site_aggregates{};  ///< By SiteId.
  bool explicit_trees = true;           ///< Whether we may choose trees; else packets go the shortest way.
};

/// Reads the text of a topology file; `file_name` is only for messages. Any bytes may be given.
/// Errors: kInvalidInput, exactly one, "file:line: key: what is wrong".
Result<Topology> parse_topology(std::string_view text, std::string_view file_name);

/// Errors: kNotFound if the file cannot be read; otherwise those of parse_topology.
Result<Topology> load_topology(const std::string& path);

/// Capacities of `profile_name`, multiplied by `scale` (from 1e-9 to 1000).
/// Errors: kInvalidInput for an unknown profile (the known ones are named), a scale out of range or a
/// capacity below 1 bit/s.
Result<Network> resolve(const Topology& topology, std::string_view profile_name, double scale = 1.0);

/// Leaves that share (above 0, at most 1) of every link between sites, at least 1 bit/s: what one of several
/// jobs may use. Access links are an island's own, and stay.
void take_share(Network& network, double share);

}  // namespace tombolo::schedule
