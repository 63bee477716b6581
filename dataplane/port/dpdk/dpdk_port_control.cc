#include <rte_mbuf.h>
#include <rte_ring.h>

#include <algorithm>
#include <array>

#include "dataplane/port/dpdk/dpdk_port.h"

namespace tombolo::dataplane {
namespace {

constexpr std::uint32_t kEchoPerCall = kBurst;
constexpr std::size_t kAsksPerCall = 4;

std::span<std::byte> bytes_of(rte_mbuf* frame) {
  return {rte_pktmbuf_mtod(frame, std::byte*), rte_pktmbuf_data_len(frame)};
}

}  // namespace

/// What queue 0's worker does beside packets; bounded, whatever arrives.
void DpdkPort::control_turn(Nanoseconds now_ns) {
  arp_budget_ = kArpPerCall;
  echo_budget_ = kEchoPerCall;
  if (control_ring_ != nullptr) {
    std::array<void*, kBurst> frames;
    const unsigned count = rte_ring_sc_dequeue_burst(control_ring_, frames.data(), kBurst, nullptr);
    for (unsigned i = 0; i < count; ++i) {
      auto* const frame = static_cast<rte_mbuf*>(frames[i]);
      take_control(queues_[0], frame, parse_frame(bytes_of(frame), filter_), now_ns);
    }
  }
  ask_neighbours(now_ns);
  send_probes(now_ns);
  if (now_ns >= sample_ns_) {
    pool_.sample();
    sample_ns_ = now_ns + kSampleInterval;
  }
}

/// ARP or ICMP echo: handled here, or handed to the worker of queue 0.
void DpdkPort::take_control(Queue& queue, rte_mbuf* frame, const ParsedFrame& parsed, Nanoseconds now_ns) {
  if (queue.index != 0) {
    if (rte_ring_mp_enqueue(control_ring_, frame) != 0) drop(queue, frame, FrameDrop::kControlLimit);
    return;
  }
  if (parsed.kind == ParsedFrame::Kind::kArp)
    handle_arp(frame, now_ns);
  else
    handle_echo(frame, now_ns);
}

void DpdkPort::handle_arp(rte_mbuf* frame, Nanoseconds now_ns) {
  Queue& queue = queues_[0];
  const std::uint32_t own = config_.address.ipv4;
  const auto message = parse_arp(bytes_of(frame));
  const bool is_ours = message && message->sender_ipv4 != own &&
                       (message->target_ipv4 == own || message->target_ipv4 == message->sender_ipv4);
  const bool is_known = is_ours && neighbours_->learn(message->sender_ipv4, message->sender_mac, now_ns);
  const bool is_question =
      is_ours && message->operation == ArpMessage::kRequest && message->target_ipv4 == own;
  if (!is_known && !is_question) return drop(queue, frame, FrameDrop::kArpOther);
  if (is_question && arp_budget_ == 0) return drop(queue, frame, FrameDrop::kControlLimit);
  queue.counters.arp_received.add();
  rte_pktmbuf_free(frame);
  if (!is_question) return;
  --arp_budget_;
  const ArpMessage answer{ArpMessage::kReply, filter_.mac, own, message->sender_mac, message->sender_ipv4};
  if (send_arp(answer, now_ns)) queue.counters.arp_answers.add();
}

void DpdkPort::handle_echo(rte_mbuf* frame, Nanoseconds now_ns) {
  Queue& queue = queues_[0];
  const EchoFields echo = read_echo(bytes_of(frame));
  if (echo.is_request && echo_budget_ == 0) return drop(queue, frame, FrameDrop::kControlLimit);
  if (!echo.is_request && !probe_.on_reply(echo.from_ipv4, echo.identifier, echo.sequence, now_ns))
    return drop(queue, frame, FrameDrop::kIcmpOther);
  queue.counters.echo_received.add();
  if (!echo.is_request) return rte_pktmbuf_free(frame);
  --echo_budget_;
  // The answer is the question, turned round in its own buffer.
  turn_into_echo_reply(bytes_of(frame), filter_.mac);
  if (send_control(frame, now_ns)) queue.counters.echo_answers.add();
}

void DpdkPort::ask_neighbours(Nanoseconds now_ns) {
  std::array<std::uint32_t, kAsksPerCall> wanted;
  const std::size_t count = neighbours_->due(now_ns, wanted);
  for (std::size_t i = 0; i < count; ++i) {
    const ArpMessage question{ArpMessage::kRequest, filter_.mac, config_.address.ipv4, 0, wanted[i]};
    if (send_arp(question, now_ns)) queues_[0].counters.arp_asks.add();
  }
}

void DpdkPort::send_probes(Nanoseconds now_ns) {
  const LinkProbe::Due due = probe_.due(now_ns);
  if (due.count == 0) return;
  const ProbeRequest& request = probe_.request();
  const NeighbourTable::Route route = neighbours_->direct_route(request.neighbour);
  std::uint32_t sent = 0;
  while (route.drop == FrameDrop::kNone && sent < due.count) {
    Buffer* const buffer = pool_.allocate();
    if (buffer == nullptr) break;
    rte_mbuf* const frame = MbufPool::mbuf_of(buffer);
    frame->data_len = static_cast<std::uint16_t>(request.frame_bytes);
    frame->pkt_len = request.frame_bytes;
    EchoRequest echo{route.mac, filter_.mac, config_.address.ipv4, route.to_ipv4, due.identifier, 0};
    echo.sequence = static_cast<std::uint16_t>(due.first_sequence + sent);
    write_echo_request(bytes_of(frame), echo);
    if (!send_control(frame, now_ns)) break;
    ++sent;
  }
  queues_[0].counters.echo_asks.add(sent);
  probe_.on_sent(sent, now_ns);
}

bool DpdkPort::send_arp(const ArpMessage& message, Nanoseconds now_ns) {
  rte_mbuf* const frame = pool_.allocate_header();
  if (frame == nullptr) {
    queues_[0].counters.drops.add(FrameDrop::kNoHeaderBuffer);
    return false;
  }
  write_arp(rte_pktmbuf_mtod(frame, std::byte*), message);
  frame->data_len = kArpFrameBytes;
  frame->pkt_len = kArpFrameBytes;
  return send_control(frame, now_ns);
}

/// Takes the frame; false, and counted, if it could not leave.
bool DpdkPort::send_control(rte_mbuf* frame, Nanoseconds now_ns) {
  if (hand_over(queues_[0], std::span(&frame, 1), now_ns) == 1) return true;
  queues_[0].counters.drops.add(FrameDrop::kTxFull);
  return false;
}

}  // namespace tombolo::dataplane
