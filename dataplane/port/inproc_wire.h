#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/counter.h"
#include "dataplane/port/arrival_queue.h"
#include "dataplane/port/frame_store.h"
#include "dataplane/port/link_model.h"
#include "protocol/port.h"

namespace tombolo::dataplane {

/// What a direction of a wire counts beyond its LinkModel; bytes include framing. Once nothing is on its way,
/// tx_packets + duplicates + injected = losses + rx_packets + no_buffer + too_large + no_frame.
struct WireCounters {
  Counter rx_packets;
  Counter rx_bytes;
  Counter unroutable;  ///< Addressed to somebody who is not at the other end; never on the wire.
  Counter no_buffer;   ///< Arrived when the receiver's pool was empty.
  Counter too_large;   ///< Arrived, but larger than the receiver's buffers.
  Counter no_frame;    ///< The machine had no memory for a packet in flight.
  Counter injected;
};

/// One direction of an in-process wire: a link model, and the bytes that are on their way. Any number of
/// workers may use both ends at once. The mutex stands for the cable, which carries one packet at a time;
/// nothing else in the dataplane locks.
class InprocWire {
 public:
  InprocWire(const Address& from, const Address& to, std::uint32_t rx_queues, const LinkConfig& config,
             std::uint64_t seed);

  /// Copies the packets onto the wire, in order. What the link drops is counted, and never becomes a frame.
  void transmit(std::span<const TxPacket> packets, Nanoseconds now_ns);
  /// Copies what has arrived on `queue` into buffers of `pool`; looks at out.size() packets at most.
  std::size_t receive(std::uint32_t queue, BufferPool& pool, std::span<RxPacket> out, Nanoseconds now_ns);
  /// Puts a packet of any bytes (kMaxPacketBytes at most) and any sender at the far end at `at_ns`, past the
  /// link model.
  void inject(const Address& from, std::uint16_t lane, std::span<const std::byte> bytes, Nanoseconds at_ns);

  /// When `queue` has something to receive; kNever if nothing is on its way. Without the lock.
  Nanoseconds next_arrival_ns(std::uint32_t queue) const { return queues_[queue].next_arrival_ns(); }
  std::uint32_t rx_queues() const { return static_cast<std::uint32_t>(queues_.size()); }

  const LinkConfig& config() const { return model_.config(); }
  const LinkCounters& link_counters() const { return model_.counters(); }
  const WireCounters& counters() const { return counters_; }
  /// How often memory for packets in flight had to be added to what was reserved; 0 in a steady state.
  std::uint64_t growths() const;

 private:
  void carry(const TxPacket& packet, const Arrival& arrival);
  void launch(Frame* frame, const Address& from, std::uint16_t lane, Nanoseconds at_ns);
  bool deliver(Frame& frame, BufferPool& pool, RxPacket& out);

  const Address from_;
  const Address to_;
  std::mutex mutex_;  ///< Protects all below, but for what is atomic in it.
  LinkModel model_;
  FrameStore frames_;
  std::vector<ArrivalQueue> queues_;
  WireCounters counters_;
};

}  // namespace tombolo::dataplane
