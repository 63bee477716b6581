#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/counter.h"
#include "base/result.h"
#include "protocol/buffer.h"
#include "protocol/port.h"

struct rte_mempool;
struct rte_mbuf;

namespace tombolo::dataplane {

/// The longest frame that a device may deliver, Ethernet header included: what af_packet's rings of the
/// standard and of the jumbo kind hold, with room to spare over a packet of ours.
inline constexpr std::uint32_t kStandardFrameBytes = 2048;
inline constexpr std::uint32_t kJumboFrameBytes = 9216;

struct MbufPoolOptions {
  std::uint32_t buffers = 0;
  std::uint32_t frame_bytes = kStandardFrameBytes;
  std::uint32_t headers = 4096;  ///< Frames that are on their way out at a time: DpdkPort::headers_needed().
};

/// A pool of DPDK's packet buffers (mbufs) that the pipeline sees as Buffers: what a device receives is
/// handed on without a copy, and is sent again without one. A Buffer lies in its mbuf's private area, and is
/// one of the mbuf's references; every frame on its way out is another.
///
/// A second pool has the short buffers that a frame's headers are written to when its payload is shared.
///
/// A device writes a frame RTE_PKTMBUF_HEADROOM bytes behind the buffer's start; every start is moved so that
/// a packet behind its 42 bytes of framing, and so its payload, is 64-byte aligned.
class MbufPool final : public BufferPool {
 public:
  static constexpr std::uint32_t kMaxBuffers = 1U << 24;

  /// EAL is running. Errors: kInvalidInput for a number out of range, kUnavailable when EAL has too little
  /// memory, naming it.
  static Result<std::unique_ptr<MbufPool>> create(const MbufPoolOptions& options);
  /// Ports are destroyed, and buffers returned, before.
  ~MbufPool() override;

  /// From any thread; without a lock.
  Buffer* allocate() override;
  void recycle(Buffer* buffer) override;

  std::uint32_t buffers() const { return options_.buffers; }
  std::uint32_t frame_bytes() const { return options_.frame_bytes; }
  /// Capacity of a Buffer: a packet without its framing.
  std::uint32_t buffer_bytes() const { return options_.frame_bytes - kFramingBytes; }
  /// Buffers that are out now, in a device's hands and on their way out included. Exact when nothing moves.
  std::uint64_t in_use() const;
  /// Most buffers that sample() found out at a time: devices take buffers without asking here.
  std::uint64_t high_water() const { return high_water_.load(std::memory_order_relaxed); }
  /// Calls of allocate() that found nothing. Devices count theirs themselves.
  std::uint64_t empties() const { return empties_.load(std::memory_order_relaxed); }
  /// Raises the high water marks if there is more in use now; some hundred nanoseconds.
  void sample();

  /// What a pool takes of EalOptions::memory_mb, in bytes; rounded up generously.
  static std::uint64_t memory_bytes(const MbufPoolOptions& options);

  /// Header buffers that are on their way out.
  std::uint64_t headers_in_use() const;
  std::uint32_t headers() const { return options_.headers; }
  /// Of the header buffers, as high_water() and empties() are of the others.
  std::uint64_t headers_high_water() const { return headers_high_water_.load(std::memory_order_relaxed); }
  std::uint64_t header_empties() const { return header_empties_.load(std::memory_order_relaxed); }

  // For the port.
  rte_mempool* mempool() const { return mempool_; }
  /// A buffer for headers, or nullptr.
  rte_mbuf* allocate_header();
  /// The mbuf round a Buffer of any MbufPool.
  static rte_mbuf* mbuf_of(Buffer* buffer);
  /// The Buffer in an mbuf of any MbufPool.
  static Buffer* buffer_of(rte_mbuf* mbuf);

 private:
  MbufPool(const MbufPoolOptions& options, rte_mempool* mempool, rte_mempool* headers);
  static void prepare(rte_mempool*, void* pool, void* object, unsigned index);

  const MbufPoolOptions options_;
  rte_mempool* const mempool_;
  rte_mempool* const headers_;
  alignas(64) std::atomic<std::uint64_t> high_water_{0};
  std::atomic<std::uint64_t> empties_{0};
  std::atomic<std::uint64_t> headers_high_water_{0};
  std::atomic<std::uint64_t> header_empties_{0};
};

}  // namespace tombolo::dataplane
