#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "dataplane/edge/lane.h"
#include "dataplane/worker/worker.h"

namespace tombolo::dataplane {

struct EdgeConfig {
  std::string site;
  std::uint16_t job = 0;
  std::uint32_t session = 0;  ///< Grows with each restart; never 0.
  std::uint16_t lane_count = 4;
  std::uint32_t workers = 1;  ///< A divisor of the lane count.
  /// Of each port; a divisor of the workers. Workers behind that get their packets by hand-over.
  std::uint32_t receive_queues = 1;
  Nanoseconds hello_interval_ns = 200 * kMillisecond;
  fold::InstructionSet instruction_set = fold::InstructionSet::kBaseline;
  std::uint64_t pool_buffers = 0;  ///< Packet buffers in the pool: what plans are checked against.
  /// Memory for contributions that wait long: what plans are checked against; 0: as much as they need.
  std::uint64_t arena_bytes = 0;
  /// Contributions within that many bytes wait in their packets: a constant but for tests and benchmarks.
  std::uint32_t held_bytes = aggregation::kHeldBytes;
  std::vector<EdgeLink> links;
};

/// Sums over all lanes and workers, for tables and metrics.
struct EdgeTotals {
  std::array<std::uint64_t, kDropReasons> drops{};
  std::uint64_t packets_in = 0;
  std::uint64_t contributions = 0;
  std::uint64_t folds = 0;
  std::uint64_t copies = 0;
  std::uint64_t payload_bytes_saved = 0;
  std::uint64_t repairs = 0;
  std::uint64_t rounds_complete = 0;
  std::uint64_t rounds_failed = 0;
  std::uint64_t handed_over = 0;
};

/// An edge: its lanes, spread over its workers, and the way in for control. Ports and the pool are the
/// caller's and outlive it. `install` and the reading functions are for one control thread; `worker(i).turn`
/// for worker i's thread.
class Edge {
 public:
  /// Errors: kInvalidInput, naming the field (no lane, workers that do not divide the lanes, a link to no
  /// port, ...), or buffers that are too small; kUnavailable when the pool is empty.
  static Result<std::unique_ptr<Edge>> create(const EdgeConfig& config, std::span<Port* const> ports,
                                              BufferPool& pool);
  ~Edge();
  Edge(const Edge&) = delete;
  Edge& operator=(const Edge&) = delete;

  std::size_t workers() const { return workers_.size(); }
  Worker& worker(std::size_t index) { return *workers_[index]; }
  const Worker& worker(std::size_t index) const { return *workers_[index]; }

  /// Makes every lane run the committed epoch from `first_round` on; the lanes take it up in their next turn.
  /// Errors: kUnavailable while can_install() does not hold; kInvalidInput, naming what is wrong with the
  /// table: another job or lane count, a link that the edge does not have, an epoch that is not newer than
  /// the last, chunks larger than the buffers.
  Status install(std::shared_ptr<const EpochTable> table, std::uint32_t first_round);

  /// Whether a further epoch may be staged: every lane has taken the last one up, and the one before it is
  /// over in every lane.
  bool can_install() const;

  /// An epoch that was handed to the lanes, and its first round.
  struct LiveEpoch {
    std::shared_ptr<const EpochTable> table;
    std::uint32_t first_round = 0;
  };
  /// The last two that were installed, newest first; without a table where there was none.
  const std::array<LiveEpoch, 2>& live_epochs() const { return live_; }

  /// The highest round that any lane has opened; nothing if none has.
  std::optional<std::uint32_t> highest_opened_round() const;

  /// A commit that a peer knows of and this edge does not; epoch 0: none.
  PeerCommit peer_commit() const;

  /// Whether every link is up in every lane.
  bool all_links_up() const;

  EdgeTotals totals() const;
  const EdgeConfig& config() const { return config_; }

 private:
  Edge(const EdgeConfig& config, std::span<Port* const> ports, BufferPool& pool, std::uint32_t buffer_bytes);
  void collect_retired();

  EdgeConfig config_;
  std::uint32_t buffer_bytes_;                                           ///< Capacity of the pool's buffers.
  std::vector<std::vector<std::unique_ptr<Transmitter>>> transmitters_;  ///< By worker and port.
  std::vector<std::unique_ptr<HandOverQueue>> hand_overs_;               ///< From worker i to j at i * n + j.
  std::vector<std::unique_ptr<InstallQueue>> installations_;
  std::vector<std::unique_ptr<InstallQueue>> retired_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::uint32_t newest_epoch_ = 0;
  std::uint32_t older_epoch_ = 0;
  std::array<LiveEpoch, 2> live_;
};

}  // namespace tombolo::dataplane
