#include "dataplane/port/dpdk/dpdk_port.h"

#include <fmt/format.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include <algorithm>
#include <atomic>
#include <utility>

namespace tombolo::dataplane {
namespace {

constexpr std::uint32_t kControlRingFrames = 256;
constexpr std::uint32_t kMinMtu = kIpv4Bytes + kUdpBytes + kHeaderBytes;
constexpr std::uint32_t kMaxMtu = 9600;
/// Beside a device's queues: what one turn has in its hands, twice.
constexpr std::uint32_t kSpare = 2 * static_cast<std::uint32_t>(kBurst);
/// A locally administered address that is the same at every start.
constexpr Mac made_up_mac(std::uint32_t ipv4) { return Mac{0x0200} << 32 | ipv4; }

// lint: set-up, runs before the first packet
Status check_emulation(const DpdkPortConfig& config) {
  if (!config.emulation) return ok_status();
  for (const auto& [direction, link] :
       {std::pair{"tx", &config.emulation->tx}, {"rx", &config.emulation->rx}})
    if (Status status = check_held_link(*link); !status.ok())
      return std::move(status).error().within(fmt::format("emulation: {}", direction));
  return ok_status();
}

// lint: set-up, runs before the first packet
Status check(const DpdkPortConfig& config) {
  if (config.lane_count == 0) return invalid_input("lane_count 0: must be positive");
  if (config.address.base_port == 0 || config.address.base_port + config.lane_count - 1 > 0xffff)
    return invalid_input(fmt::format("base_port {} with {} lanes: ports must be 1 to 65535",
                                     config.address.base_port, config.lane_count));
  if (config.mtu < kMinMtu || config.mtu > kMaxMtu)
    return invalid_input(fmt::format("mtu {}: must be {} to {}", config.mtu, kMinMtu, kMaxMtu));
  if (config.mac && (*config.mac == 0 || *config.mac > kBroadcastMac || is_group_mac(*config.mac)))
    return invalid_input("mac " + format_mac(*config.mac) + ": is no single device's");
  return check_emulation(config);
}

std::uint32_t frames_held(const DpdkPortConfig& config, const LinkConfig Emulation::*direction) {
  return config.emulation ? held_frames((*config.emulation).*direction) : 0;
}

}  // namespace

// lint: set-up, runs before the first packet
Result<std::unique_ptr<DpdkPort>> DpdkPort::create(const DpdkPortConfig& config, MbufPool& pool) {
  const std::string where = "port " + config.name;
  if (Status status = check(config); !status.ok()) return std::move(status).error().within(where);
  auto neighbours =
      NeighbourTable::create({config.address.ipv4, config.prefix_length, config.gateway, config.neighbours});
  if (!neighbours.ok()) return std::move(neighbours).error().within(where);
  auto device = Device::open({config.device, config.queues, config.rx_descriptors, config.tx_descriptors,
                              config.mtu, config.mac.has_value(), config.multicast, &pool});
  if (!device.ok()) return std::move(device).error().within(where);
  auto port = std::unique_ptr<DpdkPort>(
      new DpdkPort(config, pool, std::move(device).value(), std::move(neighbours).value()));
  if (config.queues > 1) {
    static std::atomic<unsigned> number{0};
    const std::string ring = fmt::format("control_{}", number++);
    port->control_ring_ = rte_ring_create(ring.c_str(), kControlRingFrames, SOCKET_ID_ANY, RING_F_SC_DEQ);
    if (port->control_ring_ == nullptr)
      return Error{ErrorCode::kUnavailable, where + ": no memory for a ring; raise memory_mb"};
  }
  return port;
}

// lint: set-up, runs before the first packet
DpdkPort::DpdkPort(const DpdkPortConfig& config, MbufPool& pool, Device device,
                   std::unique_ptr<NeighbourTable> neighbours)
    : config_(config),
      pool_(pool),
      device_(std::move(device)),
      neighbours_(std::move(neighbours)),
      queues_(config.queues) {
  const Mac own = device_.mac() != 0 ? device_.mac() : made_up_mac(config.address.ipv4);
  filter_ = {config.mac.value_or(own), config.address, config.lane_count, &neighbours_->groups()};
  for (std::uint32_t i = 0; i < config.queues; ++i) queues_[i].index = i;
  if (!config.emulation) return;
  tx_link_ = std::make_unique<HeldLink>(config.emulation->tx, 2 * config.emulation->seed, config.queues);
  rx_link_ = std::make_unique<HeldLink>(config.emulation->rx, 2 * config.emulation->seed + 1, config.queues);
}

DpdkPort::~DpdkPort() {
  if (control_ring_ == nullptr) return;
  void* frame = nullptr;
  while (rte_ring_dequeue(control_ring_, &frame) == 0) rte_pktmbuf_free(static_cast<rte_mbuf*>(frame));
  rte_ring_free(control_ring_);
}

std::uint32_t DpdkPort::headers_needed(const DpdkPortConfig& config) {
  // Half as much again as the device's queues hold, for what workers keep in their caches.
  return config.queues * (config.tx_descriptors * 3U / 2 + kSpare) +
         config.queues * frames_held(config, &Emulation::tx) + kControlRingFrames;
}

std::uint32_t DpdkPort::buffers_needed(const DpdkPortConfig& config) {
  return config.queues * (config.rx_descriptors + kSpare) +
         config.queues * frames_held(config, &Emulation::rx) + kControlRingFrames;
}

Nanoseconds DpdkPort::next_due_ns(std::uint32_t index) const {
  if (queues_[index].has_more) return 0;
  Nanoseconds due_ns = kNever;
  for (const HeldLink* link : {tx_link_.get(), rx_link_.get()})
    if (link != nullptr) due_ns = std::min(due_ns, link->next_arrival_ns(index));
  if (index != 0) return due_ns;
  if (control_ring_ != nullptr && !rte_ring_empty(control_ring_)) return 0;
  return std::min({due_ns, neighbours_->next_due_ns(), probe_.next_due_ns()});
}

void DpdkPort::tend(Nanoseconds now_ns) {
  if (!device_.joins() || now_ns < join_ns_) return;
  join_ns_ = now_ns + kSecond;
  // Every second look only: joining takes a while.
  if (is_up())
    was_down_ = false;
  else if (std::exchange(was_down_, !was_down_))
    device_.rejoin();
}

// lint: control's side, not on the way of packets
Status DpdkPort::start_probe(const ProbeRequest& request) {
  const FrameDrop route = neighbours_->direct_route(request.neighbour).drop;
  if (route == FrameDrop::kUnknownNeighbour)
    return invalid_input(
        fmt::format("port {}: {} is not a neighbour", config_.name, format_ipv4(request.neighbour)));
  if (request.frame_bytes > config_.mtu + kEthernetBytes)
    return invalid_input(fmt::format("port {}: echoes of {} bytes: the MTU allows {}", config_.name,
                                     request.frame_bytes, config_.mtu + kEthernetBytes));
  return probe_.start(request);
}

Status DpdkPort::set_groups(std::uint32_t neighbour, const LinkGroups& groups) {
  if (Status set = neighbours_->set_groups(neighbour, groups); !set.ok())
    return std::move(set).error().within("port " + config_.name);
  return ok_status();
}

std::uint64_t DpdkPort::drops(FrameDrop reason) const {
  std::uint64_t sum = 0;
  for (const Queue& queue : queues_) sum += queue.counters.drops.get(reason);
  return sum;
}

}  // namespace tombolo::dataplane
