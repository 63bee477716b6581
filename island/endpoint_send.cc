#include <algorithm>
#include <cstring>
#include <utility>

#include "base/serial.h"
#include "island/endpoint.h"
#include "protocol/wire/feedback.h"
#include "protocol/wire/hello.h"
#include "protocol/wire/packet.h"

namespace tombolo::island {
namespace {

constexpr Nanoseconds kJoinInterval = 50 * kMillisecond;

}  // namespace

/// Sends what grants and pace allow, the older round first. Returns when to go on.
Nanoseconds Endpoint::send_contributions(Nanoseconds now_ns) {
  for (const auto& operation : operations_) {
    // What is ready here may still be owed to others: they have slots later, or this island began late.
    if (operation->view == nullptr || operation->outcome.finished()) continue;
    pacer_.set_rate(operation->entry->stream_rate_bps * operation->entry->send_tree_count);
    while (pacer_.may_send(now_ns))
      if (!send_next(*operation, now_ns)) break;
    if (!pacer_.may_send(now_ns)) return pacer_.next_send_ns();
  }
  return kNever;  // A grant or an acknowledgement is what has to come.
}

/// Sends the lowest chunk that a grant covers, tree by tree; false if there is none.
bool Endpoint::send_next(Operation& operation, Nanoseconds now_ns) {
  const std::uint32_t round = operation.request.round;
  EpochView& view = *operation.view;
  std::uint64_t lowest = operation.chunks();
  std::size_t position = 0;
  std::uint16_t lane = 0;
  for (std::uint16_t candidate = 0; candidate < view.lane_count(); ++candidate) {
    const link::Peer& peer = peers_[candidate];
    if (!peer.up() || !peer.sender().has_room_for_data()) continue;
    for (std::size_t i = 0; i < operation.entry->send_tree_count; ++i) {
      const std::uint32_t index = operation.cursor(i, candidate);
      const std::uint64_t chunk = view.geometry(candidate).chunk_of(index);
      if (chunk >= lowest || chunk >= view.grants(candidate).granted(operation.entry->send_tree[i], round))
        continue;
      lowest = chunk;
      position = i;
      lane = candidate;
    }
  }
  if (lowest == operation.chunks()) return false;
  ++operation.cursor(position, lane);
  send_chunk(operation, position, lowest, now_ns);
  return true;
}

void Endpoint::send_chunk(Operation& operation, std::size_t position, std::uint64_t chunk,
                          Nanoseconds now_ns) {
  const Allreduce& request = operation.request;
  const std::byte* const payload = operation.input(chunk);
  const std::size_t bytes = encoded_bytes(request.format, operation.elements(chunk));
  wire::Header header = make_header(wire::Type::kContribution, operation.view->epoch());
  header.rank = config_.rank;
  header.tree = operation.entry->send_tree[position];
  header.round = request.round;
  header.chunk = static_cast<std::uint32_t>(chunk);
  header.specific = request.count;
  header.format = static_cast<std::uint8_t>(request.format);
  header.operation = static_cast<std::uint8_t>(request.operation);
  header.result_format = static_cast<std::uint8_t>(request.facts().result_format);
  wire::set_payload(header, std::span(payload, bytes));
  const auto lane = static_cast<std::uint16_t>(chunk % peers_.size());
  send_sequenced(lane, header, payload, static_cast<std::uint32_t>(bytes), now_ns);
  pacer_.on_sent(kFramingBytes + kHeaderBytes + bytes, now_ns);
  if (operation.outcome.first_send_ns == 0) operation.outcome.first_send_ns = now_ns;
  operation.outcome.payload_bytes_sent += bytes;
}

/// HELLOs, feedback and JOIN, where due. Returns when the next may be.
Nanoseconds Endpoint::speak(Nanoseconds now_ns) {
  Nanoseconds next_ns = kNever;
  for (std::uint16_t lane = 0; lane < peers_.size(); ++lane) {
    link::Peer& peer = peers_[lane];
    if (peer.expire(now_ns)) on_edge_silent(now_ns);
    if (peer.hello_due(now_ns)) send_hello(lane, now_ns);
    if (peer.feedback_due(now_ns)) send_feedback(lane, now_ns);
    next_ns = std::min(next_ns, peer.next_timer_ns());
  }
  const bool behind =
      announced_epoch_ != 0 && (!views_[0] || serial_before(views_[0]->epoch(), announced_epoch_));
  if (!behind || !peers_[0].up()) return next_ns;
  if (now_ns >= join_ns_) send_join(now_ns);
  return std::min(next_ns, join_ns_);
}

void Endpoint::send_hello(std::uint16_t lane, Nanoseconds now_ns) {
  wire::Header header = make_header(wire::Type::kHello, epoch());
  header.lane = lane;
  header.rank = config_.rank;
  if (views_[0]) header.round = views_[0]->first_round();
  std::array<std::byte, wire::kHelloBytes> body;
  wire::encode(peers_[lane].make_hello(now_ns), body);
  send_body(lane, header, body, now_ns);
}

void Endpoint::send_feedback(std::uint16_t lane, Nanoseconds now_ns) {
  wire::Feedback feedback;
  peers_[lane].make_feedback(feedback, now_ns);
  std::array<std::byte, wire::kMaxFeedbackBytes> body;
  const std::size_t bytes = wire::encode(feedback, body);
  wire::Header header = make_header(wire::Type::kFeedback, 0);
  header.rank = config_.rank;
  send_body(lane, header, std::span(body).first(bytes), now_ns);
}

void Endpoint::send_join(Nanoseconds now_ns) {
  const bool under_way = joining_ && joining_->epoch() == announced_epoch_;
  asked_entry_ = under_way ? joining_->next_missing() : 0;
  wire::Header header = make_header(wire::Type::kJoin, epoch());
  header.rank = config_.rank;
  header.chunk = asked_entry_;
  transmit(0, header, nullptr, 0, {}, now_ns);
  join_ns_ = now_ns + kJoinInterval;
}

void Endpoint::repair(std::uint16_t lane, std::span<const std::uint32_t> sequences, Nanoseconds now_ns) {
  for (const std::uint32_t sequence : sequences) {
    link::Sender::Entry* const kept = peers_[lane].sender().find(sequence);
    if (kept == nullptr) continue;
    wire::Header header = kept->header;
    header.flags = wire::kFlagRepair;
    transmit(lane, header, kept->payload, kept->payload_bytes, {}, now_ns);
    counters_.repairs_sent.add();
  }
}

wire::Header Endpoint::make_header(wire::Type type, std::uint32_t epoch) const {
  wire::Header header;
  header.type = static_cast<std::uint8_t>(type);
  header.job = config_.job;
  header.epoch = epoch;
  return header;
}

/// Numbers, keeps and sends; false when the edge is down or the link has no room at all.
bool Endpoint::send_sequenced(std::uint16_t lane, wire::Header& header, const std::byte* payload,
                              std::uint32_t payload_bytes, Nanoseconds now_ns) {
  link::Peer& peer = peers_[lane];
  header.lane = lane;
  if (!peer.up() || !peer.sender().has_room_for_control()) {
    counters_.drops.add(peer.up() ? DropReason::kLinkWindowFull : DropReason::kPeerDown);
    return false;
  }
  peer.sender().keep(header, payload, payload_bytes, {}, now_ns);
  transmit(lane, header, payload, payload_bytes, {}, now_ns);
  return true;
}

/// Sends a body that is not kept: it is repeated when it is needed again.
void Endpoint::send_body(std::uint16_t lane, wire::Header& header, std::span<const std::byte> body,
                         Nanoseconds now_ns) {
  BufferRef buffer = BufferRef::adopt(pool_.allocate());
  if (!buffer) {
    counters_.drops.add(DropReason::kNoBuffer);
    return;
  }
  std::byte* const payload = buffer.data() + kHeaderBytes;
  std::memcpy(payload, body.data(), body.size());
  wire::set_payload(header, body);
  transmit(lane, header, payload, static_cast<std::uint32_t>(body.size()), std::move(buffer), now_ns);
}

void Endpoint::transmit(std::uint16_t lane, wire::Header& header, const std::byte* payload,
                        std::uint32_t payload_bytes, BufferRef keep, Nanoseconds now_ns) {
  header.lane = lane;
  header.session = config_.session;
  header.timestamp_us = link::timestamp_us(now_ns);
  wire::seal(header);
  TxPacket& packet = burst_[burst_count_++];
  packet.to = config_.edge;
  packet.lane = lane;
  std::memcpy(packet.header.data(), &header, sizeof header);
  packet.payload = payload;
  packet.payload_bytes = payload_bytes;
  packet.keep = std::move(keep);
  if (burst_count_ == burst_.size()) flush(now_ns);
}

void Endpoint::flush(Nanoseconds now_ns) {
  if (burst_count_ == 0) return;
  const std::size_t sent = port_.transmit(0, std::span(burst_.data(), burst_count_), now_ns);
  counters_.drops.add(DropReason::kPortFull, burst_count_ - sent);
  for (std::size_t i = 0; i < burst_count_; ++i) burst_[i].keep.reset();
  burst_count_ = 0;
}

}  // namespace tombolo::island
