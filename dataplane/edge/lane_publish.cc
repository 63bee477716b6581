#include <algorithm>
#include <bit>

#include "dataplane/edge/lane.h"

namespace tombolo::dataplane {

/// Puts where others may read it what changed since the last turn. A turn in which nothing happened costs two
/// comparisons; one with a burst of packets a few stores for each link that they came from or left on.
void Lane::publish() {
  for (; touched_links_ != 0; touched_links_ &= touched_links_ - 1)
    publish_link(static_cast<std::size_t>(std::countr_zero(touched_links_)));
  if (!changed_) return;
  changed_ = false;
  publish_rounds();
}

void Lane::publish_link(std::size_t link) {
  const link::Peer& peer = links_[link].peer;
  PeerCounters& counters = peer_counters_[link];
  counters.up.set(peer.up() ? 1 : 0);
  counters.rtt_ns.set(peer.rtt_ns());
  counters.remote_session.set(peer.remote_session());
  counters.outstanding.set(peer.sender().outstanding());
  counters.gaps.set(peer.receiver().gaps());
  counters.repairs_asked.set(peer.receiver().asked());
  counters.given_up.set(peer.receiver().given_up());
}

/// The open rounds, those of the older epoch first, and what they hold.
void Lane::publish_rounds() {
  std::uint64_t open = 0;
  std::uint64_t slots = 0;
  std::uint64_t held = 0;
  std::uint64_t arena_bytes = 0;
  std::uint64_t arena_used_bytes = 0;
  std::uint64_t unfinished = 0;
  std::uint64_t pending = 0;
  for (std::size_t i = epochs_.size(); i-- > 0;) {
    if (!epochs_[i]) continue;
    const LaneEpoch& epoch = *epochs_[i];
    unfinished += epoch.grants.unfinished();
    pending += epoch.grants.pending();
    for (std::size_t island = 0; island < epoch.points.size(); ++island) {
      arena_bytes += epoch.points[island].arena_bytes();
      for (const aggregation::OpenRound* const round : epoch.points[island].open_rounds()) {
        const aggregation::RoundWindow& window = round->window;
        const bool is_site = epoch.is_site(island);
        if (open < RoundBoard::kPlaces)
          board_.put(open,
                     {.epoch = epoch.table->epoch,
                      .round = window.round(),
                      .rank = is_site ? epoch.site(island).lowest_member : epoch.table->islands[island].rank,
                      .entry = epoch.entry_of(window.round()),
                      .late = is_site ? late_at_site(epoch, island, *round) : window.late(),
                      .chunks_done = window.base(),
                      .chunks_total = window.facts_known() ? window.chunks_total() : 0,
                      .first_contribution_ns = window.first_contribution_ns()});
        ++open;
        slots += window.window_slots();
        held += window.held();
        arena_used_bytes +=
            window.in_arena() * aggregation::Arena::cell_bytes(window.geometry().max_payload_bytes);
      }
    }
  }
  board_.set_count(std::min<std::uint64_t>(open, RoundBoard::kPlaces));
  counters_.rounds_open.set(open);
  counters_.slots.set(slots);
  counters_.held_contributions.set(held);
  counters_.arena_bytes.set(arena_bytes);
  counters_.arena_used_bytes.set(arena_used_bytes);
  counters_.arena_high_water_bytes.set(std::max(counters_.arena_high_water_bytes.get(), arena_used_bytes));
  counters_.grants_unfinished.set(unfinished);
  counters_.grants_pending.set(pending);
}

/// A contributor's last chunk of a round is in.
void Lane::note_contributed(std::uint16_t rank, const aggregation::RoundWindow& window, Nanoseconds now_ns) {
  if (rank >= kLagRanks) return;
  LagCounters& lag = counters_.lags[rank];
  lag.rounds.add();
  lag.behind_ns.add(now_ns - window.first_member_done_ns());
}

}  // namespace tombolo::dataplane
