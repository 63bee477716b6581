#include <array>
#include <cstring>
#include <utility>

#include "dataplane/edge/lane.h"
#include "protocol/wire/config.h"
#include "protocol/wire/feedback.h"
#include "protocol/wire/hello.h"
#include "protocol/wire/packet.h"

namespace tombolo::dataplane {

wire::Header Lane::make_header(wire::Type type, const LaneEpoch* epoch) const {
  wire::Header header;
  header.type = static_cast<std::uint8_t>(type);
  header.job = config_.job;
  header.lane = config_.lane;
  if (epoch != nullptr) header.epoch = epoch->table->epoch;
  return header;
}

/// Numbers the packet, keeps it until it is acknowledged, and sends it. To a peer that is down nothing is
/// sent: its rounds end by their deadline, and its grants are told again when it comes up.
void Lane::send_sequenced(std::uint8_t link, wire::Header& header, const std::byte* payload,
                          std::uint32_t payload_bytes, BufferRef keep, Nanoseconds now_ns) {
  link::Peer& peer = links_[link].peer;
  if (!peer.up()) {
    counters_.drops.add(DropReason::kPeerDown);
    return;
  }
  if (!peer.sender().has_room_for_control()) {
    counters_.drops.add(DropReason::kLinkWindowFull);
    return;
  }
  const BufferRef in_flight = keep.share();
  peer.sender().keep(header, payload, payload_bytes, std::move(keep), now_ns);
  transmit(link, header, payload, payload_bytes, in_flight, now_ns);
}

void Lane::send_header(std::uint8_t link, wire::Header& header, Nanoseconds now_ns) {
  transmit(link, header, nullptr, 0, {}, now_ns);
}

/// Sends a body that is not kept: it is repeated when it is needed again. False when there is no buffer.
bool Lane::send_body(std::uint8_t link, wire::Header& header, std::span<const std::byte> body,
                     Nanoseconds now_ns) {
  const BufferRef buffer = BufferRef::adopt(pool_.allocate());
  if (!buffer) {
    counters_.drops.add(DropReason::kNoBuffer);
    return false;
  }
  std::byte* const payload = buffer.data() + kHeaderBytes;
  std::memcpy(payload, body.data(), body.size());
  wire::set_payload(header, body);
  transmit(link, header, payload, static_cast<std::uint32_t>(body.size()), buffer, now_ns);
  return true;
}

void Lane::send_hello(std::uint8_t link, Nanoseconds now_ns) {
  wire::Header header = make_header(wire::Type::kHello, epochs_[0].get());
  if (epochs_[0]) header.round = epochs_[0]->first_round;
  std::array<std::byte, wire::kHelloBytes> body;
  wire::encode(links_[link].peer.make_hello(now_ns), body);
  send_body(link, header, body, now_ns);
}

void Lane::send_feedback(std::uint8_t link, Nanoseconds now_ns) {
  wire::Feedback feedback;
  links_[link].peer.make_feedback(feedback, now_ns);
  std::array<std::byte, wire::kMaxFeedbackBytes> body;
  const std::size_t bytes = wire::encode(feedback, body);
  wire::Header header = make_header(wire::Type::kFeedback, nullptr);
  send_body(link, header, std::span(body).first(bytes), now_ns);
}

void Lane::send_config(std::uint8_t link, const LaneEpoch& epoch, std::size_t island, std::uint32_t entry,
                       Nanoseconds now_ns) {
  const EpochTable& table = *epoch.table;
  const LocalIsland& local = table.islands[island];
  const aggregation::MemberEntry& member = local.members[entry];
  const SendEntry& send = local.sends[entry];
  wire::Config config;
  config.entry = entry;
  config.entries = table.period;
  config.first_round = epoch.first_round;
  config.chunk_elements = table.chunk_elements;
  config.lane_count = table.lane_count;
  config.edge_aggregation = table.edge_aggregation;
  config.deadline_ns = table.deadline_ns;
  config.max_payload_bytes = static_cast<std::uint16_t>(table.max_payload_bytes);
  config.non_finite = table.non_finite;
  if (member.members != 0) {
    config.has_weights = member.has_weights;
    config.weight = member.weights;
    config.self = member.self;
    config.members = member.members;
    config.stream_rate_bps = send.stream_rate_bps;
    config.window_chunks = member.window_chunks;
    config.rank = member.ranks;
    config.receive_tree = member.receive_trees;
    config.send_tree_count = static_cast<std::uint8_t>(send.send_trees.size());
    for (std::size_t i = 0; i < send.send_trees.size(); ++i) config.send_tree[i] = send.send_trees[i];
  }
  std::array<std::byte, wire::kMaxConfigBytes> body;
  const std::size_t bytes = wire::encode(config, body);
  wire::Header header = make_header(wire::Type::kConfig, &epoch);
  header.rank = local.rank;
  send_body(link, header, std::span(body).first(bytes), now_ns);
}

void Lane::repair(std::uint8_t link, std::span<const std::uint32_t> sequences, Nanoseconds now_ns) {
  for (const std::uint32_t sequence : sequences) {
    link::Sender::Entry* const kept = links_[link].peer.sender().find(sequence);
    if (kept == nullptr) continue;
    wire::Header header = kept->header;
    header.flags = wire::kFlagRepair;
    transmit(link, header, kept->payload, kept->payload_bytes, kept->keep, now_ns);
    counters_.repairs_sent.add();
    peer_counters_[link].repairs_sent.add();
  }
}

/// Puts on what is new for each copy and each hop, and hands the packet to the port.
void Lane::transmit(std::uint8_t link, wire::Header& header, const std::byte* payload,
                    std::uint32_t payload_bytes, const BufferRef& keep, Nanoseconds now_ns) {
  const EdgeLink& to = links_[link].config;
  header.session = config_.session;
  header.timestamp_us = link::timestamp_us(now_ns);
  TxPacket& packet = transmitters_[to.port]->next(now_ns);
  packet.to = to.address;
  packet.lane = config_.lane;
  wire::seal(header, packet.header);
  packet.payload = payload;
  packet.payload_bytes = payload_bytes;
  packet.keep = keep.share();
  peer_counters_[link].tx_packets.add();
  peer_counters_[link].tx_bytes.add(kHeaderBytes + payload_bytes);
  touched_links_ |= std::uint64_t{1} << link;
}

}  // namespace tombolo::dataplane
