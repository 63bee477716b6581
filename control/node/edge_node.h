#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "aggregation/fold/kernel.h"
#include "base/clock.h"
#include "base/result.h"
#include "control/config/edge_config.h"
#include "control/node/edge_memory.h"
#include "control/node/node_job.h"
#include "control/observe/edge_metrics.h"
#include "control/observe/edge_sample.h"
#include "control/observe/log_sink.h"
#include "control/observe/metrics_server.h"
#include "control/rpc/local_server.h"
#include "control/store/state_folder.h"
#include "dataplane/edge/edge.h"
#include "dataplane/port/dpdk/dpdk_port.h"
#include "dataplane/port/dpdk/mbuf_pool.h"
#include "dataplane/worker/runner.h"

namespace tombolo::control {

/// What a `tombolo-edge` process is: an edge with its ports and pool, its workers' threads, its jobs' agents,
/// its local socket and its metrics. One per process, because DPDK's environment is.
class EdgeNode {
 public:
  /// Starts everything; the workers run when it returns. `insecure`: plain text to the controller is allowed.
  /// Errors: what a part refuses, in the order memory, state, DPDK, ports, controller, socket, metrics;
  /// named, with the command that mends it where there is one.
  static Result<std::unique_ptr<EdgeNode>> start(const EdgeFile& file, bool insecure, LogSink log);
  ~EdgeNode();
  EdgeNode(const EdgeNode&) = delete;
  EdgeNode& operator=(const EdgeNode&) = delete;

  /// The control thread's loop, until `stop`.
  void run(const std::atomic<bool>& stop);

 private:
  EdgeNode(const EdgeFile& file, LogSink log)
      : file_(file), memory_(edge_memory(file)), log_(std::move(log)) {}
  Status open_state();
  Status start_dpdk();
  Status open_ports();
  Status make_edge();
  Status start_jobs(bool insecure);
  Status start_workers();
  Status open_doors();

  void set_groups(const EdgeLinkConfig& link, dataplane::LinkGroups groups);
  EdgeSample sample() const;
  PortSample sample_port(std::size_t port) const;
  Result<ProbeResult> probe(const std::string& link);
  Result<dataplane::ProbeResult> probe_port(dataplane::DpdkPort& port,
                                            const dataplane::ProbeRequest& request);

  const EdgeFile file_;
  const EdgeMemory memory_;
  const LogSink log_;
  MonotonicClock clock_;
  Nanoseconds started_ns_ = 0;
  std::uint32_t session_ = 0;
  fold::InstructionSet instruction_set_ = fold::InstructionSet::kBaseline;
  std::vector<JobNames> names_;  ///< By job.
  // Members are destroyed in reverse order: doors first, then workers, jobs, edge, ports, pool.
  std::unique_ptr<StateFolder> state_;
  std::unique_ptr<dataplane::MbufPool> pool_;
  std::vector<std::unique_ptr<dataplane::DpdkPort>> ports_;
  std::unique_ptr<dataplane::Edge> edge_;
  std::vector<std::unique_ptr<NodeJob>> jobs_;       ///< In the order of the file, as the edge's.
  std::map<Address, dataplane::LinkGroups> groups_;  ///< By neighbour: what its port has been told.
  std::vector<std::unique_ptr<dataplane::Runner>> runners_;
  std::mutex probe_mutex_;  ///< One probe at a time.
  std::atomic<bool> stopping_{false};
  Latest<EdgeSample> latest_;
  std::shared_ptr<EdgeMetrics> collector_;
  std::unique_ptr<LocalServer> local_;
  std::unique_ptr<MetricsServer> metrics_;
};

}  // namespace tombolo::control
