#include <algorithm>
#include <bit>

#include "dataplane/edge/lane.h"

namespace tombolo::dataplane {

using aggregation::FoldPoint;
using aggregation::OpenRound;
using link::GrantTable;
using wire::RoundOutcome;

namespace {

/// Places on a parent's link that grants leave for ends of rounds, which are told once: two open rounds in
/// each of two live epochs.
constexpr std::uint32_t kRoundEndReserve = 4;

/// What comes up a tree must come from a link below, and be about the tree's own source and rounds.
DropReason check_from_below(const wire::Header& header, const LaneEpoch& epoch,
                            const multicast::Branch* branch, std::uint8_t link) {
  if (branch == nullptr) return DropReason::kUnknownTree;
  if ((branch->child_links >> link & 1) == 0) return DropReason::kWrongLink;
  if (branch->rank != header.rank) return DropReason::kWrongRank;
  if (header.round < epoch.first_round) return DropReason::kRoundClosed;
  return epoch.entry_of(header.round) == branch->entry ? DropReason::kNone : DropReason::kUnknownTree;
}

}  // namespace

DropReason Lane::on_grant(const wire::Header& header, std::uint8_t link) {
  LaneEpoch* const epoch = find_epoch(header.epoch);
  if (epoch == nullptr) return DropReason::kUnknownEpoch;
  const multicast::Branch* const branch = epoch->table->forwarding.find(header.tree);
  if (const DropReason reason = check_from_below(header, *epoch, branch, link); reason != DropReason::kNone)
    return reason;
  epoch->grants.grant(header.tree, header.round, LaneEpoch::child_of_link(*branch, link), header.chunk);
  note_opened(header.round);
  return DropReason::kNone;
}

DropReason Lane::on_round_end(const wire::Header& header, std::uint8_t link, Nanoseconds now_ns) {
  LaneEpoch* const epoch = find_epoch(header.epoch);
  if (epoch == nullptr) return DropReason::kUnknownEpoch;
  if (header.tree == wire::kNoTree) return abandon_rounds(header, *epoch, link, now_ns);
  const multicast::Branch* const branch = epoch->table->forwarding.find(header.tree);
  const bool from_above = branch != nullptr && branch->traffic != multicast::Traffic::kDirect &&
                          !branch->starts_here() && branch->parent_link == link &&
                          !links_[link].config.is_island;
  if (from_above) return on_source_end(header, *epoch, *branch, now_ns);
  if (const DropReason reason = check_from_below(header, *epoch, branch, link); reason != DropReason::kNone)
    return reason;
  const auto outcome = static_cast<RoundOutcome>(static_cast<std::uint32_t>(header.chunk));
  epoch->grants.end(header.tree, header.round, LaneEpoch::child_of_link(*branch, link),
                    {outcome, header.specific});
  return DropReason::kNone;
}

/// An island of this edge gives up a round, and as many before it as `specific` says. Those that are open
/// end; the others are never opened, because they would never begin and none after them would be opened.
DropReason Lane::abandon_rounds(const wire::Header& header, LaneEpoch& epoch, std::uint8_t link,
                                Nanoseconds now_ns) {
  if (!epoch.covers(header.round)) return DropReason::kRoundClosed;
  const std::uint64_t before = std::min<std::uint64_t>(header.specific, header.round - epoch.first_round);
  const auto first = static_cast<std::uint32_t>(header.round - before);
  const std::size_t folds_for = epoch.points.empty() ? 0 : epoch.table->islands.size();
  for (std::size_t island = 0; island < folds_for; ++island) {
    const LocalIsland& local = epoch.table->islands[island];
    if (local.link != link) continue;
    if (local.rank != header.rank) return DropReason::kWrongRank;
    bool ended = false;
    if (const DropReason reason = abandon_on_trees(epoch, local, first, header.round, ended);
        reason != DropReason::kNone)
      return reason;
    FoldPoint& point = epoch.points[island];
    const auto highest = point.highest_opened();
    const bool to_come = !highest || header.round > *highest;
    if (to_come && !point.skip(first, header.round)) return DropReason::kLinkWindowFull;
    for (OpenRound* const round : point.open_rounds()) {
      if (round->window.round() < first || round->window.round() > header.round) continue;
      end_round(epoch, island, *round, RoundOutcome::kAbandoned, now_ns);
      ended = true;
    }
    return ended || to_come ? DropReason::kNone : DropReason::kRoundClosed;
  }
  return DropReason::kWrongLink;
}

/// Opens, grants, completes and expires the rounds of the epoch's fold points; true if there is more to do.
bool Lane::advance_rounds(LaneEpoch& epoch, Nanoseconds now_ns) {
  bool more = false;
  for (std::size_t island = 0; island < epoch.points.size(); ++island) {
    FoldPoint& point = epoch.points[island];
    const bool is_site = epoch.is_site(island);
    for (OpenRound* const round : point.open_rounds()) {
      if (!round->window.complete()) continue;
      if (is_site)
        note_folded(epoch, island, *round);
      else
        end_round(epoch, island, *round, RoundOutcome::kComplete, now_ns);
    }
    if (is_site)  // Whoever has no grant for the oldest chunk cannot be late with it.
      for (OpenRound* const round : point.open_rounds())
        round->waits_for_others = round->is_told || round->window.base() >= round->granted_sent;
    for (OpenRound* const round : point.expire(now_ns))
      end_round(epoch, island, *round, RoundOutcome::kDeadline, now_ns);
    for (OpenRound* const round : point.open_rounds()) {
      const std::uint64_t lost = epoch.lost_members(island, round->window.round());
      const std::uint64_t missing = round->window.missing();
      const std::uint64_t awaited =
          is_site ? epoch.members_in(island, round->window.round(), missing) : missing;
      if ((awaited & lost) != 0) end_round(epoch, island, *round, RoundOutcome::kLost, now_ns);
    }
    for (OpenRound* const round : point.advance())
      more = more || epoch.lost_members(island, round->window.round()) != 0;
    for (OpenRound* const round : point.open_rounds())
      if (is_site)
        grant_site_slots(epoch, island, *round);
      else if (FoldPoint::grant_due(*round))
        grant_slots(epoch, island, *round);
    if (const auto highest = point.highest_opened()) note_opened(*highest);
  }
  return more;
}

/// Without edge aggregation an edge knows from grants which rounds islands have opened.
void Lane::note_opened(std::uint32_t round) {
  counters_.highest_opened.set(std::max(counters_.highest_opened.get(), std::uint64_t{round} + 1));
}

void Lane::grant_slots(LaneEpoch& epoch, std::size_t island, OpenRound& round) {
  const aggregation::RoundWindow& window = round.window;
  const bool all = window.facts_known() && window.granted() == window.chunks_total();
  const std::uint32_t up_to = all ? GrantTable::kEverything : window.geometry().chunk_of(window.granted());
  for (std::size_t member = 0; member < round.entry->members; ++member) {
    const std::uint16_t tree = round.entry->receive_trees[member];
    const multicast::Branch& branch = *epoch.table->forwarding.find(tree);
    epoch.grants.grant(tree, window.round(), LaneEpoch::child_of_island(branch, island), up_to);
  }
  FoldPoint::mark_granted(round);
}

/// Frees the round's slots and tells everybody whom it concerns: the sources, up their trees, and when it
/// failed the island, with the members that are missing.
void Lane::end_round(LaneEpoch& epoch, std::size_t island, OpenRound& round, RoundOutcome outcome,
                     Nanoseconds now_ns) {
  const std::uint32_t number = round.window.round();
  if (epoch.is_site(island)) {
    const std::uint64_t lost = epoch.lost_members(island, number);
    const std::uint64_t missing = outcome == RoundOutcome::kLost ? lost : late_at_site(epoch, island, round);
    return end_site_round(epoch, island, round, {outcome, missing}, true, now_ns);
  }
  const aggregation::MemberEntry& entry = *round.entry;
  const bool failed = outcome != RoundOutcome::kComplete;
  const std::uint64_t lost = outcome == RoundOutcome::kLost ? epoch.lost_members(island, number) : 0;
  const std::uint64_t missing = lost != 0 ? lost & round.window.missing() : failed ? round.window.late() : 0;
  if (!failed) counters_.round_durations.add(now_ns - round.window.first_contribution_ns());
  epoch.points[island].close(number, outcome);
  changed_ = true;
  for (std::size_t member = 0; member < entry.members; ++member) {
    const std::uint16_t tree = entry.receive_trees[member];
    const multicast::Branch& branch = *epoch.table->forwarding.find(tree);
    epoch.grants.end(tree, number, LaneEpoch::child_of_island(branch, island), {outcome, missing});
  }
  counters_.rounds_ended[static_cast<std::size_t>(outcome)].add();
  if (!failed || outcome == RoundOutcome::kAbandoned) return;
  const LocalIsland& local = epoch.table->islands[island];
  wire::Header header = make_header(wire::Type::kRoundEnd, &epoch);
  header.rank = local.rank;
  header.round = number;
  header.chunk = static_cast<std::uint32_t>(outcome);
  header.specific = missing;
  send_sequenced(local.link, header, nullptr, 0, {}, now_ns);
}

/// Sends merged grants and round ends to the trees' parents; false if some must wait for room on a link.
bool Lane::tell_upward(LaneEpoch& epoch, Nanoseconds now_ns) {
  bool all_told = true;
  GrantTable::Upward upward;
  for (std::size_t n = epoch.grants.pending(); n > 0 && epoch.grants.next_upward(upward); --n) {
    const multicast::Branch& branch = *epoch.table->forwarding.find(upward.tree);
    if (branch.starts_here()) {
      epoch.grants.told(upward);
      if (upward.ended) on_site_tree_ended(epoch, branch.parent_point, upward.round, upward.end, now_ns);
      again_ = true;
      continue;
    }
    const link::Peer& parent = links_[branch.parent_link].peer;
    if (parent.up() && parent.sender().free_slots() <= kRoundEndReserve) {
      epoch.grants.postpone();
      all_told = false;
      continue;
    }
    epoch.grants.told(upward);
    if (!parent.up()) continue;  // It is told again when it comes up.
    wire::Header header = make_header(upward.ended ? wire::Type::kRoundEnd : wire::Type::kGrant, &epoch);
    header.tree = upward.tree;
    header.rank = branch.rank;
    header.round = upward.round;
    header.chunk = upward.ended ? static_cast<std::uint32_t>(upward.end.outcome) : upward.granted;
    header.specific = upward.ended ? upward.end.missing : late_members(epoch, branch, upward.round);
    send_sequenced(branch.parent_link, header, nullptr, 0, {}, now_ns);
  }
  return all_told;
}

/// Whom the fold point of the branch's own island waits for, or on a tree that of its site; told to that
/// island only.
std::uint64_t Lane::late_members(const LaneEpoch& epoch, const multicast::Branch& branch,
                                 std::uint32_t round) const {
  if (branch.traffic == multicast::Traffic::kContributions) {
    if (branch.deliver == 0 || !links_[branch.parent_link].config.is_island) return 0;
    const auto point = static_cast<std::size_t>(std::countr_zero(branch.deliver));
    const OpenRound* const open = epoch.points[point].find(round);
    return open == nullptr ? 0 : late_at_site(epoch, point, *open);
  }
  const std::size_t folds_for = epoch.points.empty() ? 0 : epoch.table->islands.size();
  for (std::size_t island = 0; island < folds_for; ++island) {
    if (epoch.table->islands[island].link != branch.parent_link) continue;
    const OpenRound* const open = epoch.points[island].find(round);
    return open == nullptr ? 0 : open->window.late();
  }
  return 0;
}

}  // namespace tombolo::dataplane
