#include "aggregation/fold_point.h"
#include "island/endpoint.h"

/// The island's own fold points: what its edge does for it with edge aggregation, it does itself without.
namespace tombolo::island {

using aggregation::Admitted;
using aggregation::FoldPoint;
using aggregation::OpenRound;
using wire::RoundOutcome;

void Endpoint::advance_folds(Nanoseconds now_ns) {
  pay_ends(now_ns);
  for (std::size_t i = views_.size(); i-- > 0;) {
    if (!views_[i]) continue;
    EpochView& view = *views_[i];
    for (std::uint16_t lane = 0; lane < view.points().size(); ++lane) {
      FoldPoint& point = view.points()[lane];
      if (i == 1)
        for (OpenRound* const round : point.stop_before(views_[0]->first_round()))
          end_fold(view, lane, *round, RoundOutcome::kSuperseded, now_ns);
      for (OpenRound* const round : point.open_rounds()) contribute_own(point, *round, now_ns);
      for (OpenRound* const round : point.open_rounds())
        if (round->window.complete()) end_fold(view, lane, *round, RoundOutcome::kComplete, now_ns);
      for (OpenRound* const round : point.expire(now_ns))
        end_fold(view, lane, *round, RoundOutcome::kDeadline, now_ns);
      point.advance();
      for (OpenRound* const round : point.open_rounds())
        if (FoldPoint::grant_due(*round)) grant_slots(view, lane, *round, now_ns);
    }
  }
}

/// The own input joins the fold from where it lies, as far as there are slots.
void Endpoint::contribute_own(FoldPoint& point, OpenRound& round, Nanoseconds now_ns) {
  const std::uint32_t number = round.window.round();
  Operation* operation = nullptr;
  for (const auto& candidate : operations_)
    if (candidate->request.round == number && candidate->outcome.stage == Stage::kRunning)
      operation = candidate.get();
  if (operation == nullptr || operation->view == nullptr ||
      &operation->view->points()[point.geometry().lane] != &point)
    return;
  const aggregation::Facts facts = operation->request.facts();
  std::uint32_t& next = operation->own_cursor(point.geometry().lane);
  const std::uint32_t total = operation->lane_chunks(point.geometry().lane);
  while (next < total && next < round.window.granted()) {
    const std::uint32_t chunk = point.geometry().chunk_of(next);
    aggregation::Input input{operation->input(chunk), {}};
    const auto admitted = point.admit(number, config_.rank, chunk, facts, input,
                                      encoded_bytes(facts.format, operation->elements(chunk)), now_ns);
    if (!admitted.admission.taken()) return;  // The members disagree about the update; the deadline says so.
    ++next;
    if (admitted.admission.state == Admitted::kCompleted)
      fold_chunk(point, round, *operation, admitted.index, now_ns);
  }
}

void Endpoint::fold_chunk(FoldPoint& point, OpenRound& round, Operation& operation, std::uint32_t index,
                          Nanoseconds now_ns) {
  const std::uint64_t chunk = round.window.geometry().chunk_of(index);
  std::byte* const out = operation.result_place(chunk);
  const aggregation::FoldedChunk folded = point.fold(round, index, out);
  operation.keep_result(chunk, out);
  if (!operation.mark_result(chunk)) return;
  take_result(operation, chunk, folded.contributors, now_ns);
}

/// Tells each source, by way of the edge, how far it may send. What finds no room is tried again in a later
/// turn.
void Endpoint::grant_slots(EpochView& view, std::uint16_t lane, OpenRound& round, Nanoseconds now_ns) {
  if (!peers_[lane].up()) return;
  const aggregation::RoundWindow& window = round.window;
  const bool all = window.facts_known() && window.granted() == window.chunks_total();
  const std::uint32_t up_to =
      all ? link::GrantTable::kEverything : window.geometry().chunk_of(window.granted());
  if (peers_[lane].sender().free_slots() < round.entry->members) return;
  for (std::size_t member = 0; member < round.entry->members; ++member) {
    if (round.entry->receive_trees[member] == wire::kNoTree) continue;  // Itself.
    wire::Header header = make_header(wire::Type::kGrant, view.epoch());
    header.rank = round.entry->ranks[member];
    header.tree = round.entry->receive_trees[member];
    header.round = window.round();
    header.chunk = up_to;
    send_sequenced(lane, header, nullptr, 0, now_ns);
  }
  FoldPoint::mark_granted(round);
}

void Endpoint::end_fold(EpochView& view, std::uint16_t lane, OpenRound& round, RoundOutcome outcome,
                        Nanoseconds now_ns) {
  const std::uint32_t number = round.window.round();
  const bool failed = outcome != RoundOutcome::kComplete;
  const std::uint64_t missing = failed ? round.window.late() : 0;
  view.points()[lane].close(number, outcome);
  if (owed_ends_.size() < owed_ends_.capacity())
    owed_ends_.push_back({view.epoch(), number, lane, outcome, missing});
  else
    counters_.drops.add(DropReason::kLinkWindowFull);
  pay_ends(now_ns);
  if (!failed || outcome == RoundOutcome::kAbandoned) return;
  Operation* const operation = find_round(view.epoch(), number);
  if (operation == nullptr) return;
  if (outcome == RoundOutcome::kSuperseded) {
    fail(*operation, ErrorCode::kFailed, "a new epoch took the round over", now_ns);
  } else {
    operation->missing |= missing;
    fail(*operation, ErrorCode::kDeadline, "the deadline passed", now_ns);
  }
}

/// Tells the sources of ended rounds, as far as there is room on the link: a big clique's ends are more than
/// what data leaves free, and none may be lost.
void Endpoint::pay_ends(Nanoseconds now_ns) {
  std::size_t kept = 0;
  for (OwedEnd& owed : owed_ends_)
    if (!pay_end(owed, now_ns)) owed_ends_[kept++] = owed;
  owed_ends_.resize(kept);
}

/// True when nothing is owed any more.
bool Endpoint::pay_end(OwedEnd& owed, Nanoseconds now_ns) {
  const EpochView* const view = find_view(owed.epoch);
  if (view == nullptr) return true;
  const wire::Config& entry = view->entry_of(owed.round);
  for (; owed.next_member < entry.members; ++owed.next_member) {
    const std::uint16_t tree = entry.receive_tree[owed.next_member];
    if (tree == wire::kNoTree) continue;  // Itself.
    const link::Peer& peer = peers_[owed.lane];
    if (peer.up() && !peer.sender().has_room_for_control()) return false;
    wire::Header header = make_header(wire::Type::kRoundEnd, owed.epoch);
    header.rank = entry.rank[owed.next_member];
    header.tree = tree;
    header.round = owed.round;
    header.chunk = static_cast<std::uint32_t>(owed.outcome);
    header.specific = owed.missing;
    send_sequenced(owed.lane, header, nullptr, 0, now_ns);
  }
  return true;
}

}  // namespace tombolo::island
