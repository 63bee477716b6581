#include "dataplane/edge/edge.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "protocol/wire/config.h"
#include "protocol/wire/feedback.h"

namespace tombolo::dataplane {
namespace {

constexpr std::size_t kHandOverPackets = 1024;
/// Installations on the way to one worker: two live epochs for each of its lanes, and room to spare.
constexpr std::size_t kInstallationsPerLane = 4;
constexpr std::uint32_t kMaxLanes = 256;
constexpr std::uint32_t kPorts = 65536;
/// The largest body that an edge makes itself.
constexpr std::uint32_t kLeastPayload = std::max(wire::kMaxFeedbackBytes, wire::kMaxConfigBytes);

// lint: set-up, runs before the first packet
Status check(const EdgeConfig& config, std::size_t ports) {
  if (config.session == 0) return invalid_input("session: must not be 0");
  if (config.lane_count == 0 || config.lane_count > kMaxLanes)
    return invalid_input(fmt::format("lane_count: {} is not in 1..{}", config.lane_count, kMaxLanes));
  if (config.workers == 0 || config.lane_count % config.workers != 0)
    return invalid_input(
        fmt::format("workers: {} does not divide {} lanes", config.workers, config.lane_count));
  // Then a packet is handed over at most once, and to a worker behind the one that received it.
  if (config.receive_queues == 0 || config.workers % config.receive_queues != 0)
    return invalid_input(
        fmt::format("receive_queues: {} does not divide {} workers", config.receive_queues, config.workers));
  if (config.hello_interval_ns == 0) return invalid_input("hello_interval_ns: must not be 0");
  if (config.links.empty() || config.links.size() > multicast::kMaxLinks)
    return invalid_input(
        fmt::format("links: {} of them, not 1..{}", config.links.size(), multicast::kMaxLinks));
  for (const EdgeLink& link : config.links) {
    const std::string where = fmt::format("link to {}", to_string(link.address));
    if (link.port >= ports) return invalid_input(fmt::format("{}: there is no port {}", where, link.port));
    if (!std::has_single_bit(link.window_packets) || link.window_packets <= link::Sender::kControlReserve)
      return invalid_input(fmt::format("{}: window_packets {} is not a power of two above {}", where,
                                       link.window_packets, link::Sender::kControlReserve));
    if (std::uint32_t{link.address.base_port} + config.lane_count > kPorts)
      return invalid_input(
          fmt::format("{}: {} lanes from that port on do not fit", where, config.lane_count));
    const auto same = [&link](const EdgeLink& other) { return other.address == link.address; };
    if (std::count_if(config.links.begin(), config.links.end(), same) > 1)
      return invalid_input(where + ": given twice");
  }
  return ok_status();
}

/// Whether the edge can run the epoch: it is for this edge, and names no link that the edge does not have.
/// The forwarding table's own faults are found where it is built.
// lint: set-up, runs in control before a lane sees the epoch
Status check_table(const EpochTable& table, const EdgeConfig& config) {
  if (table.epoch == 0) return invalid_input("0 is the number of no epoch");
  if (table.job != config.job)
    return invalid_input(fmt::format("it is for job {}, the edge serves {}", table.job, config.job));
  if (table.lane_count != config.lane_count)
    return invalid_input(fmt::format("it has {} lanes, the edge {}", table.lane_count, config.lane_count));
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
  return ok_status();
}

}  // namespace

// lint: set-up, runs before the first packet
Result<std::unique_ptr<Edge>> Edge::create(const EdgeConfig& config, std::span<Port* const> ports,
                                           BufferPool& pool) {
  if (auto checked = check(config, ports.size()); !checked)
    return std::move(checked).error().within("edge " + config.site);
  // A pool does not tell how large its buffers are; one of them does.
  const BufferRef sample = BufferRef::adopt(pool.allocate());
  if (!sample) return Error{ErrorCode::kUnavailable, "edge " + config.site + ": the buffer pool is empty"};
  if (sample.capacity() < kHeaderBytes + kLeastPayload)
    return invalid_input(fmt::format("edge {}: buffers of {} bytes, the protocol needs {}", config.site,
                                     sample.capacity(), kHeaderBytes + kLeastPayload));
  return std::unique_ptr<Edge>(new Edge(config, ports, pool, sample.capacity()));
}

// lint: set-up, runs before the first packet
Edge::Edge(const EdgeConfig& config, std::span<Port* const> ports, BufferPool& pool,
           std::uint32_t buffer_bytes)
    : config_(config), buffer_bytes_(buffer_bytes) {
  const std::uint32_t count = config.workers;
  transmitters_.resize(count);
  for (std::uint32_t i = 0; i < count * count; ++i)
    hand_overs_.push_back(std::make_unique<HandOverQueue>(kHandOverPackets));
  for (std::uint32_t index = 0; index < count; ++index) {
    for (Port* const port : ports)
      transmitters_[index].push_back(std::make_unique<Transmitter>(*port, index));
    const std::size_t lanes = config.lane_count / count;
    installations_.push_back(std::make_unique<InstallQueue>(lanes * kInstallationsPerLane));
    retired_.push_back(std::make_unique<InstallQueue>(lanes * kInstallationsPerLane));
    Worker::Parts parts;
    parts.index = index;
    parts.ports.assign(ports.begin(), ports.end());
    parts.queue = index;
    parts.receives = index < config.receive_queues;
    for (std::uint32_t other = 0; other < count; ++other) {
      parts.from.push_back(other == index ? nullptr : hand_overs_[other * count + index].get());
      parts.to.push_back(other == index ? nullptr : hand_overs_[index * count + other].get());
    }
    for (std::uint32_t lane = index; lane < config.lane_count; lane += count) {
      LaneConfig lane_config;
      lane_config.job = config.job;
      lane_config.lane = static_cast<std::uint16_t>(lane);
      lane_config.session = config.session;
      lane_config.hello_interval_ns = config.hello_interval_ns;
      parts.lanes.push_back(std::make_unique<Lane>(lane_config, config.links, pool, transmitters_[index]));
    }
    parts.installations = installations_.back().get();
    parts.retired = retired_.back().get();
    workers_.push_back(std::make_unique<Worker>(std::move(parts), transmitters_[index]));
  }
}

Edge::~Edge() {
  // Workers have stopped: what is still under way in either direction is freed here.
  for (auto& queue : installations_) queue->consume_all([](const Installation& left) { delete left.epoch; });
  collect_retired();
  for (auto& queue : hand_overs_)
    queue->consume_all([](const HandOver& left) { BufferRef::adopt(left.buffer).reset(); });
}

// lint: control's thread, not a worker's
Status Edge::install(std::shared_ptr<const EpochTable> table, std::uint32_t first_round) {
  collect_retired();
  const std::string where = fmt::format("edge {}: epoch {}", config_.site, table->epoch);
  if (auto checked = check_table(*table, config_); !checked) return std::move(checked).error().within(where);
  if (table->epoch <= newest_epoch_)
    return invalid_input(fmt::format("{}: epoch {} is as new or newer", where, newest_epoch_));
  if (kHeaderBytes + table->max_payload_bytes > buffer_bytes_)
    return invalid_input(fmt::format("{}: chunks of {} bytes in buffers of {}", where,
                                     table->max_payload_bytes, buffer_bytes_));
  if (!can_install())
    return Error{ErrorCode::kUnavailable,
                 fmt::format("{}: epoch {} is not taken up yet, or {} still has rounds open", where,
                             newest_epoch_, older_epoch_)};
  std::vector<std::unique_ptr<LaneEpoch>> epochs;
  for (std::uint16_t lane = 0; lane < config_.lane_count; ++lane) {
    auto epoch = LaneEpoch::create(table, first_round, lane, {config_.instruction_set, config_.held_bytes});
    if (!epoch) return std::move(epoch).error().within(where);
    epochs.push_back(std::move(epoch).value());
  }
  for (std::uint16_t lane = 0; lane < config_.lane_count; ++lane)
    CHECK(installations_[lane % config_.workers]->push({lane, epochs[lane].release()}));
  older_epoch_ = newest_epoch_;
  newest_epoch_ = table->epoch;
  live_[1] = std::move(live_[0]);
  live_[0] = {std::move(table), first_round};
  return ok_status();
}

bool Edge::can_install() const {
  for (const auto& worker : workers_)
    for (const auto& lane : worker->lanes()) {
      if (lane->counters().newest_epoch.get() != newest_epoch_)
        return false;  // The last one is not taken up yet.
      if (older_epoch_ != 0 && lane->counters().drained_epoch.get() != older_epoch_) return false;
    }
  return true;
}

std::optional<std::uint32_t> Edge::highest_opened_round() const {
  std::uint64_t highest = 0;
  for (const auto& worker : workers_)
    for (const auto& lane : worker->lanes())
      highest = std::max(highest, lane->counters().highest_opened.get());
  if (highest == 0) return std::nullopt;
  return static_cast<std::uint32_t>(highest - 1);
}

PeerCommit Edge::peer_commit() const {
  PeerCommit newest;
  for (const auto& worker : workers_)
    for (const auto& lane : worker->lanes()) {
      const PeerCommit heard = lane->peer_commit();
      if (heard.epoch > newest.epoch) newest = heard;
    }
  return newest.epoch > newest_epoch_ ? newest : PeerCommit{};
}

bool Edge::all_links_up() const {
  for (const auto& worker : workers_)
    for (const auto& lane : worker->lanes())
      if (lane->counters().links_up.get() != config_.links.size()) return false;
  return true;
}

EdgeTotals Edge::totals() const {
  EdgeTotals totals;
  for (const auto& worker : workers_) {
    for (std::size_t i = 0; i < kDropReasons; ++i)
      totals.drops[i] += worker->counters().drops.get(static_cast<DropReason>(i));
    totals.drops[static_cast<std::size_t>(DropReason::kPortFull)] += worker->transmit_refused();
    totals.handed_over += worker->counters().handed_over.get();
    for (const auto& lane : worker->lanes()) {
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
  }
  return totals;
}

void Edge::collect_retired() {
  for (auto& queue : retired_) queue->consume_all([](const Installation& old) { delete old.epoch; });
}

}  // namespace tombolo::dataplane
