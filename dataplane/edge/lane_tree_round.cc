#include <algorithm>
#include <bit>
#include <optional>

#include "dataplane/edge/lane.h"

/// Cliques that fold on trees: grants and ends of rounds. News about a site's own tree come up from below as
/// they do for an island's; what a site has to say down its tree is said by its SourceEnds.
namespace tombolo::dataplane {

using aggregation::FoldPoint;
using aggregation::OpenRound;
using link::GrantTable;
using multicast::Branch;
using multicast::Traffic;
using wire::RoundOutcome;

namespace {

/// The member of a clique that has this rank, as a bit; 0 if none has.
std::uint64_t member_bit(const SiteEntry& at, std::uint16_t rank) {
  const auto found = std::lower_bound(at.members.begin(), at.members.end(), rank);
  if (found == at.members.end() || *found != rank) return 0;
  return std::uint64_t{1} << (found - at.members.begin());
}

/// The last of the rounds first .. last that uses a schedule entry; nothing if none does.
std::optional<std::uint32_t> last_round_of(const LaneEpoch& epoch, std::uint32_t entry, std::uint32_t first,
                                           std::uint32_t last) {
  const std::uint64_t period = epoch.table->period;
  const auto behind = static_cast<std::uint32_t>((epoch.entry_of(last) + period - entry) % period);
  if (behind > last - first) return std::nullopt;
  return last - behind;
}

}  // namespace

/// Grants the inputs of a site's fold point what it has slots for, and no more than where its partials go
/// has, so that no partial ever waits for a slot.
void Lane::grant_site_slots(LaneEpoch& epoch, std::size_t point, OpenRound& round) {
  const aggregation::RoundWindow& window = round.window;
  const SiteEntry& at = epoch.site_entry(point, window.round());
  const bool all = window.facts_known() && window.granted() == window.chunks_total();
  std::uint32_t up_to = all ? GrantTable::kEverything : window.geometry().chunk_of(window.granted());
  std::uint32_t index = window.granted();
  if (!at.is_root) {
    const std::uint32_t above = epoch.grants.granted(at.tree, window.round());
    if (above < up_to) {
      up_to = above;
      index = above / window.geometry().lane_count;  // A grant is a chunk of this lane.
    }
  }
  if (index <= round.granted_sent) return;
  const std::uint32_t step = std::max<std::uint32_t>(1, window.window_slots() / FoldPoint::kGrantParts);
  const bool is_last = window.facts_known() && index == window.chunks_total();
  if (round.granted_sent != 0 && !is_last && index - round.granted_sent < step) return;
  for (std::size_t input = 0; input < round.entry->members; ++input) {
    const std::uint16_t tree = round.entry->receive_trees[input];
    const Branch& branch = *epoch.table->forwarding.find(tree);
    epoch.grants.grant(tree, window.round(), LaneEpoch::child_of_island(branch, point), up_to);
  }
  round.granted_sent = index;
}

/// All is folded here. The root says down its tree how much there was; the round stays open until all that is
/// below has it.
void Lane::note_folded(LaneEpoch& epoch, std::size_t point, OpenRound& round) {
  const std::uint32_t number = round.window.round();
  const SiteEntry& at = epoch.site_entry(point, number);
  if (round.is_told) return;
  round.is_told = !at.is_root || epoch.source_ends.add({.tree = at.tree,
                                                        .round = number,
                                                        .outcome = RoundOutcome::kComplete,
                                                        .specific = round.window.chunks_total()});
}

/// Whom a round at a site's fold point waits for.
std::uint64_t Lane::late_at_site(const LaneEpoch& epoch, std::size_t point, const OpenRound& round) {
  return epoch.members_in(point, round.window.round(), round.window.late());
}

/// Frees the round's slots, and tells all sources of its inputs. `tells_on`: what is below the site's own
/// tree does not know yet that the round has failed.
void Lane::end_site_round(LaneEpoch& epoch, std::size_t point, OpenRound& round, const GrantTable::End& end,
                          bool tells_on, Nanoseconds now_ns) {
  const aggregation::MemberEntry& entry = *round.entry;
  const std::uint32_t number = round.window.round();
  const bool failed = end.outcome != RoundOutcome::kComplete;
  if (!failed) counters_.round_durations.add(now_ns - round.window.first_contribution_ns());
  epoch.points[point].close(number, end.outcome);
  changed_ = true;
  for (std::size_t input = 0; input < entry.members; ++input) {
    const std::uint16_t tree = entry.receive_trees[input];
    const Branch& branch = *epoch.table->forwarding.find(tree);
    epoch.grants.end(tree, number, LaneEpoch::child_of_island(branch, point), end);
  }
  counters_.rounds_ended[static_cast<std::size_t>(end.outcome)].add();
  if (!failed || !tells_on) return;
  const bool told = epoch.source_ends.add({.tree = epoch.site_entry(point, number).tree,
                                           .round = number,
                                           .outcome = end.outcome,
                                           .specific = end.missing});
  // Without a word the next site ends the round by its own deadline.
  if (!told) counters_.drops.add(DropReason::kLinkWindowFull);
}

/// What is below the tree that starts at a site's fold point is done with a round.
void Lane::on_site_tree_ended(LaneEpoch& epoch, std::size_t point, std::uint32_t number, GrantTable::End end,
                              Nanoseconds now_ns) {
  OpenRound* const round = epoch.points[point].find(number);
  if (round == nullptr) return;  // It has ended here first.
  // Nobody can be done well with what is not all sent.
  if (end.outcome == RoundOutcome::kComplete && !round->window.complete()) end = {RoundOutcome::kLost, 0};
  end_site_round(epoch, point, *round, end, false, now_ns);
}

/// The source of a tree says something about the end of a round, from the link above.
DropReason Lane::on_source_end(const wire::Header& header, LaneEpoch& epoch, const Branch& branch,
                               Nanoseconds now_ns) {
  if (!epoch.covers(header.round)) return DropReason::kRoundClosed;
  if (epoch.entry_of(header.round) != branch.entry) return DropReason::kUnknownTree;
  const SourceEnd end{header.tree, header.rank, header.round,
                      static_cast<RoundOutcome>(static_cast<std::uint32_t>(header.chunk)), header.specific};
  return pass_source_end(epoch, branch, end, now_ns);
}

/// Passes it on down the tree, and acts on it where the tree ends. kLinkWindowFull, and nothing changes, if
/// there is no room for it.
DropReason Lane::pass_source_end(LaneEpoch& epoch, const Branch& branch, const SourceEnd& end,
                                 Nanoseconds now_ns) {
  for (std::uint64_t rest = branch.child_links; rest != 0; rest &= rest - 1) {
    const link::Peer& peer = links_[static_cast<std::size_t>(std::countr_zero(rest))].peer;
    if (peer.up() && !peer.sender().has_room_for_control()) return DropReason::kLinkWindowFull;
  }
  const bool ends_at_site = branch.deliver != 0 && branch.traffic != Traffic::kResults;
  if (ends_at_site && !epoch.source_ends.has_room(1)) return DropReason::kLinkWindowFull;
  for (std::uint64_t rest = branch.child_links; rest != 0; rest &= rest - 1) {
    wire::Header header = make_header(wire::Type::kRoundEnd, &epoch);
    header.tree = end.tree;
    header.rank = end.rank;
    header.round = end.round;
    header.chunk = static_cast<std::uint32_t>(end.outcome);
    header.specific = end.specific;
    send_sequenced(static_cast<std::uint8_t>(std::countr_zero(rest)), header, nullptr, 0, {}, now_ns);
  }
  if (branch.traffic == Traffic::kResults) {
    epoch.grants.note(end.tree, end.round);
    if (end.outcome != RoundOutcome::kComplete)
      end_results(epoch, branch, end.tree, end.round, {end.outcome, end.specific});
    else if (branch.deliver != 0 && epoch.results.set_total(end.tree, end.round, end.specific))
      end_results(epoch, branch, end.tree, end.round, {});
  } else if (ends_at_site) {
    const auto point = static_cast<std::size_t>(std::countr_zero(branch.deliver));
    if (end.outcome == RoundOutcome::kAbandoned)
      on_input_abandoned(epoch, point, branch, end, now_ns);
    else if (end.outcome != RoundOutcome::kComplete)
      on_input_failed(epoch, point, branch, end, now_ns);
  }
  return DropReason::kNone;
}

/// What an input of a site's fold point brings ends early: the round fails here too.
void Lane::on_input_failed(LaneEpoch& epoch, std::size_t point, const Branch& branch, const SourceEnd& end,
                           Nanoseconds now_ns) {
  OpenRound* const round = epoch.points[point].find(end.round);
  if (round == nullptr || round->window.complete()) return;
  const SiteEntry& at = epoch.site_entry(point, end.round);
  const std::uint64_t named = end.specific & at.below[branch.input];
  const bool names = wire::names_missing(end.outcome);
  end_site_round(epoch, point, *round, {end.outcome, names && named == 0 ? at.below[branch.input] : named},
                 true, now_ns);
}

/// A member gives up a round and some before it. Those that are open end by name; the others never open.
void Lane::on_input_abandoned(LaneEpoch& epoch, std::size_t point, const Branch& branch, const SourceEnd& end,
                              Nanoseconds now_ns) {
  FoldPoint& at = epoch.points[point];
  const SiteEntry& entry = epoch.site_entry(point, end.round);
  const std::uint64_t bit = member_bit(entry, end.rank) & entry.below[branch.input];
  const std::uint64_t before = std::min<std::uint64_t>(end.specific, end.round - epoch.first_round);
  const auto first = static_cast<std::uint32_t>(end.round - before);
  const auto highest = at.highest_opened();
  bool news = !highest || end.round > *highest;
  if (news && !at.skip(first, end.round, branch.entry)) counters_.drops.add(DropReason::kLinkWindowFull);
  for (OpenRound* const round : at.open_rounds()) {
    const std::uint32_t number = round->window.round();
    if (number < first || number > end.round || epoch.entry_of(number) != branch.entry) continue;
    if (round->window.complete()) continue;  // It has given all that it had to.
    end_site_round(epoch, point, *round, {RoundOutcome::kAbandoned, bit}, entry.is_root, now_ns);
    news = true;
  }
  if (!news || entry.is_root) return;
  SourceEnd on = end;
  on.tree = entry.tree;
  if (!epoch.source_ends.add(on)) counters_.drops.add(DropReason::kLinkWindowFull);
}

/// An island gives up the rounds first .. last: that is said down its trees, once for each schedule entry.
/// kLinkWindowFull, and nothing changes, when it has no place now.
DropReason Lane::abandon_on_trees(LaneEpoch& epoch, const LocalIsland& local, std::uint32_t first,
                                  std::uint32_t last, bool& concerned) {
  const std::uint32_t period = epoch.table->period;
  std::size_t count = 0;
  for (std::uint32_t entry = 0; entry < period; ++entry)
    count += local.members[entry].on_tree && last_round_of(epoch, entry, first, last) ? 1 : 0;
  concerned = count > 0;
  if (!epoch.source_ends.has_room(count)) return DropReason::kLinkWindowFull;
  for (std::uint32_t entry = 0; entry < period; ++entry) {
    const auto round = last_round_of(epoch, entry, first, last);
    if (!local.members[entry].on_tree || !round) continue;
    epoch.source_ends.add({.tree = local.sends[entry].send_trees[0],
                           .rank = local.rank,
                           .round = *round,
                           .outcome = RoundOutcome::kAbandoned,
                           .specific = *round - first});
  }
  return DropReason::kNone;
}

/// Says down the trees what there is to say; false if some of it must wait for room.
bool Lane::tell_downward(LaneEpoch& epoch, Nanoseconds now_ns) {
  bool all_told = true;
  for (std::size_t n = epoch.source_ends.size(); n > 0; --n) {
    const SourceEnd end = epoch.source_ends.front();
    const Branch& branch = *epoch.table->forwarding.find(end.tree);
    epoch.source_ends.pop();  // Acting on it may add another.
    if (pass_source_end(epoch, branch, end, now_ns) == DropReason::kNone) {
      again_ = true;
      continue;
    }
    epoch.source_ends.add(end);
    all_told = false;
  }
  return all_told;
}

}  // namespace tombolo::dataplane
