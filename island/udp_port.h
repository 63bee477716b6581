#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/counter.h"
#include "base/result.h"
#include "protocol/port.h"

namespace tombolo::island {

struct UdpPortConfig {
  Address address;  ///< Lane l is bound to ipv4:base_port + l.
  std::uint16_t lanes = 1;
  std::uint32_t queues = 1;    ///< 1 to `lanes`: lane l arrives on queue l mod queues.
  BufferPool* pool = nullptr;  ///< Outlives the port; each queue keeps up to kBurst of its buffers ready.
  std::uint32_t socket_buffer_bytes = 4U << 20;  ///< Asked for per lane; see UdpPort::receive_buffer_bytes().
};

/// Written by the worker of one queue, read by anybody. Bytes include framing.
struct UdpCounters {
  Counter tx_packets;
  Counter tx_bytes;
  Counter rx_packets;
  Counter rx_bytes;
  Counter would_block;  ///< Calls that sent less than asked because the kernel had no room.
  Counter refused;      ///< ICMP said that nobody listens at a peer's port.
  Counter tx_too_big;   ///< Dropped: larger than the path's MTU, and never fragmented.
  Counter tx_errors;    ///< Dropped: no route, a port number above 65535, or another refusal.
  Counter rx_too_big;   ///< Dropped: larger than a buffer.
  Counter rx_errors;
  Counter no_buffer;     ///< Dropped: the pool was empty.
  Counter kernel_drops;  ///< Dropped in the kernel because the socket's buffer was full.
};

/// A port over kernel UDP sockets, one per lane, with DF set. A packet leaves from its lane's own socket, so
/// that its source port tells the lane. Header and payload go to the kernel as two pieces, without a copy
/// here. A queue belongs to one worker, for receiving and for transmitting.
class UdpPort final : public Port {
 public:
  /// Errors: kInvalidInput for a bad configuration, kUnavailable when the kernel refuses; the message names
  /// the address and the kernel's reason.
  static Result<std::unique_ptr<UdpPort>> create(const UdpPortConfig& config);
  ~UdpPort() override;
  UdpPort(const UdpPort&) = delete;
  UdpPort& operator=(const UdpPort&) = delete;

  std::size_t receive(std::uint32_t queue, std::span<RxPacket> out, Nanoseconds now_ns) override;
  /// Stops early when the kernel has no room. What can never leave is dropped and counted, and counts as
  /// gone.
  std::size_t transmit(std::uint32_t queue, std::span<TxPacket> packets, Nanoseconds now_ns) override;

  /// Sleeps until a packet is there on `queue`, at most `timeout_ns`; false when that passed (or a signal
  /// came). For loops that have nothing else to do.
  bool wait(Nanoseconds timeout_ns, std::uint32_t queue = 0);

  const Address& address() const { return config_.address; }
  const UdpCounters& counters(std::uint32_t queue = 0) const;
  /// The least that the kernel granted to a lane's socket, in its own accounting (about twice the payload).
  std::uint32_t receive_buffer_bytes() const { return receive_buffer_bytes_; }

 private:
  struct Lane;
  struct Queue;

  explicit UdpPort(const UdpPortConfig& config);
  Status open_lane(std::uint16_t lane);
  std::size_t receive_lane(Queue& queue, Lane& lane, std::span<RxPacket> out);
  std::size_t drop_arrivals(Queue& queue, Lane& lane, std::size_t most);
  std::size_t transmit_run(Queue& queue, std::span<const TxPacket> packets);

  const UdpPortConfig config_;
  std::uint32_t receive_buffer_bytes_ = 0;
  std::vector<Lane> lanes_;
  std::vector<Queue> queues_;
};

}  // namespace tombolo::island
