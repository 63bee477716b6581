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
#include "dataplane/worker/epoch_door.h"

namespace tombolo::dataplane {

/// One training run at an edge. What it may use is its own, so no other job can take it: links with their
/// windows, packet buffers, an arena.
struct EdgeJobConfig {
  std::uint16_t job = 0;
  std::uint64_t pool_buffers = 0;  ///< Packet buffers of the edge's pool: what plans are checked against.
  /// Memory for contributions that wait long: what plans are checked against; 0: as much as they need.
  std::uint64_t arena_bytes = 0;
  std::vector<EdgeLink> links;  ///< To sites, which other jobs may use as well, and to the job's islands.
};

/// Sums over lanes and workers, for tables and metrics.
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

  void add(const EdgeTotals& other);
};

/// What all jobs of an edge are run with.
struct EdgeJobSetting {
  std::string site;
  std::uint16_t lane_count = 0;
  std::uint32_t buffer_bytes = 0;  ///< Capacity of the pool's buffers.
  FoldOptions fold;
};

/// One job at an edge, as control sees it: the way in for epochs, and what its lanes have counted. The lanes
/// are the workers'. For one control thread.
class EdgeJob {
 public:
  /// `lanes` by their numbers. They and the door, which is shared with the edge's other jobs, outlive it.
  EdgeJob(EdgeJobConfig config, const EdgeJobSetting& setting, std::vector<Lane*> lanes, EpochDoor& door);

  /// Makes every lane run the committed epoch from `first_round` on; the lanes take it up in their next turn.
  /// Errors: kUnavailable while can_install() does not hold; kInvalidInput, naming what is wrong with the
  /// table: another job or lane count, a link that the job does not have, an epoch that is not newer than
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

  /// Whether every link is up in every lane, or that link.
  bool all_links_up() const;
  bool link_up(std::size_t link) const;

  /// Of its lanes; what workers count before a lane sees a packet is the edge's.
  EdgeTotals totals() const;
  const EdgeJobConfig& config() const { return config_; }
  std::uint16_t lane_count() const { return setting_.lane_count; }
  std::span<const Lane* const> lanes() const { return {lanes_.data(), lanes_.size()}; }

 private:
  EdgeJobConfig config_;
  EdgeJobSetting setting_;
  std::vector<Lane*> lanes_;
  EpochDoor& door_;
  std::uint32_t newest_epoch_ = 0;
  std::uint32_t older_epoch_ = 0;
  std::array<LiveEpoch, 2> live_;
};

}  // namespace tombolo::dataplane
