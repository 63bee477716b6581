#include "dataplane/edge/edge.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace tombolo::dataplane {
namespace {

constexpr std::size_t kHandOverPackets = 1024;
/// Installations on the way to one worker: two live epochs for each of its lanes, and room to spare.
constexpr std::size_t kInstallationsPerLane = 4;
constexpr std::uint32_t kMaxLanes = 256;

Status check(const EdgeConfig& config, std::size_t ports) {
  if (config.session == 0) return invalid_input("session: must not be 0");
  if (config.lane_count == 0 || config.lane_count > kMaxLanes)
    return invalid_input(fmt::format("lane_count: {} is not in 1..{}", config.lane_count, kMaxLanes));
  if (config.workers == 0 || config.lane_count % config.workers != 0)
    return invalid_input(
        fmt::format("workers: {} does not divide {} lanes", config.workers, config.lane_count));
  if (config.receive_queues == 0) return invalid_input("receive_queues: must not be 0");
  if (config.links.empty() || config.links.size() > multicast::kMaxLinks)
    return invalid_input(
        fmt::format("links: {} of them, not 1..{}", config.links.size(), multicast::kMaxLinks));
  for (const EdgeLink& link : config.links) {
    const std::string where = fmt::format("link to {}", to_string(link.address));
    if (link.port >= ports) return invalid_input(fmt::format("{}: there is no port {}", where, link.port));
    if (!std::has_single_bit(link.window_packets) || link.window_packets <= link::Sender::kControlReserve)
      return invalid_input(fmt::format("{}: window_packets {} is not a power of two above {}", where,
                                       link.window_packets, link::Sender::kControlReserve));
  }
  return ok_status();
}

}  // namespace

Result<std::unique_ptr<Edge>> Edge::create(const EdgeConfig& config, std::span<Port* const> ports,
                                           BufferPool& pool) {
  if (auto checked = check(config, ports.size()); !checked)
    return std::move(checked).error().within("edge " + config.site);
  return std::unique_ptr<Edge>(new Edge(config, ports, pool));
}

// lint: set-up, runs before the first packet
Edge::Edge(const EdgeConfig& config, std::span<Port* const> ports, BufferPool& pool) : config_(config) {
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
      lane_config.instruction_set = config.instruction_set;
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

Status Edge::install(std::shared_ptr<const EpochTable> table, std::uint32_t first_round) {
  collect_retired();
  if (!can_install())
    return Error{ErrorCode::kUnavailable, fmt::format("epochs {} and {} are live; {} still has rounds open",
                                                      older_epoch_, newest_epoch_, older_epoch_)};
  if (table->lane_count != config_.lane_count)
    return invalid_input(
        fmt::format("the epoch has {} lanes, the edge {}", table->lane_count, config_.lane_count));
  std::vector<std::unique_ptr<LaneEpoch>> epochs;
  for (std::uint16_t lane = 0; lane < config_.lane_count; ++lane) {
    auto epoch = LaneEpoch::create(table, first_round, lane);
    if (!epoch) return std::move(epoch).error();
    epochs.push_back(std::move(epoch).value());
  }
  for (std::uint16_t lane = 0; lane < config_.lane_count; ++lane)
    CHECK(installations_[lane % config_.workers]->push({lane, epochs[lane].release()}));
  older_epoch_ = newest_epoch_;
  newest_epoch_ = table->epoch;
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
      totals.rounds_complete += counters.rounds_complete.get();
      totals.rounds_failed += counters.rounds_failed.get();
    }
  }
  return totals;
}

void Edge::collect_retired() {
  for (auto& queue : retired_) queue->consume_all([](const Installation& old) { delete old.epoch; });
}

}  // namespace tombolo::dataplane
