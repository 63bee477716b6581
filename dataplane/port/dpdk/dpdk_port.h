#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/counter.h"
#include "base/result.h"
#include "dataplane/port/dpdk/device.h"
#include "dataplane/port/dpdk/frame.h"
#include "dataplane/port/dpdk/frame_drop.h"
#include "dataplane/port/dpdk/held_link.h"
#include "dataplane/port/dpdk/link_probe.h"
#include "dataplane/port/dpdk/mbuf_pool.h"
#include "dataplane/port/dpdk/neighbours.h"
#include "protocol/port.h"

struct rte_ring;

namespace tombolo::dataplane {

/// A WAN built in, for kernels and networks without one: the link model of the in-process wires, applied to
/// every frame of the port, ARP and ICMP included.
struct Emulation {
  LinkConfig tx;
  LinkConfig rx;
  std::uint64_t seed = 1;
};

struct DpdkPortConfig {
  std::string name;        ///< For messages.
  std::string device;      ///< As DPDK takes it; af_packet_device() makes one for a kernel interface.
  std::optional<Mac> mac;  ///< Instead of the device's own, for devices that have none.
  Address address;
  std::uint32_t prefix_length = 24;
  std::optional<std::uint32_t> gateway;
  std::uint16_t lane_count = 1;
  std::uint32_t queues = 1;  ///< For receiving and for sending: one per worker.
  std::uint16_t rx_descriptors = 1024;
  std::uint16_t tx_descriptors = 1024;
  std::uint32_t mtu = 1500;  ///< Of IPv4 packets; set on NICs, looked at on kernel interfaces.
  std::vector<Neighbour> neighbours;
  bool multicast = false;  ///< The device shows IPv4 groups; set_groups() says which count.
  std::optional<Emulation> emulation;
};

/// Of one queue: written by its worker, read by anybody. Bytes include framing.
/// Summed over the queues, rx_frames = rx_packets + arp_received + echo_received + what the receive reasons
/// of `drops` count: ARP and ICMP are handled by queue 0's worker, whichever queue they arrive on.
struct DpdkPortCounters {
  Counter rx_frames;  ///< All that arrived, behind the emulated link if there is one.
  Counter rx_packets;
  Counter rx_bytes;
  Counter tx_packets;  ///< Taken by the device or the emulated link.
  Counter tx_bytes;
  Counter rx_copies;     ///< Frames that came in pieces, or in another pool's memory.
  Counter tx_copies;     ///< Packets whose payload could not be shared with the device.
  Counter arp_received;  ///< That were for this port and of use.
  Counter arp_answers;
  Counter arp_asks;
  Counter echo_received;
  Counter echo_answers;
  Counter echo_asks;
  FrameDropCounters drops;
};

/// A port over a DPDK device: Ethernet, IPv4 and UDP round our packets. What arrives is handed on in the
/// buffer that the device wrote it to; what is sent is a header buffer chained to the shared payload. Answers
/// ARP and ICMP echo for its address, and asks for its neighbours'. Everything else is counted by reason.
///
/// Queue q is used by one worker, for receive() and transmit(); queue 0's answers and asks for all. A worker
/// that sleeps wakes at next_due_ns().
class DpdkPort final : public Port {
 public:
  /// Most ARP messages answered per call of receive().
  static constexpr std::uint32_t kArpPerCall = 4;

  /// EAL is running; the pool outlives the port. Errors: kInvalidInput, naming the field; kNotFound and
  /// kUnavailable for the device, with the command that mends it. The port's name comes first.
  static Result<std::unique_ptr<DpdkPort>> create(const DpdkPortConfig& config, MbufPool& pool);
  ~DpdkPort() override;
  DpdkPort(const DpdkPort&) = delete;
  DpdkPort& operator=(const DpdkPort&) = delete;

  /// Header buffers that such a port can have on their way at a time: for MbufPoolOptions::headers, summed
  /// up.
  static std::uint32_t headers_needed(const DpdkPortConfig& config);
  /// Packet buffers that it can hold on its way in, out of the pipeline's sight: added to what plans need.
  static std::uint32_t buffers_needed(const DpdkPortConfig& config);

  std::size_t receive(std::uint32_t queue, std::span<RxPacket> out, Nanoseconds now_ns) override;
  /// Packets for an unknown or unresolved neighbour and those above the MTU are dropped, counted, and count
  /// as gone.
  std::size_t transmit(std::uint32_t queue, std::span<TxPacket> packets, Nanoseconds now_ns) override;

  /// When the queue's worker must call receive() again even if nothing arrives: a held frame, an ARP request
  /// or a probe is due. At or before now: at once. kNever: nothing waits. For the queue's own worker.
  Nanoseconds next_due_ns(std::uint32_t queue) const;

  // For one control thread, at any time.
  /// Begins to measure the way to a neighbour. Errors: those of LinkProbe::start(); kInvalidInput for one who
  /// is not configured or echoes above the MTU.
  Status start_probe(const ProbeRequest& request);
  /// Where a neighbour's packets go and come to from now on, as epochs say. Errors: kInvalidInput for who is
  /// not configured.
  Status set_groups(std::uint32_t neighbour, const LinkGroups& groups);
  std::optional<ProbeResult> take_probe_result() { return probe_.take_result(); }
  bool is_up() const { return device_.is_up(); }
  /// To be called again and again. A memif whose other end was not there at the start, or went away, is
  /// joined within two seconds of its coming.
  void tend(Nanoseconds now_ns);
  DeviceStats device_stats() const { return device_.stats(); }
  std::size_t resolved_neighbours() const { return neighbours_->resolved(); }

  // From any thread.
  const DpdkPortConfig& config() const { return config_; }
  Mac mac() const { return filter_.mac; }
  const DpdkPortCounters& counters(std::uint32_t queue = 0) const { return queues_[queue].counters; }
  std::uint64_t drops(FrameDrop reason) const;  ///< Of all queues.
  /// The emulated link's directions; nullptr without one.
  const HeldLink* tx_link() const { return tx_link_.get(); }
  const HeldLink* rx_link() const { return rx_link_.get(); }

 private:
  /// How often the pool's high water marks are looked at.
  static constexpr Nanoseconds kSampleInterval = 10 * kMillisecond;

  /// What one worker writes.
  struct alignas(64) Queue {
    std::uint32_t index = 0;
    bool has_more = false;      ///< The last burst was full.
    Nanoseconds sample_ns = 0;  ///< When to look at the pool again, with a burst's headers in hand.
    DpdkPortCounters counters;
  };
  /// The part of a burst that is being sent, and what becomes of its packets.
  struct Outgoing;

  DpdkPort(const DpdkPortConfig& config, MbufPool& pool, Device device,
           std::unique_ptr<NeighbourTable> neighbours);

  // Receiving.
  std::size_t arrivals(Queue& queue, std::span<rte_mbuf*> frames, Nanoseconds now_ns);
  bool take_in(Queue& queue, rte_mbuf* frame, RxPacket& out, Nanoseconds now_ns);
  bool is_native(const rte_mbuf* frame) const;
  rte_mbuf* copy_in(Queue& queue, rte_mbuf* frame);
  void drop(Queue& queue, rte_mbuf* frame, FrameDrop reason);

  // Sending.
  std::size_t transmit_burst(Queue& queue, std::span<TxPacket> packets, Nanoseconds now_ns);
  FrameDrop prepare(Queue& queue, TxPacket& packet, const NeighbourTable::Route& route, rte_mbuf*& frame);
  rte_mbuf* shareable(const TxPacket& packet) const;
  FrameDrop chain(const TxPacket& packet, const Framing& framing, rte_mbuf* payload, rte_mbuf*& frame);
  FrameDrop flatten(const TxPacket& packet, const Framing& framing, rte_mbuf*& frame);
  std::size_t hand_over(Queue& queue, std::span<rte_mbuf*> frames, Nanoseconds now_ns);
  void release(Queue& queue, Nanoseconds now_ns);

  // Control frames: queue 0's worker.
  void control_turn(Nanoseconds now_ns);
  void take_control(Queue& queue, rte_mbuf* frame, const ParsedFrame& parsed, Nanoseconds now_ns);
  void handle_arp(rte_mbuf* frame, Nanoseconds now_ns);
  void handle_echo(rte_mbuf* frame, Nanoseconds now_ns);
  void ask_neighbours(Nanoseconds now_ns);
  void send_probes(Nanoseconds now_ns);
  bool send_arp(const ArpMessage& message, Nanoseconds now_ns);
  bool send_control(rte_mbuf* frame, Nanoseconds now_ns);

  const DpdkPortConfig config_;
  MbufPool& pool_;
  FrameFilter filter_;
  Device device_;
  std::unique_ptr<NeighbourTable> neighbours_;
  std::unique_ptr<HeldLink> tx_link_;
  std::unique_ptr<HeldLink> rx_link_;
  LinkProbe probe_;
  std::vector<Queue> queues_;
  rte_ring* control_ring_ = nullptr;  ///< ARP and ICMP that arrived on other queues; none with one queue.
  // Of the control thread.
  Nanoseconds join_ns_ = 0;
  bool was_down_ = false;
  // Of queue 0's worker.
  std::uint32_t arp_budget_ = 0;
  std::uint32_t echo_budget_ = 0;
  Nanoseconds sample_ns_ = 0;
};

}  // namespace tombolo::dataplane
