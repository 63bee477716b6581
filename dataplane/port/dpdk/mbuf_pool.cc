#include "dataplane/port/dpdk/mbuf_pool.h"

#include <fmt/format.h>
#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#include <algorithm>
#include <new>

#include "dataplane/port/dpdk/eal.h"
#include "dataplane/port/dpdk/eal_log.h"

namespace tombolo::dataplane {
namespace {

constexpr std::uint32_t kAlignment = 64;
/// Between the mbuf and its bytes; a whole cache line keeps the bytes aligned.
constexpr std::uint16_t kPrivateBytes = 64;
/// Buffers that a worker keeps for itself, so that it seldom meets the others at the ring.
constexpr std::uint32_t kMaxCached = 256;
constexpr std::uint32_t kMaxFrameBytes = 16384;

static_assert(sizeof(Buffer) <= kPrivateBytes);
static_assert(sizeof(rte_mbuf) % kAlignment == 0 && RTE_MBUF_PRIV_ALIGN <= kAlignment);

/// How far a buffer's start is moved: 22 bytes with the usual headroom of 128.
constexpr std::uint32_t kShift =
    (kAlignment - (RTE_PKTMBUF_HEADROOM + kFramingBytes) % kAlignment) % kAlignment;

constexpr std::uint32_t room_of(std::uint32_t frame_bytes) {
  const std::uint32_t bytes = kShift + RTE_PKTMBUF_HEADROOM + frame_bytes;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Small enough that what workers keep cannot be most of the pool.
constexpr std::uint32_t cache_of(std::uint32_t buffers) { return std::min(kMaxCached, buffers / 16); }

/// Framing, a header, and what a driver may put before them.
constexpr std::uint32_t kHeaderRoom = RTE_PKTMBUF_HEADROOM + 128;
static_assert(kFramingBytes + kHeaderBytes <= 128);

/// An object is the pool's own header, the mbuf and its bytes; spread over memory channels by up to four
/// cache lines, and without huge pages never across a page's end unless it is larger than one.
constexpr std::uint64_t mempool_bytes(std::uint64_t objects, std::uint64_t bytes) {
  constexpr std::uint64_t kPage = 4096;
  const std::uint64_t object = 64 + sizeof(rte_mbuf) + bytes + 4 * kAlignment;
  const std::uint64_t stride =
      object > kPage ? (object + kPage - 1) / kPage * kPage : kPage / (kPage / object);
  return objects * (stride + 2 * sizeof(void*)) + (1U << 20);
}

/// Several workers may find a new mark at a time: the highest stays.
void raise(std::atomic<std::uint64_t>& mark, std::uint64_t now) {
  std::uint64_t seen = mark.load(std::memory_order_relaxed);
  while (now > seen && !mark.compare_exchange_weak(seen, now, std::memory_order_relaxed)) {
  }
}

// lint: set-up, runs before the first packet
Status check(const MbufPoolOptions& options) {
  for (const std::uint32_t count : {options.buffers, options.headers})
    if (count == 0 || count > MbufPool::kMaxBuffers)
      return invalid_input(
          fmt::format("a pool of {} buffers: must be 1 to {}", count, MbufPool::kMaxBuffers));
  if (options.frame_bytes <= kFramingBytes + kHeaderBytes || options.frame_bytes > kMaxFrameBytes)
    return invalid_input(fmt::format("frames of {} bytes: must be {} to {}", options.frame_bytes,
                                     kFramingBytes + kHeaderBytes + 1, kMaxFrameBytes));
  return ok_status();
}

// lint: set-up, runs before the first packet
rte_mempool* create_mempool(const char* kind, std::uint32_t objects, std::uint16_t private_bytes,
                            std::uint32_t room) {
  static std::atomic<unsigned> number{0};
  const std::string name = fmt::format("{}_{}", kind, number++);
  return rte_pktmbuf_pool_create(name.c_str(), objects, cache_of(objects), private_bytes,
                                 static_cast<std::uint16_t>(room), SOCKET_ID_ANY);
}

}  // namespace

// lint: set-up, runs before the first packet
Result<std::unique_ptr<MbufPool>> MbufPool::create(const MbufPoolOptions& options) {
  if (Status status = check(options); !status.ok()) return std::move(status).error();
  if (!is_eal_running()) return Error{ErrorCode::kUnavailable, "a packet pool before DPDK was started"};
  rte_mempool* const packets =
      create_mempool("packets", options.buffers, kPrivateBytes, room_of(options.frame_bytes));
  rte_mempool* const headers =
      packets == nullptr ? nullptr : create_mempool("headers", options.headers, 0, kHeaderRoom);
  if (headers == nullptr) {
    const int reason = rte_errno;
    rte_mempool_free(packets);
    return Error{
        ErrorCode::kUnavailable,
        fmt::format("no memory for {} buffers of {} bytes and {} of headers: {}; raise memory_mb by {}{}",
                    options.buffers, options.frame_bytes, options.headers, rte_strerror(reason),
                    (memory_bytes(options) >> 20) + 1, take_dpdk_log())};
  }
  return std::unique_ptr<MbufPool>(new MbufPool(options, packets, headers));
}

MbufPool::MbufPool(const MbufPoolOptions& options, rte_mempool* mempool, rte_mempool* headers)
    : options_(options), mempool_(mempool), headers_(headers) {
  // Drivers size what they write by this.
  static_cast<rte_pktmbuf_pool_private*>(rte_mempool_get_priv(mempool))->mbuf_data_room_size =
      static_cast<std::uint16_t>(RTE_PKTMBUF_HEADROOM + options.frame_bytes);
  rte_mempool_obj_iter(mempool, prepare, this);
}

MbufPool::~MbufPool() {
  rte_mempool_free(headers_);
  rte_mempool_free(mempool_);
}

void MbufPool::prepare(rte_mempool*, void* pool, void* object, unsigned) {
  auto* const self = static_cast<MbufPool*>(pool);
  auto* const mbuf = static_cast<rte_mbuf*>(object);
  mbuf->buf_addr = static_cast<std::byte*>(mbuf->buf_addr) + kShift;
  rte_mbuf_iova_set(mbuf, rte_mbuf_iova_get(mbuf) + kShift);
  mbuf->buf_len = static_cast<std::uint16_t>(RTE_PKTMBUF_HEADROOM + self->frame_bytes());
  mbuf->data_off = RTE_PKTMBUF_HEADROOM;
  std::byte* const packet = static_cast<std::byte*>(mbuf->buf_addr) + RTE_PKTMBUF_HEADROOM + kFramingBytes;
  new (buffer_of(mbuf)) Buffer{packet, self->buffer_bytes(), 0, self};
}

Buffer* MbufPool::allocate() {
  rte_mbuf* const mbuf = rte_pktmbuf_alloc(mempool_);
  if (mbuf == nullptr) {
    empties_.fetch_add(1, std::memory_order_relaxed);
    high_water_.store(options_.buffers, std::memory_order_relaxed);
    return nullptr;
  }
  Buffer* const buffer = buffer_of(mbuf);
  buffer->references = 1;
  return buffer;
}

void MbufPool::recycle(Buffer* buffer) {
  CHECK(buffer->pool == this && buffer->references == 0);
  // If a frame with this payload is still on its way, the last such frame brings the mbuf back.
  rte_pktmbuf_free_seg(mbuf_of(buffer));
}

std::uint64_t MbufPool::in_use() const { return rte_mempool_in_use_count(mempool_); }

void MbufPool::sample() {
  raise(high_water_, in_use());
  raise(headers_high_water_, headers_in_use());
}

std::uint64_t MbufPool::memory_bytes(const MbufPoolOptions& options) {
  return mempool_bytes(options.buffers, kPrivateBytes + room_of(options.frame_bytes)) +
         mempool_bytes(options.headers, kHeaderRoom);
}

std::uint64_t MbufPool::headers_in_use() const { return rte_mempool_in_use_count(headers_); }

rte_mbuf* MbufPool::allocate_header() {
  rte_mbuf* const header = rte_pktmbuf_alloc(headers_);
  if (header == nullptr) {
    header_empties_.fetch_add(1, std::memory_order_relaxed);
    headers_high_water_.store(options_.headers, std::memory_order_relaxed);
  }
  return header;
}

rte_mbuf* MbufPool::mbuf_of(Buffer* buffer) { return reinterpret_cast<rte_mbuf*>(buffer) - 1; }

Buffer* MbufPool::buffer_of(rte_mbuf* mbuf) { return reinterpret_cast<Buffer*>(mbuf + 1); }

}  // namespace tombolo::dataplane
