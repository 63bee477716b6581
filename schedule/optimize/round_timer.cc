#include "schedule/optimize/round_timer.h"

#include <algorithm>
#include <limits>

#include "base/units.h"

namespace tombolo::schedule {
namespace {

constexpr std::size_t kMaxKnown = 300'000;
/// Times that differ by less are equal: both cliques are on the bottleneck.
constexpr double kTie = 1e-9;

TimedClique timed_clique(const Problem& problem, const CliqueMode& mode, const CliqueLoad& load) {
  const auto capacities = problem.model().capacities_bps();
  const double bits = problem.update_bytes() * static_cast<double>(kBitsPerByte);
  TimedClique clique{.mode = mode, .latency_s = load.latency_s, .alone_s = load.latency_s, .uses = {}};
  for (const ResourceLoad& resource : load.loads) {
    const double transfer_s = resource.updates * bits / capacities[resource.resource];
    clique.alone_s = std::max(clique.alone_s, load.latency_s + transfer_s);
    if (resource.resource < 2 * problem.islands()) continue;
    clique.uses.push_back(
        {static_cast<std::uint32_t>(resource.resource - 2 * problem.islands()), transfer_s});
  }
  return clique;
}

}  // namespace

std::size_t RoundTimer::Hash::operator()(const Clique& clique) const {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const Rank rank : clique) hash = (hash ^ rank) * 0x9e3779b97f4a7c15 + (hash >> 29);
  return hash;
}

const TimedClique& RoundTimer::clique(const Clique& members) {
  const auto found = known_.find(members);
  if (found != known_.end()) return found->second;
  TimedClique quickest{
      .mode = {}, .latency_s = 0, .alone_s = std::numeric_limits<double>::infinity(), .uses = {}};
  for (const CliqueMode& mode : problem_.model().allowed_modes(members)) {
    TimedClique candidate = timed_clique(problem_, mode, problem_.model().load(members, mode));
    work_ += 40 * members.size() * members.size();
    if (candidate.alone_s < quickest.alone_s) quickest = std::move(candidate);
  }
  return known_.emplace(members, std::move(quickest)).first->second;
}

void RoundTimer::forget_if_full() {
  if (known_.size() > kMaxKnown) known_.clear();
}

TimedGroups RoundTimer::time(const std::vector<const TimedClique*>& cliques) {
  TimedGroups result;
  touched_.clear();
  for (std::size_t c = 0; c < cliques.size(); ++c) {
    result.seconds = std::max(result.seconds, cliques[c]->alone_s);
    for (const TimedClique::Use& use : cliques[c]->uses) {
      auto& shared = shared_[use.link];
      if (shared.empty()) touched_.push_back(use.link);
      shared.push_back({cliques[c]->latency_s, use.transfer_s, static_cast<std::uint32_t>(c)});
    }
    work_ += 4 * cliques[c]->uses.size() + 4;
  }
  std::uint32_t bottleneck = std::numeric_limits<std::uint32_t>::max();
  for (const std::uint32_t link : touched_) {
    // Newton's method on a convex, falling function, from the left of its root. No T - L is 0: every clique's
    // own time is above its latency.
    for (int step = 0; step < 100; ++step) {
      double load = -1;
      double slope = 0;
      for (const Shared& one : shared_[link]) {
        const double share = one.transfer_s / (result.seconds - one.latency_s);
        load += share;
        slope += share / (result.seconds - one.latency_s);
      }
      if (!(load > 1e-12)) break;
      result.seconds += load / slope;
      bottleneck = link;
    }
  }
  for (std::size_t c = 0; c < cliques.size(); ++c)
    if (cliques[c]->alone_s >= result.seconds * (1 - kTie)) result.critical.push_back(c);
  if (bottleneck != std::numeric_limits<std::uint32_t>::max())
    for (const Shared& one : shared_[bottleneck]) result.critical.push_back(one.clique);
  for (const std::uint32_t link : touched_) shared_[link].clear();
  return result;
}

}  // namespace tombolo::schedule
