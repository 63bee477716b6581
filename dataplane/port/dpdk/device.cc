#include "dataplane/port/dpdk/device.h"

#include <fmt/format.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include <thread>
#include <utility>

#include "dataplane/port/dpdk/big_endian.h"
#include "dataplane/port/dpdk/device_check.h"
#include "dataplane/port/dpdk/eal.h"
#include "dataplane/port/dpdk/eal_log.h"
#include "dataplane/port/dpdk/memif_socket.h"
#include "dataplane/port/dpdk/packet_filter.h"

namespace tombolo::dataplane {
namespace {

// lint: set-up, runs before the first packet
Error refused(const std::string& what, int code) {
  return {ErrorCode::kUnavailable,
          fmt::format("{}: {}{}", what, rte_strerror(code < 0 ? -code : code), take_dpdk_log())};
}

/// Spreads flows over queues where the device can; one queue needs nothing.
rte_eth_conf configuration(const DeviceOptions& options, const rte_eth_dev_info& info, bool is_pci) {
  rte_eth_conf conf{};
  if (info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS)
    conf.txmode.offloads |= RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
  if (options.queues > 1 && is_pci) {
    conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf.rx_adv_conf.rss_conf.rss_hf =
        (RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_IPV4) & info.flow_type_rss_offloads;
  }
  // Software devices take what their rings hold; their MTU says nothing, and setting it changes an interface.
  if (is_pci) conf.rxmode.mtu = options.mtu;
  return conf;
}

}  // namespace

Result<Device> Device::open(const DeviceOptions& options) {
  auto name = parse_device(options.device);
  if (!name.ok()) return std::move(name).error();
  if (!is_eal_running()) return Error{ErrorCode::kUnavailable, "a port before DPDK was started"};
  Device device;
  device.name_ = name->name;
  if (rte_eth_dev_get_port_by_name(name->name.c_str(), &device.port_) != 0) {
    device.port_ = kNoPort;
    if (Status status = check_device(*name, options.mtu, options.queues); !status.ok())
      return std::move(status).error().within(name->name);
    remove_dead_memif_socket(*name);
    if (Status status = device.attach(options.device, name->name); !status.ok())
      return std::move(status).error().within(name->name);
    if (is_memif_client(*name)) device.gates_ = std::vector<Gate>(options.queues);
    if (name->driver.rfind("net_af_packet", 0) == 0) ignore_outgoing(name->argument("iface"));
  } else if (name->is_pci()) {
    // Found at EAL's start, but its driver or its MTU may not fit.
    if (Status status = check_device(*name, options.mtu, options.queues); !status.ok())
      return std::move(status).error().within(name->name);
  }
  if (Status status = device.configure(options, name->is_pci()); !status.ok())
    return std::move(status).error().within(name->name);
  return device;
}

Status Device::attach(const std::string& device, const std::string& name) {
  take_dpdk_log();
  if (rte_dev_probe(device.c_str()) != 0 || rte_eth_dev_get_port_by_name(name.c_str(), &port_) != 0) {
    port_ = kNoPort;
    return Error{
        ErrorCode::kUnavailable,
        "DPDK cannot open it: is its driver installed (apt-get install librte-meta-net librte-meta-bus), "
        "and for a PCI device, was it named at DPDK's start?" +
            take_dpdk_log()};
  }
  is_owned_ = true;
  return ok_status();
}

// lint: set-up, runs before the first packet
Status Device::configure(const DeviceOptions& options, bool is_pci) {
  rte_eth_dev_info info{};
  if (const int error = rte_eth_dev_info_get(port_, &info); error != 0)
    return refused("no information", error);
  driver_ = info.driver_name;
  if (options.queues > info.max_rx_queues || options.queues > info.max_tx_queues)
    return invalid_input(fmt::format("{} queues: the device has {} for receiving and {} for sending",
                                     options.queues, info.max_rx_queues, info.max_tx_queues));
  if (options.pool->frame_bytes() < options.mtu + kEthernetBytes)
    return invalid_input(fmt::format("MTU {}: frames of {} bytes do not fit the pool's {}", options.mtu,
                                     options.mtu + kEthernetBytes, options.pool->frame_bytes()));
  takes_chains_ = (info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0;
  const rte_eth_conf conf = configuration(options, info, is_pci);
  const auto queues = static_cast<std::uint16_t>(options.queues);
  if (const int error = rte_eth_dev_configure(port_, queues, queues, &conf); error != 0)
    return refused("cannot be configured", error);
  if (Status status = set_up_queues(options); !status.ok()) return status;
  if (joins()) {
    for (Gate& gate : gates_) gate.is_held.test_and_set(std::memory_order_relaxed);
    rejoin();
  } else if (const int error = rte_eth_dev_start(port_); error != 0) {
    return refused("does not start", error);
  } else {
    is_started_ = true;
  }
  // Not all devices have these modes. Of a kernel interface DPDK's driver sets the second one only; a device
  // without any takes everything anyway.
  takes_groups_ = options.takes_groups && rte_eth_allmulticast_enable(port_) == 0;
  const bool is_promiscuous = options.is_promiscuous || (options.takes_groups && !takes_groups_);
  is_promiscuous_ = is_promiscuous && rte_eth_promiscuous_enable(port_) == 0;
  rte_ether_addr address{};
  if (rte_eth_macaddr_get(port_, &address) == 0)
    mac_ = get48(reinterpret_cast<const std::byte*>(address.addr_bytes));
  take_dpdk_log();
  return ok_status();
}

// lint: set-up, runs before the first packet
Status Device::set_up_queues(const DeviceOptions& options) {
  std::uint16_t rx = options.rx_descriptors, tx = options.tx_descriptors;
  if (const int error = rte_eth_dev_adjust_nb_rx_tx_desc(port_, &rx, &tx); error != 0)
    return refused(
        fmt::format("does not take {} and {} descriptors", options.rx_descriptors, options.tx_descriptors),
        error);
  const auto node = static_cast<unsigned>(rte_eth_dev_socket_id(port_));
  for (std::uint16_t queue = 0; queue < options.queues; ++queue) {
    if (const int error = rte_eth_rx_queue_setup(port_, queue, rx, node, nullptr, options.pool->mempool());
        error != 0)
      return refused(
          fmt::format("receive queue {} (does the pool's frame of {} bytes hold the device's framesz?)",
                      queue, options.pool->frame_bytes()),
          error);
    if (const int error = rte_eth_tx_queue_setup(port_, queue, tx, node, nullptr); error != 0)
      return refused(fmt::format("send queue {}", queue), error);
  }
  return ok_status();
}

Device::~Device() { close(); }

Device::Device(Device&& other) noexcept { *this = std::move(other); }

Device& Device::operator=(Device&& other) noexcept {
  if (this == &other) return *this;
  close();
  port_ = std::exchange(other.port_, kNoPort);
  is_owned_ = std::exchange(other.is_owned_, false);
  is_started_ = std::exchange(other.is_started_, false);
  is_promiscuous_ = std::exchange(other.is_promiscuous_, false);
  takes_groups_ = std::exchange(other.takes_groups_, false);
  takes_chains_ = other.takes_chains_;
  mac_ = other.mac_;
  name_ = std::move(other.name_);
  driver_ = std::move(other.driver_);
  gates_ = std::move(other.gates_);
  return *this;
}

void Device::close() {
  if (port_ == kNoPort) return;
  // A kernel interface would keep the modes for good.
  if (is_promiscuous_) rte_eth_promiscuous_disable(port_);
  if (takes_groups_) rte_eth_allmulticast_disable(port_);
  if (is_started_) rte_eth_dev_stop(port_);
  if (is_owned_) {
    rte_eth_dev_info info{};
    const bool is_known = rte_eth_dev_info_get(port_, &info) == 0;
    rte_eth_dev_close(port_);
    if (is_known && info.device != nullptr) rte_dev_remove(info.device);
  }
  port_ = kNoPort;
}

void Device::rejoin() {
  if (!joins() || is_up()) return;
  if (is_started_) {
    for (Gate& gate : gates_)
      while (gate.is_held.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    rte_eth_dev_stop(port_);
  }
  // Fails while nobody listens: the gates stay shut.
  is_started_ = rte_eth_dev_start(port_) == 0;
  if (is_started_)
    for (Gate& gate : gates_) gate.is_held.clear(std::memory_order_release);
  take_dpdk_log();
}

std::uint16_t Device::receive(std::uint32_t queue, rte_mbuf** frames, std::uint16_t count) {
  const auto index = static_cast<std::uint16_t>(queue);
  if (gates_.empty()) return rte_eth_rx_burst(port_, index, frames, count);
  std::atomic_flag& gate = gates_[queue].is_held;
  if (gate.test_and_set(std::memory_order_acquire)) return 0;
  const std::uint16_t received = rte_eth_rx_burst(port_, index, frames, count);
  gate.clear(std::memory_order_release);
  return received;
}

std::uint16_t Device::transmit(std::uint32_t queue, rte_mbuf** frames, std::uint16_t count) {
  const auto index = static_cast<std::uint16_t>(queue);
  if (gates_.empty()) return rte_eth_tx_burst(port_, index, frames, count);
  std::atomic_flag& gate = gates_[queue].is_held;
  if (gate.test_and_set(std::memory_order_acquire)) return 0;
  const std::uint16_t sent = rte_eth_tx_burst(port_, index, frames, count);
  gate.clear(std::memory_order_release);
  return sent;
}

bool Device::is_up() const {
  rte_eth_link link{};
  return rte_eth_link_get_nowait(port_, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

DeviceStats Device::stats() const {
  rte_eth_stats stats{};
  if (rte_eth_stats_get(port_, &stats) != 0) return {};
  return {stats.imissed, stats.rx_nombuf, stats.ierrors, stats.oerrors};
}

}  // namespace tombolo::dataplane
