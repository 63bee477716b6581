#include "dataplane/edge/edge_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace tombolo::dataplane {
namespace {

/// Whether the job can run the epoch: it is for this job, and names no link that the job does not have. The
/// forwarding table's own faults are found where it is built.
// lint: set-up, runs in control before a lane sees the epoch
Status check_table(const EpochTable& table, const EdgeJobConfig& config, const EdgeJobSetting& setting) {
  if (table.epoch == 0) return invalid_input("0 is the number of no epoch");
  if (table.job != config.job)
    return invalid_input(fmt::format("it is for job {}, and comes to job {}", table.job, config.job));
  if (table.lane_count != setting.lane_count)
    return invalid_input(fmt::format("it has {} lanes, the edge {}", table.lane_count, setting.lane_count));
  for (const LocalIsland& island : table.islands)
    if (island.link >= config.links.size() || !config.links[island.link].is_island)
      return invalid_input(
          fmt::format("the island of rank {} is on link {}, which no island has", island.rank, island.link));
  for (std::size_t tree = 0; tree < table.forwarding.size(); ++tree) {
    const multicast::Branch* const branch = table.forwarding.find(static_cast<std::uint16_t>(tree));
    if (branch == nullptr) continue;
    const auto links_named = static_cast<std::size_t>(std::bit_width(branch->child_links));
    if (std::max<std::size_t>(links_named, branch->parent_link + 1U) > config.links.size())
      return invalid_input(fmt::format("tree {} uses a link that the edge does not have", tree));
  }
  if (kHeaderBytes + table.max_payload_bytes > setting.buffer_bytes)
    return invalid_input(
        fmt::format("chunks of {} bytes in buffers of {}", table.max_payload_bytes, setting.buffer_bytes));
  return ok_status();
}

}  // namespace

void EdgeTotals::add(const EdgeTotals& other) {
  for (std::size_t i = 0; i < kDropReasons; ++i) drops[i] += other.drops[i];
  packets_in += other.packets_in;
  contributions += other.contributions;
  folds += other.folds;
  copies += other.copies;
  payload_bytes_saved += other.payload_bytes_saved;
  repairs += other.repairs;
  rounds_complete += other.rounds_complete;
  rounds_failed += other.rounds_failed;
  handed_over += other.handed_over;
}

EdgeJob::EdgeJob(EdgeJobConfig config, const EdgeJobSetting& setting, std::vector<Lane*> lanes,
                 EpochDoor& door)
    : config_(std::move(config)), setting_(setting), lanes_(std::move(lanes)), door_(door) {}

// lint: control's thread, not a worker's
Status EdgeJob::install(std::shared_ptr<const EpochTable> table, std::uint32_t first_round) {
  door_.collect();
  const std::string where = fmt::format("edge {}: epoch {}", setting_.site, table->epoch);
  if (auto checked = check_table(*table, config_, setting_); !checked)
    return std::move(checked).error().within(where);
  if (table->epoch <= newest_epoch_)
    return invalid_input(fmt::format("{}: epoch {} is as new or newer", where, newest_epoch_));
  if (!can_install())
    return Error{ErrorCode::kUnavailable,
                 fmt::format("{}: epoch {} is not taken up yet, or {} still has rounds open", where,
                             newest_epoch_, older_epoch_)};
  std::vector<std::unique_ptr<LaneEpoch>> epochs;
  for (std::uint16_t lane = 0; lane < lanes_.size(); ++lane) {
    auto epoch = LaneEpoch::create(table, first_round, lane, setting_.fold);
    if (!epoch) return std::move(epoch).error().within(where);
    epochs.push_back(std::move(epoch).value());
  }
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) door_.send(*lanes_[lane], std::move(epochs[lane]));
  older_epoch_ = newest_epoch_;
  newest_epoch_ = table->epoch;
  live_[1] = std::move(live_[0]);
  live_[0] = {std::move(table), first_round};
  return ok_status();
}

bool EdgeJob::can_install() const {
  return std::all_of(lanes_.begin(), lanes_.end(), [this](const Lane* lane) {
    const LaneCounters& counters = lane->counters();
    if (counters.newest_epoch.get() != newest_epoch_) return false;  // The last one is not taken up yet.
    return older_epoch_ == 0 || counters.drained_epoch.get() == older_epoch_;
  });
}

std::optional<std::uint32_t> EdgeJob::highest_opened_round() const {
  std::uint64_t highest = 0;
  for (const Lane* const lane : lanes_) highest = std::max(highest, lane->counters().highest_opened.get());
  if (highest == 0) return std::nullopt;
  return static_cast<std::uint32_t>(highest - 1);
}

PeerCommit EdgeJob::peer_commit() const {
  PeerCommit newest;
  for (const Lane* const lane : lanes_)
    if (const PeerCommit heard = lane->peer_commit(); heard.epoch > newest.epoch) newest = heard;
  return newest.epoch > newest_epoch_ ? newest : PeerCommit{};
}

bool EdgeJob::all_links_up() const {
  return std::all_of(lanes_.begin(), lanes_.end(), [this](const Lane* lane) {
    return lane->counters().links_up.get() == config_.links.size();
  });
}

bool EdgeJob::link_up(std::size_t link) const {
  return std::all_of(lanes_.begin(), lanes_.end(),
                     [link](const Lane* lane) { return lane->peer_counters(link).up.get() != 0; });
}

EdgeTotals EdgeJob::totals() const {
  EdgeTotals totals;
  for (const Lane* const lane : lanes_) {
    const LaneCounters& counters = lane->counters();
    for (std::size_t i = 0; i < kDropReasons; ++i)
      totals.drops[i] += counters.drops.get(static_cast<DropReason>(i));
    totals.packets_in += counters.packets_in.get();
    totals.contributions += counters.contributions.get();
    totals.folds += counters.folds.get();
    totals.copies += lane->replication().copies.get();
    totals.payload_bytes_saved += lane->replication().payload_bytes_saved.get();
    totals.repairs += counters.repairs_sent.get();
    for (std::size_t i = 0; i < kRoundOutcomes; ++i) {
      const bool complete = static_cast<wire::RoundOutcome>(i) == wire::RoundOutcome::kComplete;
      (complete ? totals.rounds_complete : totals.rounds_failed) += counters.rounds_ended[i].get();
    }
  }
  return totals;
}

}  // namespace tombolo::dataplane
