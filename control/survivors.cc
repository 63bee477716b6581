#include "control/survivors.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tombolo::control {
namespace {

using schedule::LostLink;
using schedule::Rank;
using schedule::SiteId;

LostLink joined(SiteId one, SiteId other) { return {std::min(one, other), std::max(one, other)}; }

template <typename Value>
bool includes(const std::set<Value>& all, const std::set<Value>& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

}  // namespace

SurvivorPolicy::SurvivorPolicy(const schedule::Network& network, const SurvivorOptions& options)
    : options_(options), sites_(network.site_names.size()), islands_(network.islands.size()) {
  for (const schedule::Island& island : network.islands) site_of_island_.push_back(island.site);
  for (const schedule::DirectedLink& link : network.links) links_.try_emplace(joined(link.from, link.to));
}

void SurvivorPolicy::resume(const schedule::EpochPlan& plan) {
  for (auto& [ends, part] : links_) part.was_up = true;
  for (Part& part : islands_) part.was_up = true;
  for (const LostLink& link : plan.lost_links)
    if (const auto found = links_.find(link); found != links_.end()) found->second.up = false;
  for (const Rank rank : plan.lost_ranks)
    if (rank < islands_.size()) islands_[rank].up = false;
  settled_ = judge();
}

void SurvivorPolicy::report(SiteId site, std::span<const LinkState> links, Nanoseconds now_ns) {
  if (site >= sites_) return;
  speaking_.insert(site);
  for (auto& [ends, part] : links_) {
    if (ends.a != site && ends.b != site) continue;
    const SiteId other = ends.a == site ? ends.b : ends.a;
    const auto said = std::find_if(links.begin(), links.end(), [other](const LinkState& state) {
      return !state.is_island && state.id == other;
    });
    (ends.a == site ? part.said_by_a : part.said_by_b) =
        said == links.end() ? std::nullopt : std::optional(said->up);
    hear(part, now_ns);
  }
  for (const LinkState& state : links)
    if (state.is_island && state.id < islands_.size() && site_of_island_[state.id] == site)
      hear(islands_[state.id], state.up, now_ns);
  advance(now_ns);
}

void SurvivorPolicy::silent(SiteId site, Nanoseconds now_ns) {
  speaking_.erase(site);
  for (auto& [ends, part] : links_) {
    if (ends.a == site) part.said_by_a.reset();
    if (ends.b == site) part.said_by_b.reset();
    if (ends.a == site || ends.b == site) hear(part, now_ns);
  }
  advance(now_ns);
}

/// One end that says "down" is enough; if neither says anything, what was said last stands.
void SurvivorPolicy::hear(LinkPart& part, Nanoseconds now_ns) {
  if (!part.said_by_a && !part.said_by_b) return;
  hear(part, part.said_by_a.value_or(true) && part.said_by_b.value_or(true), now_ns);
}

void SurvivorPolicy::hear(Part& part, bool up, Nanoseconds now_ns) {
  if (!part.said) part.first_heard_ns = now_ns;
  if (part.said != up) part.said_since_ns = now_ns;
  part.said = up;
  part.was_up = part.was_up || up;
}

/// Takes over what has been said for long enough.
void SurvivorPolicy::advance(Part& part, Nanoseconds now_ns, Pending& pending) {
  if (!part.said || *part.said == part.up) return;
  Nanoseconds due_ns = part.said_since_ns + (*part.said ? options_.return_ns : options_.settle_ns);
  if (!part.was_up) due_ns = std::max(due_ns, part.first_heard_ns + options_.first_up_ns);
  if (due_ns <= now_ns) {
    part.up = *part.said;
    return;
  }
  next_timer_ns_ = std::min(next_timer_ns_, due_ns);
  // Nobody waits for what may be starting still.
  if (part.was_up) (*part.said ? pending.returns : pending.losses) = true;
}

/// Links of one dead edge are missed one after the other, and come back so: the verdict waits for those that
/// are about to follow, though not for long, because somewhere else a link may flap for ever.
void SurvivorPolicy::advance(Nanoseconds now_ns) {
  next_timer_ns_ = kNever;
  Pending pending;
  for (auto& [ends, part] : links_) advance(part, now_ns, pending);
  for (Part& part : islands_) advance(part, now_ns, pending);
  Survivors now = judge();
  if (now == settled_) {
    differs_since_ns_.reset();
    return;
  }
  if (!differs_since_ns_) differs_since_ns_ = now_ns;
  const Nanoseconds due_ns = *differs_since_ns_ + options_.settle_ns;
  // A loss does not wait for a return.
  const bool loses =
      !includes(settled_.lost_links, now.lost_links) || !includes(settled_.lost_islands, now.lost_islands);
  if ((pending.losses || (pending.returns && !loses)) && now_ns < due_ns) {
    next_timer_ns_ = std::min(next_timer_ns_, due_ns);
    return;
  }
  settled_ = std::move(now);
  differs_since_ns_.reset();
}

Survivors SurvivorPolicy::judge() const {
  Survivors result;
  const std::set<SiteId> living = largest_part();
  for (std::size_t site = 0; site < sites_; ++site)
    if (const auto id = static_cast<SiteId>(site); !living.contains(id)) result.dead_sites.insert(id);
  for (const auto& [ends, part] : links_)
    if (!part.up || !living.contains(ends.a) || !living.contains(ends.b)) result.lost_links.insert(ends);
  for (std::size_t rank = 0; rank < islands_.size(); ++rank)
    if (!islands_[rank].up || !living.contains(site_of_island_[rank]))
      result.lost_islands.insert(static_cast<Rank>(rank));
  return result;
}

/// Most sites; if two are alike, most edges that speak, most islands that are up, the lowest site.
std::set<SiteId> SurvivorPolicy::largest_part() const {
  std::vector<std::vector<SiteId>> neighbours(sites_);
  for (const auto& [ends, part] : links_) {
    if (!part.up) continue;
    neighbours[ends.a].push_back(ends.b);
    neighbours[ends.b].push_back(ends.a);
  }
  std::vector<std::size_t> islands_up(sites_, 0);
  for (std::size_t rank = 0; rank < islands_.size(); ++rank)
    if (islands_[rank].up) ++islands_up[site_of_island_[rank]];
  std::set<SiteId> best;
  std::tuple<std::size_t, std::size_t, std::size_t> best_score;
  std::vector<bool> seen(sites_, false);
  for (std::size_t start = 0; start < sites_; ++start) {
    if (seen[start]) continue;
    seen[start] = true;
    std::vector<SiteId> part{static_cast<SiteId>(start)};
    std::size_t speaking = 0;
    std::size_t islands = 0;
    for (std::size_t next = 0; next < part.size(); ++next) {
      const SiteId site = part[next];
      speaking += speaking_.count(site);
      islands += islands_up[site];
      for (const SiteId neighbour : neighbours[site])
        if (!seen[neighbour]) {
          seen[neighbour] = true;
          part.push_back(neighbour);
        }
    }
    const auto score = std::tuple(part.size(), speaking, islands);
    if (!best.empty() && score <= best_score) continue;
    best_score = score;
    best = std::set<SiteId>(part.begin(), part.end());
  }
  return best;
}

}  // namespace tombolo::control
