#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "control/config/common_config.h"
#include "control/config/fields.h"
#include "control/epoch_tables.h"
#include "dataplane/edge/lane.h"
#include "dataplane/port/link_model.h"
#include "schedule/topology.h"

namespace tombolo::control {

/// One port of an edge, as its file says it.
struct EdgePortConfig {
  std::string name;
  std::string device;  ///< DPDK's: a driver with its arguments, or a PCI address.
  Ipv4Network network;
  std::uint32_t gateway = 0;  ///< 0: every neighbour is on the port's own network.
  std::uint16_t base_port = 4700;
  std::uint32_t mtu = 1500;                              ///< Of IPv4 packets.
  bool multicast = false;                                ///< Delivers by IPv4 groups where the epoch says so.
  std::optional<dataplane::LinkConfig> emulate;          ///< A WAN of our own, for what the port sends ...
  std::optional<dataplane::LinkConfig> emulate_receive;  ///< ... and for what it receives.
};

/// One neighbour of an edge.
struct EdgeLinkConfig {
  std::string name;       ///< Of the site or the island.
  Neighbour neighbour;    ///< By its number in the job's topology.
  std::uint8_t port = 0;  ///< Index in EdgeFile::ports.
  Address address;
  std::optional<std::uint64_t> mac;  ///< 48 bits; absent: asked for by ARP.
  Nanoseconds rtt_ns = kMillisecond;
  std::uint32_t window_packets = 1024;
};

enum class HugepageUse { kAuto, kRequired, kOff };

/// One training run that an edge serves: who schedules it, its islands here, and what it may use.
struct EdgeJobFile {
  std::uint16_t job = 1;
  schedule::Topology topology;
  schedule::SiteId site_id = 0;  ///< The edge's, in this topology.
  std::string controller;        ///< HOST:PORT.
  TlsFiles controller_tls;
  std::uint64_t buffers = 0;
  std::uint64_t arena_bytes = 0;      ///< 0: as much as the schedule needs.
  std::vector<EdgeLinkConfig> links;  ///< To sites, as all jobs have them, then to its islands.

  EdgePlace place() const;
  std::vector<dataplane::EdgeLink> edge_links() const;
};

/// An edge's configuration file, validated whole.
struct EdgeFile {
  std::string path;
  std::string site;
  std::uint16_t lanes = 4;
  Nanoseconds hello_interval_ns = 200 * kMillisecond;
  std::string state;         ///< A folder.
  std::string local_socket;  ///< A path; empty: none.
  std::string metrics;       ///< HOST:PORT; empty: none.
  LogSettings log;
  std::uint32_t workers = 1;
  std::vector<std::uint32_t> cores;  ///< One per worker, or empty: not pinned.
  Nanoseconds idle_sleep_ns = 50 * kMicrosecond;
  HugepageUse hugepages = HugepageUse::kAuto;
  std::uint32_t buffer_bytes = 0;
  std::uint64_t memory_limit_bytes = 0;  ///< 0: what the machine has.
  std::vector<EdgePortConfig> ports;
  std::vector<EdgeJobFile> jobs;  ///< One or more; all know the same links to sites, in the same order.

  /// Of all jobs.
  std::uint64_t buffers() const;
  /// Every neighbour once: the sites, and every job's islands.
  std::vector<EdgeLinkConfig> neighbours() const;
  /// Sites of links whose port can do native multicast, ascending, by their numbers in the first job's
  /// topology: what the edge tells its controller.
  std::vector<schedule::SiteId> multicast_sites() const;
};

/// Reads the text of an edge's file, and the topology that it names. Errors: kInvalidInput, exactly one,
/// "file:line: key: what is wrong"; kNotFound for a topology that cannot be read.
Result<EdgeFile> parse_edge_config(std::string_view text, const std::string& path);

/// Errors: kNotFound if the file cannot be read; otherwise those of parse_edge_config.
Result<EdgeFile> load_edge_config(const std::string& path);

}  // namespace tombolo::control
