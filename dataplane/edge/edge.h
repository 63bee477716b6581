#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "dataplane/edge/edge_job.h"
#include "dataplane/worker/epoch_door.h"
#include "dataplane/worker/worker.h"

namespace tombolo::dataplane {

struct EdgeConfig {
  std::string site;
  std::uint32_t session = 0;  ///< Grows with each restart; never 0.
  std::uint16_t lane_count = 4;
  std::uint32_t workers = 1;  ///< A divisor of the lane count.
  /// Of each port; a divisor of the workers. Workers behind that get their packets by hand-over.
  std::uint32_t receive_queues = 1;
  Nanoseconds hello_interval_ns = 200 * kMillisecond;
  fold::InstructionSet instruction_set = fold::InstructionSet::kBaseline;
  /// Contributions within that many bytes wait in their packets: a constant but for tests and benchmarks.
  std::uint32_t held_bytes = aggregation::kHeldBytes;
  std::vector<EdgeJobConfig> jobs = std::vector<EdgeJobConfig>(1);  ///< One or more.
};

/// An edge: its jobs, with a lane of each number for each of them, and the workers over which those are
/// spread. Ports and the pool are the caller's and outlive it. `job(i)` and the reading functions are for one
/// control thread; `worker(i).turn` for worker i's thread.
class Edge {
 public:
  /// Most jobs of one edge.
  static constexpr std::size_t kMaxJobs = 16;

  /// Errors: kInvalidInput, naming the field (no lane, workers that do not divide the lanes, a link to no
  /// port, a job given twice, ...), or buffers that are too small; kUnavailable when the pool is empty.
  static Result<std::unique_ptr<Edge>> create(const EdgeConfig& config, std::span<Port* const> ports,
                                              BufferPool& pool);
  ~Edge();
  Edge(const Edge&) = delete;
  Edge& operator=(const Edge&) = delete;

  std::size_t workers() const { return workers_.size(); }
  Worker& worker(std::size_t index) { return *workers_[index]; }
  const Worker& worker(std::size_t index) const { return *workers_[index]; }

  /// In the order of the configuration.
  std::size_t jobs() const { return jobs_.size(); }
  EdgeJob& job(std::size_t index = 0) { return *jobs_[index]; }
  const EdgeJob& job(std::size_t index = 0) const { return *jobs_[index]; }

  /// Whether every link of every job is up in every lane.
  bool all_links_up() const;

  /// Of all jobs, and of what no lane saw.
  EdgeTotals totals() const;
  const EdgeConfig& config() const { return config_; }

 private:
  Edge(const EdgeConfig& config, std::span<Port* const> ports, BufferPool& pool, std::uint32_t buffer_bytes);
  void make_jobs(std::uint32_t buffer_bytes);

  EdgeConfig config_;
  std::vector<std::vector<std::unique_ptr<Transmitter>>> transmitters_;  ///< By worker and port.
  std::vector<std::unique_ptr<HandOverQueue>> hand_overs_;               ///< From worker i to j at i * n + j.
  EpochDoor door_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<EdgeJob>> jobs_;
};

}  // namespace tombolo::dataplane
