#include <bit>
#include <utility>

#include "dataplane/edge/lane.h"
#include "protocol/wire/packet.h"

namespace tombolo::dataplane {

using aggregation::Admitted;
using aggregation::OpenRound;

DropReason Lane::on_contribution(const wire::Header& header, RxPacket& packet, std::uint8_t link,
                                 Nanoseconds now_ns) {
  LaneEpoch* const epoch = find_epoch(header.epoch);
  if (epoch == nullptr) return DropReason::kUnknownEpoch;
  const multicast::Branch* const branch = epoch->table->forwarding.find(header.tree);
  if (branch == nullptr) return DropReason::kUnknownTree;
  if (const DropReason reason = check_contribution(header, *epoch, *branch, link);
      reason != DropReason::kNone)
    return reason;
  if (const DropReason reason = reserve(*branch, *epoch); reason != DropReason::kNone) return reason;
  if (const DropReason reason = fold_locally(header, packet, *epoch, *branch, now_ns);
      reason != DropReason::kNone)
    return reason;
  forward(header, packet, *branch, now_ns);
  epoch->last_used_ns = now_ns;
  counters_.contributions.add();
  return DropReason::kNone;
}

/// One table decides about a packet: that of the epoch which it names (invariant I3). The grant is checked at
/// every hop, so a sender beyond it harms nobody.
DropReason Lane::check_contribution(const wire::Header& header, LaneEpoch& epoch,
                                    const multicast::Branch& branch, std::uint8_t link) const {
  if (branch.starts_here() || branch.parent_link != link) return DropReason::kWrongLink;
  if (const DropReason reason = check_traffic(header, epoch, branch); reason != DropReason::kNone)
    return reason;
  if (branch.rank != header.rank) return DropReason::kWrongRank;
  if (!epoch.covers(header.round)) return DropReason::kRoundClosed;
  if (epoch.entry_of(header.round) != branch.entry) return DropReason::kUnknownTree;
  if (header.chunk % epoch.table->lane_count != config_.lane) return DropReason::kWrongLane;
  const std::uint32_t granted = epoch.grants.granted(header.tree, header.round);
  if (granted == 0) return DropReason::kRoundNotOpen;
  if (header.chunk >= granted) return DropReason::kBeyondGrant;
  if (epoch.grants.ended(header.tree, header.round)) return DropReason::kRoundClosed;
  return DropReason::kNone;
}

/// Room for everything that the packet may cause, before it changes anything: a copy on each link below that
/// is up, and a buffer for a finished chunk and a place on each link that it leaves on.
DropReason Lane::reserve(const multicast::Branch& branch, const LaneEpoch& epoch) {
  if (!has_room_for_data(branch.child_links)) return DropReason::kLinkWindowFull;
  if (branch.deliver == 0) return DropReason::kNone;
  if (!has_room_for_data(links_out_of(epoch, branch))) return DropReason::kLinkWindowFull;
  return take_spare() ? DropReason::kNone : DropReason::kNoBuffer;
}

/// Gives the payload to the fold points that the branch names. A contribution that was there before stops
/// here (invariant I1); a fold point whose round is over does not keep the packet from the branch's links.
DropReason Lane::fold_locally(const wire::Header& header, RxPacket& packet, LaneEpoch& epoch,
                              const multicast::Branch& branch, Nanoseconds now_ns) {
  if (branch.deliver == 0) return DropReason::kNone;
  const aggregation::Facts facts = aggregation::facts_of(header);
  const bool is_partial = header.packet_type() == wire::Type::kPartial;
  bool taken = false;
  DropReason refused = DropReason::kNone;
  for (std::uint64_t rest = branch.deliver; rest != 0; rest &= rest - 1) {
    const auto island = static_cast<std::size_t>(std::countr_zero(rest));
    if (!take_spare()) return DropReason::kNoBuffer;
    aggregation::Input input{packet.buffer.data() + kHeaderBytes, packet.buffer.share()};
    if (is_partial) input.format = static_cast<wire::Format>(header.format);
    // A site's fold point knows its inputs by their places.
    const std::uint16_t source =
        epoch.is_site(island) ? std::uint16_t{branch.input} : std::uint16_t{header.rank};
    const auto admitted = epoch.points[island].admit(header.round, source, header.chunk, facts, input,
                                                     header.payload_bytes, now_ns);
    if (admitted.admission.member_done) note_contributed(header.rank, admitted.round->window, now_ns);
    if (admitted.admission.state == Admitted::kCompleted)
      finish_chunk(epoch, island, *admitted.round, admitted.index, now_ns);
    taken = taken || admitted.admission.taken();
    if (!admitted.admission.taken()) refused = admitted.admission.reason;
  }
  const bool only_closed = refused == DropReason::kRoundClosed && branch.child_links != 0;
  if (!taken && !only_closed) return refused;
  if (refused != DropReason::kNone) counters_.drops.add(refused);
  return DropReason::kNone;
}

bool Lane::take_spare() {
  if (!spare_) spare_ = BufferRef::adopt(pool_.allocate());
  return static_cast<bool>(spare_);
}

/// The chunk's last contribution is in: fold, and send the result to the island at once.
void Lane::finish_chunk(LaneEpoch& epoch, std::size_t island, OpenRound& round, std::uint32_t index,
                        Nanoseconds now_ns) {
  if (epoch.is_site(island)) return finish_site_chunk(epoch, island, round, index, now_ns);
  const aggregation::RoundWindow& window = round.window;
  std::byte* const out = spare_.data() + kHeaderBytes;
  const aggregation::FoldedChunk folded = epoch.points[island].fold(round, index, out);

  const LocalIsland& local = epoch.table->islands[island];
  if (folded.non_finite != 0 || folded.saturated != 0)
    note_values(folded, epoch.points[island].non_finite(), local.rank,
                [&round](std::size_t member) { return round.entry->ranks[member]; });
  wire::Header header = make_header(wire::Type::kResult, &epoch);
  header.rank = local.rank;
  header.round = window.round();
  header.chunk = window.geometry().chunk_of(index);
  header.specific = folded.contributors;
  header.format = static_cast<std::uint8_t>(folded.format);
  header.operation = static_cast<std::uint8_t>(window.facts().operation);
  wire::set_payload(header, std::span(out, folded.payload_bytes));
  send_sequenced(local.link, header, out, folded.payload_bytes, std::move(spare_), now_ns);
  counters_.folds.add();
}

void Lane::forward(const wire::Header& header, RxPacket& packet, const multicast::Branch& branch,
                   Nanoseconds now_ns) {
  if (branch.child_links == 0) return;
  const std::byte* const payload = packet.buffer.data() + kHeaderBytes;
  replicator_.replicate(header, payload, header.payload_bytes, packet.buffer, branch.child_links,
                        [&](std::uint8_t link, multicast::Copy&& copy) {
                          copy.header.flags = 0;
                          send_sequenced(link, copy.header, copy.payload, copy.payload_bytes,
                                         std::move(copy.keep), now_ns);
                        });
}

}  // namespace tombolo::dataplane
