#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "dataplane/port/dpdk/dpdk_port.h"

namespace tombolo::dataplane {
namespace {

std::span<const std::byte> bytes_of(const rte_mbuf* frame) {
  return {rte_pktmbuf_mtod(frame, const std::byte*), rte_pktmbuf_data_len(frame)};
}

}  // namespace

std::size_t DpdkPort::receive(std::uint32_t index, std::span<RxPacket> out, Nanoseconds now_ns) {
  Queue& queue = queues_[index];
  if (tx_link_ != nullptr) release(queue, now_ns);
  if (index == 0) control_turn(now_ns);
  std::array<rte_mbuf*, kBurst> frames;
  const std::size_t most = std::min(out.size(), frames.size());
  const std::size_t count = arrivals(queue, std::span(frames).first(most), now_ns);
  queue.has_more = count == most;
  // Each frame's framing and our header behind it: the packets before it hide the way from memory.
  for (std::size_t i = 0; i < count; ++i) {
    rte_prefetch0(rte_pktmbuf_mtod(frames[i], const void*));
    rte_prefetch0(rte_pktmbuf_mtod_offset(frames[i], const void*, kFramingBytes));
  }
  std::size_t received = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (take_in(queue, frames[i], out[received], now_ns)) ++received;
  return received;
}

/// A burst from the device, or what the emulated link brings by now.
std::size_t DpdkPort::arrivals(Queue& queue, std::span<rte_mbuf*> frames, Nanoseconds now_ns) {
  const auto most = static_cast<std::uint16_t>(frames.size());
  if (rx_link_ == nullptr) return device_.receive(queue.index, frames.data(), most);
  std::array<rte_mbuf*, kBurst> fresh;
  const std::size_t count =
      device_.receive(queue.index, fresh.data(), static_cast<std::uint16_t>(fresh.size()));
  for (std::size_t i = 0; i < count; ++i)
    if (!rx_link_->offer(queue.index, fresh[i], now_ns)) queue.counters.drops.add(FrameDrop::kHeldFull);
  return rx_link_->take(queue.index, frames, now_ns);
}

/// Takes the frame; true if it is a packet, which is then in `out`.
bool DpdkPort::take_in(Queue& queue, rte_mbuf* frame, RxPacket& out, Nanoseconds now_ns) {
  queue.counters.rx_frames.add();
  if ((frame->ol_flags & (RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED)) != 0) {
    drop(queue, frame, FrameDrop::kVlan);
    return false;
  }
  if (!is_native(frame)) frame = copy_in(queue, frame);
  if (frame == nullptr) return false;
  const ParsedFrame parsed = parse_frame(bytes_of(frame), filter_);
  switch (parsed.kind) {
    case ParsedFrame::Kind::kDropped:
      drop(queue, frame, parsed.drop);
      return false;
    case ParsedFrame::Kind::kArp:
    case ParsedFrame::Kind::kEcho:
      take_control(queue, frame, parsed, now_ns);
      return false;
    case ParsedFrame::Kind::kData:
      break;
  }
  queue.counters.rx_packets.add();
  queue.counters.rx_bytes.add(kFramingBytes + parsed.payload_bytes);
  Buffer* const buffer = MbufPool::buffer_of(frame);
  buffer->references = 1;
  out.from = parsed.from;
  out.lane = parsed.lane;
  out.bytes = parsed.payload_bytes;
  out.buffer = BufferRef::adopt(buffer);
  return true;
}

/// Whether the frame lies in one piece where a Buffer of our pool has its bytes, and is nobody else's.
bool DpdkPort::is_native(const rte_mbuf* frame) const {
  return frame->pool == pool_.mempool() && frame->nb_segs == 1 && frame->data_off == RTE_PKTMBUF_HEADROOM &&
         RTE_MBUF_DIRECT(frame) && rte_mbuf_refcnt_read(frame) == 1;
}

/// The same frame in a buffer of our pool; nullptr, and counted, when there is no room.
rte_mbuf* DpdkPort::copy_in(Queue& queue, rte_mbuf* frame) {
  if (rte_pktmbuf_pkt_len(frame) > pool_.frame_bytes()) {
    drop(queue, frame, FrameDrop::kRxTooLarge);
    return nullptr;
  }
  Buffer* const buffer = pool_.allocate();
  if (buffer == nullptr) {
    drop(queue, frame, FrameDrop::kNoBuffer);
    return nullptr;
  }
  rte_mbuf* const copy = MbufPool::mbuf_of(buffer);
  std::byte* to = rte_pktmbuf_mtod(copy, std::byte*);
  std::uint32_t room = pool_.frame_bytes();
  for (const rte_mbuf* piece = frame; piece != nullptr; piece = piece->next) {
    // Bounded by the buffer even if a driver's lengths do not add up.
    const std::uint32_t bytes = std::min<std::uint32_t>(rte_pktmbuf_data_len(piece), room);
    std::memcpy(to, rte_pktmbuf_mtod(piece, const std::byte*), bytes);
    to += bytes;
    room -= bytes;
  }
  copy->data_len = static_cast<std::uint16_t>(pool_.frame_bytes() - room);
  copy->pkt_len = copy->data_len;
  queue.counters.rx_copies.add();
  rte_pktmbuf_free(frame);
  return copy;
}

void DpdkPort::drop(Queue& queue, rte_mbuf* frame, FrameDrop reason) {
  queue.counters.drops.add(reason);
  rte_pktmbuf_free(frame);
}

}  // namespace tombolo::dataplane
