#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/clock.h"
#include "protocol/address.h"
#include "protocol/buffer.h"

namespace tombolo {

/// Bytes of Ethernet, IPv4 and UDP round every packet; "on the wire" always includes them.
inline constexpr std::uint32_t kFramingBytes = 14 + 20 + 8;
/// The packet header's size; a payload starts behind it.
inline constexpr std::uint32_t kHeaderBytes = 64;
/// The largest payload (jumbo).
inline constexpr std::uint32_t kMaxPayloadBytes = 8192;
inline constexpr std::uint32_t kMaxPacketBytes = kHeaderBytes + kMaxPayloadBytes;
/// Most packets that one call to a port moves.
inline constexpr std::size_t kBurst = 32;

/// A datagram that arrived: bytes [0, bytes) of `buffer`, not validated.
struct RxPacket {
  Address from;             ///< Base address of the sender: its source port minus the lane.
  std::uint16_t lane = 0;   ///< Destination port minus this node's base port.
  std::uint32_t bytes = 0;  ///< Header and payload, without framing.
  BufferRef buffer;
};

/// A datagram to send: a header of its own and a payload that others may share.
/// `payload` points into `keep`'s buffer, or into memory that outlives the transmit call when `keep` is
/// empty.
struct TxPacket {
  Address to;
  std::uint16_t lane = 0;
  std::array<std::byte, kHeaderBytes> header{};
  const std::byte* payload = nullptr;
  std::uint32_t payload_bytes = 0;
  BufferRef keep;
};

/// A way in and out of a node: a DPDK port, an in-process wire, a set of UDP sockets. Each queue is used by
/// one worker only. Calls never block.
class Port {
 public:
  virtual ~Port() = default;
  /// Moves at most out.size() packets that have arrived on `queue` into `out`; returns how many.
  /// Arrivals for which no buffer is left are dropped and counted by the port.
  virtual std::size_t receive(std::uint32_t queue, std::span<RxPacket> out, Nanoseconds now_ns) = 0;
  /// Sends the packets in order; returns how many left. The rest did not leave: the caller counts them
  /// (the link layer repairs them as it repairs a loss). References in `keep` are the caller's to drop.
  virtual std::size_t transmit(std::uint32_t queue, std::span<TxPacket> packets, Nanoseconds now_ns) = 0;
};

}  // namespace tombolo
