#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "dataplane/port/inproc_wire.h"
#include "dataplane/port/link_model.h"
#include "protocol/port.h"

namespace tombolo::dataplane {

/// One end of an in-process wire. An edge has a port per wire; all of them may carry the edge's one address.
/// A packet for lane l arrives on queue l mod rx_queues. Several workers may use the port at once, each with
/// a receive queue of its own.
class InprocPort final : public Port {
 public:
  /// The wires and the pool outlive the port.
  InprocPort(const Address& address, const Address& peer, InprocWire& rx, InprocWire& tx, BufferPool& pool)
      : address_(address), peer_(peer), rx_(rx), tx_(tx), pool_(pool) {}

  std::size_t receive(std::uint32_t queue, std::span<RxPacket> out, Nanoseconds now_ns) override {
    return rx_.receive(queue, pool_, out, now_ns);
  }
  /// All packets leave: what the wire then drops (queue full, loss, not for the peer) its counters know.
  std::size_t transmit(std::uint32_t /*queue*/, std::span<TxPacket> packets, Nanoseconds now_ns) override {
    tx_.transmit(packets, now_ns);
    return packets.size();
  }

  /// When the next packet arrives on `queue`, or on any; kNever if none is on its way. A driver in virtual
  /// time jumps there. At or before now: receive() has more to give.
  Nanoseconds next_arrival_ns(std::uint32_t queue) const { return rx_.next_arrival_ns(queue); }
  Nanoseconds next_arrival_ns() const;

  /// For tests: `bytes` (kMaxPacketBytes at most), whatever they are, arrive here at `at_ns` as if sent by
  /// `from`.
  void inject(const Address& from, std::uint16_t lane, std::span<const std::byte> bytes, Nanoseconds at_ns) {
    rx_.inject(from, lane, bytes, at_ns);
  }

  const Address& address() const { return address_; }
  const Address& peer() const { return peer_; }
  std::uint32_t rx_queues() const { return rx_.rx_queues(); }
  /// The two directions, for their counters.
  const InprocWire& rx() const { return rx_; }
  const InprocWire& tx() const { return tx_; }

 private:
  const Address address_;
  const Address peer_;
  InprocWire& rx_;
  InprocWire& tx_;
  BufferPool& pool_;
};

/// One end of a wire to be made.
struct InprocEnd {
  Address address;
  BufferPool* pool = nullptr;  ///< Where its arrivals go; outlives the network.
  std::uint32_t rx_queues = 1;
};

/// The wires of a network in one process, and the ports at their ends. Built before the workers start.
class InprocNetwork {
 public:
  /// Every direction's chances follow from `seed` and from the number of wires made before it.
  explicit InprocNetwork(std::uint64_t seed) : seed_(seed) {}

  /// A full-duplex wire; its ports are the network's and live as long.
  /// Errors: kInvalidInput for a missing pool, no queue, two ends of one address, or a bad LinkConfig.
  Result<std::pair<InprocPort*, InprocPort*>> connect(const InprocEnd& a, const InprocEnd& b,
                                                      const LinkConfig& a_to_b, const LinkConfig& b_to_a);

  /// When the next packet arrives anywhere; kNever if nothing is on its way.
  Nanoseconds next_arrival_ns() const;
  /// In the order in which they were made: wire i has ports 2i and 2i + 1.
  std::span<const std::unique_ptr<InprocPort>> ports() const { return ports_; }

 private:
  InprocWire& add_wire(const InprocEnd& from, const InprocEnd& to, const LinkConfig& config);

  const std::uint64_t seed_;
  std::vector<std::unique_ptr<InprocWire>> wires_;
  std::vector<std::unique_ptr<InprocPort>> ports_;
};

}  // namespace tombolo::dataplane
