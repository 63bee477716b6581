#include "dataplane/edge/lane.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tombolo::dataplane {
namespace {

/// When grants wait for room on a link, how soon to look again.
constexpr Nanoseconds kRetry = kMillisecond;

}  // namespace

// lint: set-up, runs before the first packet
Lane::Lane(const LaneConfig& config, std::span<const EdgeLink> links, BufferPool& pool,
           std::span<const std::unique_ptr<Transmitter>> transmitters)
    : config_(config), pool_(pool), transmitters_(transmitters), peer_counters_(links.size()) {
  links_.reserve(links.size());
  for (const EdgeLink& link : links) {
    link::PeerConfig peer;
    peer.session = config.session;
    peer.window = link.window_packets;
    peer.initial_rtt_ns = link.rtt_ns;
    peer.hello_interval_ns = config.hello_interval_ns;
    links_.push_back(Link{link, link::Peer(peer)});
  }
}

Nanoseconds Lane::turn(Nanoseconds now_ns) {
  Nanoseconds next_ns = kNever;
  for (const auto& epoch : epochs_) {
    if (!epoch) continue;
    if (advance_rounds(*epoch, now_ns)) next_ns = now_ns;
    if (!tell_upward(*epoch, now_ns)) next_ns = std::min(next_ns, now_ns + kRetry);
    if (!tell_downward(*epoch, now_ns)) next_ns = std::min(next_ns, now_ns + kRetry);
    if (std::exchange(again_, false)) next_ns = now_ns;
    for (aggregation::FoldPoint& point : epoch->points)
      if (point.settle()) changed_ = true;  // Looked at again in the next turn, whenever that is.
    for (const aggregation::FoldPoint& point : epoch->points)
      next_ns = std::min(next_ns, point.next_deadline_ns());
  }
  if (epochs_[1] && epochs_[1]->drained(now_ns)) counters_.drained_epoch.set(epochs_[1]->table->epoch);
  std::uint64_t links_up = 0;
  for (std::uint8_t link = 0; link < links_.size(); ++link) {
    link::Peer& peer = links_[link].peer;
    if (peer.expire(now_ns)) {
      peer_counters_[link].downs.add();
      touched_links_ |= std::uint64_t{1} << link;
    }
    if (peer.hello_due(now_ns)) send_hello(link, now_ns);
    if (peer.feedback_due(now_ns)) send_feedback(link, now_ns);
    next_ns = std::min(next_ns, peer.next_timer_ns());
    links_up += peer.up() ? 1 : 0;
  }
  counters_.links_up.set(links_up);
  publish();
  return next_ns;
}

std::unique_ptr<LaneEpoch> Lane::install(std::unique_ptr<LaneEpoch> epoch, Nanoseconds now_ns) {
  CHECK(epoch != nullptr);
  changed_ = true;
  std::unique_ptr<LaneEpoch> retired = std::move(epochs_[1]);
  if (retired)  // Rounds that nobody has begun in time. Their references are dropped here, by their owner.
    for (std::size_t island = 0; island < retired->points.size(); ++island)
      for (aggregation::OpenRound* const round : retired->points[island].open_rounds())
        end_round(*retired, island, *round, wire::RoundOutcome::kSuperseded, now_ns);
  epochs_[1] = std::move(epochs_[0]);
  epochs_[0] = std::move(epoch);
  counters_.newest_epoch.set(epochs_[0]->table->epoch);
  if (epochs_[1]) {
    LaneEpoch& old = *epochs_[1];
    old.end_before(*epochs_[0], now_ns);
    for (std::size_t island = 0; island < old.points.size(); ++island)
      for (aggregation::OpenRound* const round : old.points[island].stop_before(epochs_[0]->first_round))
        end_round(old, island, *round, wire::RoundOutcome::kSuperseded, now_ns);
  }
  for (Link& link : links_) link.peer.announce();
  return retired;
}

void Lane::tell_grants_again(std::uint8_t link) {
  for (const auto& epoch : epochs_) {
    if (!epoch) continue;
    const multicast::ForwardingTable& forwarding = epoch->table->forwarding;
    for (std::size_t tree = 0; tree < forwarding.size(); ++tree) {
      const multicast::Branch* const branch = forwarding.find(static_cast<std::uint16_t>(tree));
      if (branch != nullptr && !branch->starts_here() && branch->parent_link == link)
        epoch->grants.tell_again(static_cast<std::uint16_t>(tree));
    }
  }
}

}  // namespace tombolo::dataplane
