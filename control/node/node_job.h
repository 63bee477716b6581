#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "control/config/edge_config.h"
#include "control/installed_edge.h"
#include "control/observe/edge_sample.h"
#include "control/observe/log_sink.h"
#include "control/rpc/agent_service.h"
#include "control/store/state_folder.h"
#include "dataplane/edge/edge_job.h"

namespace tombolo::control {

/// One job of an edge's process: its agent, with its own controller and its own memory on disk, so that one
/// job's controller may be away, change epochs or refuse them without the others noticing.
class NodeJob {
 public:
  /// The file outlives it, and the log's events get the job's number.
  NodeJob(const EdgeJobFile& file, LogSink log);

  /// Opens the job's part of the edge's state, which is locked for as long as this lives. Errors: those of
  /// StateFolder::open.
  Status open_state(const std::string& folder);

  /// Puts the stored epoch back into force and dials the controller. `job` outlives this. Errors: those of
  /// AgentService::create.
  Status start(dataplane::EdgeJob& job, const EdgeFile& edge, std::uint32_t session, bool insecure,
               InstalledEdge::SetGroups set_groups);

  void poll(Nanoseconds now_ns) { agent_->poll(now_ns); }
  /// Tells the log what has changed since the last call.
  void log_changes();

  const AgentService& agent() const { return *agent_; }
  /// Adds what the agent knows.
  void complete(JobSample& sample) const;

 private:
  std::vector<LinkState> link_states() const;
  void log_epoch();

  const EdgeJobFile& file_;
  const LogSink log_;
  std::unique_ptr<StateFolder> state_;
  dataplane::EdgeJob* job_ = nullptr;
  std::unique_ptr<InstalledEdge> installed_;
  std::unique_ptr<AgentService> agent_;
  // What log_changes() said last.
  std::vector<bool> links_were_up_;
  std::uint32_t logged_epoch_ = 0;
  std::uint64_t logged_failed_ = 0;
};

}  // namespace tombolo::control
