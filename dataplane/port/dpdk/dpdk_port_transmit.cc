#include <rte_mbuf.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/check.h"
#include "dataplane/port/dpdk/dpdk_port.h"

namespace tombolo::dataplane {
namespace {

/// Bursts of held frames that leave per call at most; the next call takes the rest.
constexpr int kMaxReleases = 8;

std::uint32_t frame_bytes(const TxPacket& packet) {
  return kFramingBytes + kHeaderBytes + packet.payload_bytes;
}

/// Whether the packet could not be built for want of a buffer: it stays with the caller, and so do all behind
/// it.
bool is_shortage(FrameDrop reason) {
  return reason == FrameDrop::kNoHeaderBuffer || reason == FrameDrop::kNoBuffer;
}

}  // namespace

std::size_t DpdkPort::transmit(std::uint32_t index, std::span<TxPacket> packets, Nanoseconds now_ns) {
  CHECK(index < queues_.size());
  Queue& queue = queues_[index];
  std::size_t gone = 0;
  while (gone < packets.size()) {
    const std::span burst = packets.subspan(gone, std::min(kBurst, packets.size() - gone));
    const std::size_t count = transmit_burst(queue, burst, now_ns);
    gone += count;
    if (count < burst.size()) break;
  }
  // With a perfect link a frame leaves in the call that sends it.
  if (tx_link_ != nullptr) release(queue, now_ns);
  return gone;
}

std::size_t DpdkPort::transmit_burst(Queue& queue, std::span<TxPacket> packets, Nanoseconds now_ns) {
  std::array<rte_mbuf*, kBurst> frames;
  std::array<std::uint8_t, kBurst> origin;  // Of each frame, in `packets`.
  std::array<FrameDrop, kBurst> outcome;    // Of each packet.
  std::size_t built = 0, seen = 0;
  FrameDrop refusal = FrameDrop::kTxFull;
  NeighbourTable::Route route;
  for (; seen < packets.size(); ++seen) {
    // Most go where the one before went.
    const std::uint32_t to = packets[seen].to.ipv4;
    if (seen == 0 || to != packets[seen - 1].to.ipv4) route = neighbours_->route(to);
    outcome[seen] = prepare(queue, packets[seen], route, frames[built]);
    if (is_shortage(outcome[seen])) {
      refusal = outcome[seen];
      break;
    }
    if (outcome[seen] == FrameDrop::kNone) origin[built++] = static_cast<std::uint8_t>(seen);
  }
  // Most drivers give headers back within their call, so only here are those of a burst seen to be out.
  if (built > 0 && now_ns >= queue.sample_ns) {
    pool_.sample();
    queue.sample_ns = now_ns + kSampleInterval;
  }
  const std::size_t sent = hand_over(queue, std::span(frames).first(built), now_ns);
  if (sent < built) refusal = FrameDrop::kTxFull;
  const std::size_t gone = sent < built ? origin[sent] : seen;
  for (std::size_t i = 0; i < gone; ++i) {
    if (outcome[i] != FrameDrop::kNone) {
      queue.counters.drops.add(outcome[i]);
      continue;
    }
    queue.counters.tx_packets.add();
    queue.counters.tx_bytes.add(frame_bytes(packets[i]));
  }
  if (gone < packets.size()) queue.counters.drops.add(refusal, packets.size() - gone);
  return gone;
}

/// Makes the frame of a packet, or says why there is none.
FrameDrop DpdkPort::prepare(Queue& queue, TxPacket& packet, const NeighbourTable::Route& route,
                            rte_mbuf*& frame) {
  if (route.drop != FrameDrop::kNone) return route.drop;
  if (frame_bytes(packet) > config_.mtu + kEthernetBytes) return FrameDrop::kTxTooLarge;
  Framing framing;
  framing.to_mac = route.mac;
  framing.from_mac = filter_.mac;
  framing.from_ipv4 = config_.address.ipv4;
  framing.to_ipv4 = route.to_ipv4;
  framing.from_port = static_cast<std::uint16_t>(config_.address.base_port + packet.lane);
  framing.to_port = static_cast<std::uint16_t>(packet.to.base_port + packet.lane);
  if (packet.payload_bytes == 0) return chain(packet, framing, nullptr, frame);
  if (rte_mbuf* const payload = shareable(packet); payload != nullptr)
    return chain(packet, framing, payload, frame);
  const FrameDrop outcome = flatten(packet, framing, frame);
  if (outcome == FrameDrop::kNone) queue.counters.tx_copies.add();
  return outcome;
}

/// The payload's mbuf, if it can be a piece of a frame: it is ours, the device takes pieces, and no frame
/// that is on its way shows another part of the same mbuf.
rte_mbuf* DpdkPort::shareable(const TxPacket& packet) const {
  const Buffer* const buffer = packet.keep.get();
  if (!device_.takes_chains() || buffer == nullptr || buffer->pool != &pool_) return nullptr;
  // The buffer itself is not changed; its mbuf's description of it may be.
  rte_mbuf* const mbuf = MbufPool::mbuf_of(const_cast<Buffer*>(buffer));
  const auto* const start = static_cast<const std::byte*>(mbuf->buf_addr);
  if (packet.payload < start || packet.payload + packet.payload_bytes > start + mbuf->buf_len) return nullptr;
  const auto offset = static_cast<std::uint16_t>(packet.payload - start);
  if (rte_mbuf_refcnt_read(mbuf) == 1) {
    mbuf->data_off = offset;
    mbuf->data_len = static_cast<std::uint16_t>(packet.payload_bytes);
    mbuf->pkt_len = packet.payload_bytes;
    return mbuf;
  }
  return mbuf->data_off == offset && mbuf->data_len == packet.payload_bytes ? mbuf : nullptr;
}

/// A header buffer, with the shared payload behind it if there is any.
FrameDrop DpdkPort::chain(const TxPacket& packet, const Framing& framing, rte_mbuf* payload,
                          rte_mbuf*& frame) {
  frame = pool_.allocate_header();
  if (frame == nullptr) return FrameDrop::kNoHeaderBuffer;
  auto* const bytes = rte_pktmbuf_mtod(frame, std::byte*);
  write_framing(bytes, framing, kHeaderBytes + packet.payload_bytes);
  std::memcpy(bytes + kFramingBytes, packet.header.data(), kHeaderBytes);
  frame->data_len = kFramingBytes + kHeaderBytes;
  frame->pkt_len = frame_bytes(packet);
  if (payload == nullptr) return FrameDrop::kNone;
  rte_mbuf_refcnt_update(payload, 1);
  frame->next = payload;
  frame->nb_segs = 2;
  return FrameDrop::kNone;
}

/// The whole frame in one fresh buffer.
FrameDrop DpdkPort::flatten(const TxPacket& packet, const Framing& framing, rte_mbuf*& frame) {
  if (frame_bytes(packet) > pool_.frame_bytes()) return FrameDrop::kTxTooLarge;
  Buffer* const buffer = pool_.allocate();
  if (buffer == nullptr) return FrameDrop::kNoBuffer;
  frame = MbufPool::mbuf_of(buffer);
  auto* const bytes = rte_pktmbuf_mtod(frame, std::byte*);
  write_framing(bytes, framing, kHeaderBytes + packet.payload_bytes);
  std::memcpy(buffer->data, packet.header.data(), kHeaderBytes);
  std::memcpy(buffer->data + kHeaderBytes, packet.payload, packet.payload_bytes);
  frame->data_len = static_cast<std::uint16_t>(frame_bytes(packet));
  frame->pkt_len = frame->data_len;
  return FrameDrop::kNone;
}

/// Gives frames to the device or to the emulated link; returns how many are gone. The rest is freed.
std::size_t DpdkPort::hand_over(Queue& queue, std::span<rte_mbuf*> frames, Nanoseconds now_ns) {
  if (tx_link_ != nullptr) {
    for (rte_mbuf* const frame : frames)
      if (!tx_link_->offer(queue.index, frame, now_ns)) queue.counters.drops.add(FrameDrop::kHeldFull);
    return frames.size();
  }
  if (frames.empty()) return 0;
  const std::size_t sent =
      device_.transmit(queue.index, frames.data(), static_cast<std::uint16_t>(frames.size()));
  for (rte_mbuf* const frame : frames.subspan(sent)) rte_pktmbuf_free(frame);
  return sent;
}

/// Lets go what has passed the emulated link. What the device has no room for then is lost, as on a real one.
void DpdkPort::release(Queue& queue, Nanoseconds now_ns) {
  std::array<rte_mbuf*, kBurst> frames;
  for (int round = 0; round < kMaxReleases; ++round) {
    const std::size_t count = tx_link_->take(queue.index, frames, now_ns);
    if (count == 0) return;
    const std::size_t sent = device_.transmit(queue.index, frames.data(), static_cast<std::uint16_t>(count));
    if (sent == count) continue;
    queue.counters.drops.add(FrameDrop::kTxFull, count - sent);
    for (std::size_t i = sent; i < count; ++i) rte_pktmbuf_free(frames[i]);
  }
}

}  // namespace tombolo::dataplane
