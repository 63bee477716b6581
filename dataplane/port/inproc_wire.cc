#include "dataplane/port/inproc_wire.h"

#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/units.h"

namespace tombolo::dataplane {
namespace {

/// What may be on a direction at a time: its queue, and what was sent within the longest way to the far end.
std::uint64_t flight_bytes(const LinkConfig& config) {
  const Nanoseconds hold_ns = config.reorder > 0 ? config.reorder_hold_ns : 0;
  const double way_s = static_cast<double>(config.delay_ns + config.jitter_ns + hold_ns) / kSecond;
  const double in_flight = way_s * static_cast<double>(config.rate_bps) / kBitsPerByte;
  return config.queue_bytes + static_cast<std::uint64_t>(in_flight);
}

std::size_t reserved_overtakers(const LinkConfig& config) {
  constexpr std::size_t kReserved = 1U << 14;
  return config.jitter_ns > 0 || config.reorder > 0 ? kReserved : 64;
}

}  // namespace

InprocWire::InprocWire(const Address& from, const Address& to, std::uint32_t rx_queues,
                       const LinkConfig& config, std::uint64_t seed)
    : from_(from), to_(to), model_(config, seed), frames_(flight_bytes(config)), queues_(rx_queues) {
  for (ArrivalQueue& queue : queues_) queue.reserve_overtakers(reserved_overtakers(config));
}

void InprocWire::transmit(std::span<const TxPacket> packets, Nanoseconds now_ns) {
  const std::lock_guard lock(mutex_);
  for (const TxPacket& packet : packets) {
    if (packet.to != to_) {
      counters_.unroutable.add();
      continue;
    }
    CHECK(packet.payload_bytes <= kMaxPayloadBytes);
    const Offer offer = model_.offer(kFramingBytes + kHeaderBytes + packet.payload_bytes, now_ns);
    for (const Arrival& arrival : offer.arrivals()) carry(packet, arrival);
  }
}

void InprocWire::carry(const TxPacket& packet, const Arrival& arrival) {
  Frame* frame = frames_.allocate(kHeaderBytes + packet.payload_bytes);
  if (frame == nullptr) {
    counters_.no_frame.add();
    return;
  }
  frame->bytes = kHeaderBytes + packet.payload_bytes;
  std::memcpy(frame->data(), packet.header.data(), kHeaderBytes);
  if (packet.payload_bytes > 0)
    std::memcpy(frame->data() + kHeaderBytes, packet.payload, packet.payload_bytes);
  if (arrival.damage != Arrival::kIntact) {
    const std::uint64_t bit = arrival.damage % (kBitsPerByte * frame->bytes);
    frame->data()[bit / kBitsPerByte] ^= std::byte{1} << (bit % kBitsPerByte);
  }
  launch(frame, from_, packet.lane, arrival.at_ns);
}

void InprocWire::launch(Frame* frame, const Address& from, std::uint16_t lane, Nanoseconds at_ns) {
  frame->from = from;
  frame->lane = lane;
  frame->arrival_ns = at_ns;
  queues_[lane % rx_queues()].push(frame);
}

std::size_t InprocWire::receive(std::uint32_t queue, BufferPool& pool, std::span<RxPacket> out,
                                Nanoseconds now_ns) {
  ArrivalQueue& arrivals = queues_[queue];
  // An idle poll takes no lock. A frame that is launched at this moment is found by the next turn.
  if (arrivals.next_arrival_ns() > now_ns) return 0;
  const std::lock_guard lock(mutex_);
  std::size_t received = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    Frame* frame = arrivals.pop(now_ns);
    if (frame == nullptr) break;
    if (deliver(*frame, pool, out[received])) ++received;
    frames_.recycle(frame);
  }
  return received;
}

bool InprocWire::deliver(Frame& frame, BufferPool& pool, RxPacket& out) {
  BufferRef buffer = BufferRef::adopt(pool.allocate());
  if (!buffer) {
    counters_.no_buffer.add();
    return false;
  }
  if (buffer.capacity() < frame.bytes) {
    counters_.too_large.add();
    return false;
  }
  std::memcpy(buffer.data(), frame.data(), frame.bytes);
  counters_.rx_packets.add();
  counters_.rx_bytes.add(kFramingBytes + frame.bytes);
  out.from = frame.from;
  out.lane = frame.lane;
  out.bytes = frame.bytes;
  out.buffer = std::move(buffer);
  return true;
}

void InprocWire::inject(const Address& from, std::uint16_t lane, std::span<const std::byte> bytes,
                        Nanoseconds at_ns) {
  CHECK(bytes.size() <= kMaxPacketBytes);
  const std::lock_guard lock(mutex_);
  counters_.injected.add();
  Frame* frame = frames_.allocate(static_cast<std::uint32_t>(bytes.size()));
  if (frame == nullptr) {
    counters_.no_frame.add();
    return;
  }
  frame->bytes = static_cast<std::uint32_t>(bytes.size());
  if (!bytes.empty()) std::memcpy(frame->data(), bytes.data(), bytes.size());
  launch(frame, from, lane, at_ns);
}

std::uint64_t InprocWire::growths() const {
  std::uint64_t growths = frames_.growths();
  for (const ArrivalQueue& queue : queues_) growths += queue.growths();
  return growths;
}

}  // namespace tombolo::dataplane
