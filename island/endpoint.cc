#include "island/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace tombolo::island {
namespace {

constexpr std::uint32_t kMaxLanes = 256;
/// Ends that wait for room in a lane: two open rounds in each of two epochs.
constexpr std::size_t kOwedEndsPerLane = 4;

}  // namespace

Result<std::unique_ptr<Endpoint>> Endpoint::create(const EndpointConfig& config, Port& port,
                                                   BufferPool& pool) {
  if (config.session == 0) return invalid_input("session: must not be 0");
  if (config.rank == wire::kNoRank) return invalid_input("rank: 65535 is reserved");
  if (config.lane_count == 0 || config.lane_count > kMaxLanes)
    return invalid_input(fmt::format("lane_count: {} is not in 1..{}", config.lane_count, kMaxLanes));
  if (config.hello_interval_ns == 0) return invalid_input("hello_interval_ns: must not be 0");
  if (!std::has_single_bit(config.window_packets) || config.window_packets <= link::Sender::kControlReserve)
    return invalid_input(fmt::format("window_packets: {} is not a power of two above {}",
                                     config.window_packets, link::Sender::kControlReserve));
  return std::unique_ptr<Endpoint>(new Endpoint(config, port, pool));
}

Endpoint::Endpoint(const EndpointConfig& config, Port& port, BufferPool& pool)
    : config_(config), port_(port), pool_(pool) {
  link::PeerConfig peer;
  peer.session = config.session;
  peer.window = config.window_packets;
  peer.hello_interval_ns = config.hello_interval_ns;
  peer.initial_rtt_ns = config.initial_rtt_ns;
  peers_.reserve(config.lane_count);
  for (std::uint16_t lane = 0; lane < config.lane_count; ++lane) peers_.emplace_back(peer);
  owed_ends_.reserve(config.lane_count * kOwedEndsPerLane);
}

Nanoseconds Endpoint::turn(Nanoseconds now_ns) {
  receive(now_ns);
  bind_operations(now_ns);
  start_deadlines(now_ns);
  expire_operations(now_ns);
  advance_folds(now_ns);
  Nanoseconds next_ns = send_contributions(now_ns);
  next_ns = std::min(next_ns, speak(now_ns));
  flush(now_ns);
  for (const auto& operation : operations_)
    if (!operation->outcome.finished()) next_ns = std::min(next_ns, operation->deadline_at_ns);
  for (const auto& view : views_)
    if (view)
      for (const aggregation::FoldPoint& point : view->points())
        next_ns = std::min(next_ns, point.next_deadline_ns());
  return next_ns;
}

bool Endpoint::can_start(std::uint32_t round) const {
  EpochView* const view = view_for(round);
  if (view == nullptr) return false;
  const wire::Config& entry = view->entry_of(round);
  for (std::uint16_t lane = 0; lane < view->lane_count(); ++lane)
    for (std::size_t i = 0; i < entry.send_tree_count; ++i)
      if (view->grants(lane).granted(entry.send_tree[i], round) == 0) return false;
  return true;
}

bool Endpoint::connected() const {
  return std::all_of(peers_.begin(), peers_.end(), [](const link::Peer& peer) { return peer.up(); });
}

}  // namespace tombolo::island
