#include <bit>
#include <utility>

#include "base/bits.h"
#include "dataplane/edge/lane.h"
#include "protocol/wire/packet.h"

/// Cliques that fold on trees: what a site folds, and results on their way down.
namespace tombolo::dataplane {

using aggregation::OpenRound;
using multicast::Branch;
using multicast::Traffic;

/// The format in which partials of such an update travel.
wire::Format Lane::partial_format(wire::Format update, bool is_narrow) {
  return fold::partial_format({.input = update, .partial = is_narrow ? update : wire::Format::kFp32});
}

/// Whether a packet is of the type that its tree carries, and a partial of the format that the epoch says.
DropReason Lane::check_traffic(const wire::Header& header, const LaneEpoch& epoch, const Branch& branch) {
  const bool is_partial = header.packet_type() == wire::Type::kPartial;
  if (branch.traffic == Traffic::kResults || is_partial != (branch.traffic == Traffic::kPartials))
    return DropReason::kUnknownTree;
  if (!is_partial) return DropReason::kNone;
  const auto update = static_cast<wire::Format>(header.update_format);
  const bool fits =
      static_cast<wire::Format>(header.format) == partial_format(update, epoch.table->narrow_partials);
  return fits ? DropReason::kNone : DropReason::kMismatch;
}

bool Lane::has_room_for_data(std::uint64_t links) const {
  for (; links != 0; links &= links - 1) {
    const link::Peer& peer = links_[static_cast<std::size_t>(std::countr_zero(links))].peer;
    if (peer.up() && !peer.sender().has_room_for_data()) return false;
  }
  return true;
}

/// The access links of those islands.
std::uint64_t Lane::island_links(const LaneEpoch& epoch, std::uint64_t islands) {
  std::uint64_t links = 0;
  for (; islands != 0; islands &= islands - 1)
    links |=
        std::uint64_t{1} << epoch.table->islands[static_cast<std::size_t>(std::countr_zero(islands))].link;
  return links;
}

/// Every link on which leaves what a fold point may finish because of a packet.
std::uint64_t Lane::links_out_of(const LaneEpoch& epoch, const Branch& branch) {
  if (branch.traffic == Traffic::kDirect || branch.deliver == 0) return island_links(epoch, branch.deliver);
  const auto point = static_cast<std::size_t>(std::countr_zero(branch.deliver));
  const Branch& out = *epoch.table->forwarding.find(epoch.site(point).entries[branch.entry].tree);
  return out.child_links | (out.traffic == Traffic::kResults ? island_links(epoch, out.deliver) : 0);
}

/// The chunk's last input is in: fold, and send on at once what comes of it.
void Lane::finish_site_chunk(LaneEpoch& epoch, std::size_t point, OpenRound& round, std::uint32_t index,
                             Nanoseconds now_ns) {
  const aggregation::RoundWindow& window = round.window;
  const SiteEntry& at = epoch.site_entry(point, window.round());
  const aggregation::Facts& facts = window.facts();
  std::byte* const out = spare_.data() + kHeaderBytes;
  const std::size_t members = at.members.size();
  const aggregation::FoldedChunk folded = epoch.points[point].fold(
      round, index, out, {at.partials, at.is_root, static_cast<std::uint32_t>(members)});
  if (folded.non_finite != 0 || folded.saturated != 0)
    note_values(folded, epoch.points[point].non_finite(), at.members.front(), [&at](std::size_t input) {
      return at.members[static_cast<std::size_t>(std::countr_zero(at.below[input]))];
    });

  wire::Header header = make_header(at.is_root ? wire::Type::kResult : wire::Type::kPartial, &epoch);
  header.tree = at.tree;
  header.round = window.round();
  header.chunk = window.geometry().chunk_of(index);
  header.format = static_cast<std::uint8_t>(folded.format);
  header.operation = static_cast<std::uint8_t>(facts.operation);
  header.specific = at.is_root ? lowest_bits(members) : facts.update_elements;
  if (!at.is_root) {
    header.update_format = static_cast<std::uint8_t>(facts.format);
    header.result_format = static_cast<std::uint8_t>(facts.result_format);
  }
  wire::set_payload(header, std::span(out, folded.payload_bytes));
  const BufferRef keep = std::move(spare_);
  send_down(header, out, keep, epoch, *epoch.table->forwarding.find(at.tree), now_ns);
  counters_.folds.add();
}

/// A packet goes on down its tree: a copy for each link, and of a result one for each island here, which gets
/// it as if its own edge had folded it.
void Lane::send_down(const wire::Header& header, const std::byte* payload, const BufferRef& keep,
                     LaneEpoch& epoch, const Branch& branch, Nanoseconds now_ns) {
  const std::uint32_t bytes = header.payload_bytes;
  const auto send = [&](std::uint8_t link, multicast::Copy&& copy) {
    copy.header.flags = 0;
    send_sequenced(link, copy.header, copy.payload, copy.payload_bytes, std::move(copy.keep), now_ns);
  };
  if (branch.child_links != 0) replicator_.replicate(header, payload, bytes, keep, branch.child_links, send);
  if (branch.traffic != Traffic::kResults) return;
  for (std::uint64_t rest = branch.deliver; rest != 0; rest &= rest - 1) {
    const LocalIsland& local = epoch.table->islands[static_cast<std::size_t>(std::countr_zero(rest))];
    multicast::Copy own{header, payload, bytes, keep.share()};
    own.header.tree = wire::kNoTree;
    own.header.rank = local.rank;
    send(local.link, std::move(own));
  }
  if (branch.deliver != 0 && epoch.results.add(header.tree, header.round))
    end_results(epoch, branch, header.tree, header.round, {});
}

/// A result on its way down from the root.
DropReason Lane::on_result(const wire::Header& header, RxPacket& packet, std::uint8_t link,
                           Nanoseconds now_ns) {
  LaneEpoch* const epoch = find_epoch(header.epoch);
  if (epoch == nullptr) return DropReason::kUnknownEpoch;
  const Branch* const branch = epoch->table->forwarding.find(header.tree);
  if (branch == nullptr || branch->traffic != Traffic::kResults) return DropReason::kUnknownTree;
  if (branch->starts_here() || branch->parent_link != link) return DropReason::kWrongLink;
  if (branch->rank != header.rank) return DropReason::kWrongRank;
  if (!epoch->covers(header.round)) return DropReason::kRoundClosed;
  if (epoch->entry_of(header.round) != branch->entry) return DropReason::kUnknownTree;
  if (header.chunk % epoch->table->lane_count != config_.lane) return DropReason::kWrongLane;
  if (epoch->grants.ended(header.tree, header.round)) return DropReason::kRoundClosed;
  if (!has_room_for_data(branch->child_links | island_links(*epoch, branch->deliver)))
    return DropReason::kLinkWindowFull;
  epoch->grants.note(header.tree, header.round);
  epoch->last_used_ns = now_ns;
  send_down(header, packet.buffer.data() + kHeaderBytes, packet.buffer, *epoch, *branch, now_ns);
  return DropReason::kNone;
}

/// All that comes of a round on a tree has come to the islands here, or nothing more will.
void Lane::end_results(LaneEpoch& epoch, const Branch& branch, std::uint16_t tree, std::uint32_t round,
                       const link::GrantTable::End& end) {
  for (std::uint64_t rest = branch.deliver; rest != 0; rest &= rest - 1)
    epoch.grants.end(tree, round,
                     LaneEpoch::child_of_island(branch, static_cast<std::size_t>(std::countr_zero(rest))),
                     end);
}

}  // namespace tombolo::dataplane
