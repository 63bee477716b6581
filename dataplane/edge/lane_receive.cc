#include "base/serial.h"
#include "dataplane/edge/lane.h"
#include "protocol/wire/config.h"
#include "protocol/wire/feedback.h"
#include "protocol/wire/hello.h"
#include "protocol/wire/packet.h"

namespace tombolo::dataplane {
void Lane::receive(RxPacket& packet, Nanoseconds now_ns) {
  counters_.packets_in.add();
  changed_ = true;
  const DropReason reason = handle(packet, now_ns);
  if (reason != DropReason::kNone) counters_.drops.add(reason);
}

DropReason Lane::handle(RxPacket& packet, Nanoseconds now_ns) {
  const std::span<const std::byte> bytes(packet.buffer.data(), packet.bytes);
  if (const DropReason reason = wire::validate(bytes); reason != DropReason::kNone) return reason;
  const wire::Header header = wire::read_header(bytes);
  const int found = find_link(packet.from);
  if (found < 0) return DropReason::kUnknownSender;
  const auto link = static_cast<std::uint8_t>(found);
  peer_counters_[link].rx_packets.add();
  peer_counters_[link].rx_bytes.add(packet.bytes);
  touched_links_ |= std::uint64_t{1} << link;
  if (header.job != config_.job) return DropReason::kUnknownJob;
  if (header.lane != config_.lane || packet.lane != config_.lane) return DropReason::kWrongLane;
  const std::span<const std::byte> payload = wire::payload_of(bytes);
  if (header.packet_type() == wire::Type::kHello) return on_hello(header, payload, link, now_ns);
  if (const DropReason reason = links_[link].peer.admit(header, now_ns); reason != DropReason::kNone)
    return reason;
  if (wire::is_sequenced(header.packet_type())) return handle_sequenced(header, packet, link, now_ns);
  switch (header.packet_type()) {
    case wire::Type::kFeedback:
      return on_feedback(payload, link, now_ns);
    case wire::Type::kJoin:
      return on_join(header, link, now_ns);
    default:
      return DropReason::kUnsupportedType;
  }
}

DropReason Lane::handle_sequenced(const wire::Header& header, RxPacket& packet, std::uint8_t link,
                                  Nanoseconds now_ns) {
  link::Receiver& receiver = links_[link].peer.receiver();
  if (const DropReason reason = receiver.check(header.link_sequence); reason != DropReason::kNone)
    return reason;
  DropReason reason = DropReason::kUnsupportedType;
  switch (header.packet_type()) {
    case wire::Type::kContribution:
    case wire::Type::kPartial:
      reason = on_contribution(header, packet, link, now_ns);
      break;
    case wire::Type::kResult:
      reason = on_result(header, packet, link, now_ns);
      break;
    case wire::Type::kGrant:
      reason = on_grant(header, link);
      break;
    case wire::Type::kRoundEnd:
      reason = on_round_end(header, link, now_ns);
      break;
    default:
      break;
  }
  if (!comes_again(reason, header)) receiver.mark(header.link_sequence);
  return reason;
}

DropReason Lane::on_hello(const wire::Header& header, std::span<const std::byte> payload, std::uint8_t link,
                          Nanoseconds now_ns) {
  wire::Hello hello;
  if (!wire::parse(payload, hello)) return DropReason::kBadField;
  Link& from = links_[link];
  const auto outcome = from.peer.on_hello(header, hello, now_ns);
  if (outcome.refused != DropReason::kNone) return outcome.refused;
  if (outcome.became_up) tell_grants_again(link);
  const std::uint32_t newest = epochs_[0] ? epochs_[0]->table->epoch : 0;
  if (!from.config.is_island && header.epoch != 0 && serial_before(newest, header.epoch))
    counters_.peer_commit.set(std::uint64_t{header.round} << 32 | header.epoch);
  return DropReason::kNone;
}

DropReason Lane::on_feedback(std::span<const std::byte> payload, std::uint8_t link, Nanoseconds now_ns) {
  wire::Feedback feedback;
  if (!wire::parse(payload, feedback)) return DropReason::kBadField;
  Repairs repairs;
  const std::size_t count = links_[link].peer.on_feedback(feedback, now_ns, repairs);
  repair(link, std::span(repairs.data(), count), now_ns);
  return DropReason::kNone;
}

DropReason Lane::on_join(const wire::Header& header, std::uint8_t link, Nanoseconds now_ns) {
  if (!epochs_[0]) return DropReason::kUnknownEpoch;
  const LaneEpoch& epoch = *epochs_[0];
  for (std::size_t island = 0; island < epoch.table->islands.size(); ++island) {
    if (epoch.table->islands[island].link != link) continue;
    if (epoch.table->islands[island].rank != header.rank) return DropReason::kWrongRank;
    if (header.epoch == epoch.table->epoch) return DropReason::kNone;
    for (std::uint32_t i = 0; i < wire::kConfigsPerAnswer && header.chunk + i < epoch.table->period; ++i)
      send_config(link, epoch, island, header.chunk + i, now_ns);
    return DropReason::kNone;
  }
  return DropReason::kWrongRank;  // Only an island that takes part in the epoch is configured.
}

/// Dropped now, but right a moment later: not marked as arrived, so the previous hop repeats it.
bool Lane::comes_again(DropReason reason, const wire::Header& header) const {
  if (reason == DropReason::kUnknownEpoch)
    return !epochs_[0] || serial_before(epochs_[0]->table->epoch, header.epoch);
  return reason == DropReason::kNoBuffer || reason == DropReason::kLinkWindowFull;
}

int Lane::find_link(const Address& from) const {
  for (std::size_t i = 0; i < links_.size(); ++i)
    if (links_[i].config.address == from) return static_cast<int>(i);
  return -1;
}

LaneEpoch* Lane::find_epoch(std::uint32_t epoch) {
  for (const auto& live : epochs_)
    if (live && live->table->epoch == epoch) return live.get();
  return nullptr;
}

}  // namespace tombolo::dataplane
