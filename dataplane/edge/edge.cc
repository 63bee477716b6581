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
/// Epochs on the way to one worker: two live ones for each of its lanes, and room to spare.
constexpr std::size_t kEpochsPerLane = 4;
constexpr std::uint32_t kMaxLanes = 256;
constexpr std::uint32_t kPorts = 65536;
/// The largest body that an edge makes itself.
constexpr std::uint32_t kLeastPayload = std::max(wire::kMaxFeedbackBytes, wire::kMaxConfigBytes);

// lint: set-up, runs before the first packet
Status check_links(const EdgeJobConfig& job, std::uint16_t lane_count, std::size_t ports) {
  if (job.links.empty() || job.links.size() > multicast::kMaxLinks)
    return invalid_input(fmt::format("links: {} of them, not 1..{}", job.links.size(), multicast::kMaxLinks));
  for (const EdgeLink& link : job.links) {
    const std::string where = fmt::format("link to {}", to_string(link.address));
    if (link.port >= ports) return invalid_input(fmt::format("{}: there is no port {}", where, link.port));
    if (!std::has_single_bit(link.window_packets) || link.window_packets <= link::Sender::kControlReserve)
      return invalid_input(fmt::format("{}: window_packets {} is not a power of two above {}", where,
                                       link.window_packets, link::Sender::kControlReserve));
    if (std::uint32_t{link.address.base_port} + lane_count > kPorts)
      return invalid_input(fmt::format("{}: {} lanes from that port on do not fit", where, lane_count));
    const auto same = [&link](const EdgeLink& other) { return other.address == link.address; };
    if (std::count_if(job.links.begin(), job.links.end(), same) > 1)
      return invalid_input(where + ": given twice");
  }
  return ok_status();
}

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
  if (config.jobs.empty() || config.jobs.size() > Edge::kMaxJobs)
    return invalid_input(fmt::format("jobs: {} of them, not 1..{}", config.jobs.size(), Edge::kMaxJobs));
  for (const EdgeJobConfig& job : config.jobs) {
    const auto same = [&job](const EdgeJobConfig& other) { return other.job == job.job; };
    if (std::count_if(config.jobs.begin(), config.jobs.end(), same) > 1)
      return invalid_input(fmt::format("job {}: given twice", job.job));
    if (auto checked = check_links(job, config.lane_count, ports); !checked)
      return std::move(checked).error().within(fmt::format("job {}", job.job));
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
    : config_(config),
      door_(config.workers, config.lane_count / config.workers * config.jobs.size() * kEpochsPerLane) {
  const std::uint32_t count = config.workers;
  transmitters_.resize(count);
  for (std::uint32_t i = 0; i < count * count; ++i)
    hand_overs_.push_back(std::make_unique<HandOverQueue>(kHandOverPackets));
  for (std::uint32_t index = 0; index < count; ++index) {
    for (Port* const port : ports)
      transmitters_[index].push_back(std::make_unique<Transmitter>(*port, index));
    Worker::Parts parts;
    parts.index = index;
    parts.ports.assign(ports.begin(), ports.end());
    parts.queue = index;
    parts.receives = index < config.receive_queues;
    for (std::uint32_t other = 0; other < count; ++other) {
      parts.from.push_back(other == index ? nullptr : hand_overs_[other * count + index].get());
      parts.to.push_back(other == index ? nullptr : hand_overs_[index * count + other].get());
    }
    for (const EdgeJobConfig& job : config.jobs) parts.jobs.push_back(job.job);
    for (std::uint32_t lane = index; lane < config.lane_count; lane += count)
      for (const EdgeJobConfig& job : config.jobs) {
        LaneConfig lane_config;
        lane_config.job = job.job;
        lane_config.lane = static_cast<std::uint16_t>(lane);
        lane_config.session = config.session;
        lane_config.hello_interval_ns = config.hello_interval_ns;
        parts.lanes.push_back(std::make_unique<Lane>(lane_config, job.links, pool, transmitters_[index]));
      }
    parts.installations = &door_.installations(index);
    parts.retired = &door_.retired(index);
    workers_.push_back(std::make_unique<Worker>(std::move(parts), transmitters_[index]));
  }
  make_jobs(buffer_bytes);
}

// lint: set-up, runs before the first packet
void Edge::make_jobs(std::uint32_t buffer_bytes) {
  EdgeJobSetting setting;
  setting.site = config_.site;
  setting.lane_count = config_.lane_count;
  setting.buffer_bytes = buffer_bytes;
  setting.fold = {config_.instruction_set, config_.held_bytes};
  for (std::size_t index = 0; index < config_.jobs.size(); ++index) {
    std::vector<Lane*> lanes;
    for (std::uint32_t lane = 0; lane < config_.lane_count; ++lane)
      lanes.push_back(workers_[lane % config_.workers]
                          ->lanes()[lane / config_.workers * config_.jobs.size() + index]
                          .get());
    jobs_.push_back(std::make_unique<EdgeJob>(config_.jobs[index], setting, std::move(lanes), door_));
  }
}

Edge::~Edge() {
  // Workers have stopped: what is still under way between them is freed here.
  for (auto& queue : hand_overs_)
    queue->consume_all([](const HandOver& left) { BufferRef::adopt(left.buffer).reset(); });
}

bool Edge::all_links_up() const {
  return std::all_of(jobs_.begin(), jobs_.end(), [](const auto& job) { return job->all_links_up(); });
}

EdgeTotals Edge::totals() const {
  EdgeTotals totals;
  for (const auto& job : jobs_) totals.add(job->totals());
  for (const auto& worker : workers_) {
    for (std::size_t i = 0; i < kDropReasons; ++i)
      totals.drops[i] += worker->counters().drops.get(static_cast<DropReason>(i));
    totals.drops[static_cast<std::size_t>(DropReason::kPortFull)] += worker->transmit_refused();
    totals.handed_over += worker->counters().handed_over.get();
  }
  return totals;
}

}  // namespace tombolo::dataplane
