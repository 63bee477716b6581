#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "control/epoch_tables.h"
#include "dataplane/edge/edge.h"
#include "dataplane/port/inproc_port.h"
#include "island/endpoint.h"
#include "protocol/memory_pool.h"
#include "schedule/compile.h"
#include "schedule/topology.h"
#include "tools/testbed/experiment.h"

namespace tombolo::testbed {

/// What wires do to packets beyond delay, rate and queue; chances are per packet, both directions alike.
struct WireFaults {
  double loss = 0;
  Nanoseconds jitter_ns = 0;
  double reorder = 0;
  double duplicate = 0;
  double corrupt = 0;
};

struct NetworkOptions {
  std::uint16_t job = kTestbedJob;
  /// Jobs beside each other, numbered from `job` on: each with islands and access links of its own at the
  /// same sites, and with memory for all of the plans.
  std::uint32_t jobs = 1;
  std::uint16_t lane_count = 4;
  std::uint32_t workers = 1;         ///< Of each edge.
  std::uint32_t receive_queues = 0;  ///< Of each edge's ports; 0: as many as workers.
  std::uint64_t seed = 1;
  std::vector<LinkLoss> losses;
  WireFaults site_faults;    ///< Of every link between sites, beside its own loss.
  WireFaults access_faults;  ///< Of every island's access link.
  Nanoseconds hello_interval_ns = 200 * kMillisecond;
  /// Memory and windows are reserved for the largest needs of these plans.
  std::vector<schedule::EpochPlan> plans;
  /// Of what a job needs for its windows beside the caches of its links, its quota has that share.
  double quota = 1.0;
};

/// One site: its edge with its ports and pool.
struct EdgeNode {
  std::string site;
  control::EdgePlace place;  ///< The same for every job, each with its own islands.
  control::EdgeNeeds needs;  ///< The most that any plan asks for, of one job.
  MemoryPool* pool = nullptr;
  std::vector<dataplane::InprocPort*>
      ports;  ///< By link of the first job, then those of other jobs' islands.
  std::unique_ptr<dataplane::Edge> edge;
};

/// One island, behind its access link.
struct IslandNode {
  std::string id;
  std::uint32_t job = 0;  ///< Its index, not its number.
  schedule::Rank rank = 0;
  control::EdgeNeeds needs;  ///< The most that any plan asks for.
  MemoryPool* pool = nullptr;
  dataplane::InprocPort* port = nullptr;       ///< The island's end.
  dataplane::InprocPort* edge_port = nullptr;  ///< The edge's end.
  std::unique_ptr<island::Endpoint> endpoint;
};

/// A whole network in one process: real edges and real endpoints, joined by wires that model the WAN. Who
/// calls their turns, and in whose time, is the driver's affair.
class InprocTestbed {
 public:
  /// Errors: kInvalidInput (an option), kUnavailable (memory).
  static Result<std::unique_ptr<InprocTestbed>> create(const schedule::Network& network,
                                                       const NetworkOptions& options);

  std::vector<EdgeNode>& edges() { return edges_; }        ///< By site.
  std::vector<IslandNode>& islands() { return islands_; }  ///< By job, then by rank.
  /// One job's, by rank.
  std::span<IslandNode> islands(std::uint32_t job) {
    return std::span(islands_).subspan(job * network_.islands.size(), network_.islands.size());
  }
  const schedule::Network& network() const { return network_; }
  const NetworkOptions& options() const { return options_; }

  /// Every edge and island has every neighbour up.
  bool connected() const;

 private:
  InprocTestbed(const schedule::Network& network, const NetworkOptions& options)
      : network_(network), options_(options), wires_(options.seed) {}
  Status make_pools();
  Status wire_sites();
  Status wire_islands();
  Status make_nodes();
  dataplane::EdgeJobConfig job_config(const EdgeNode& node, std::uint32_t job) const;

  schedule::Network network_;
  NetworkOptions options_;
  // Members are destroyed in reverse order: edges and endpoints before the wires, wires before the pools.
  std::vector<std::unique_ptr<MemoryPool>> pools_;
  dataplane::InprocNetwork wires_;
  std::vector<EdgeNode> edges_;
  std::vector<IslandNode> islands_;
};

}  // namespace tombolo::testbed
