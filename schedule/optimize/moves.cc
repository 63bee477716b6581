#include "schedule/optimize/moves.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tombolo::schedule {
namespace {

/// More would make going through the pool longer than the search.
constexpr std::size_t kMaxPool = 30'000;

}  // namespace

void Moves::remember(const RoundHandle& round) {
  if (pool_.size() < kMaxPool && in_pool_.insert(round.get()).second) pool_.push_back(round);
}

Cycle Moves::change(const Cycle& cycle) {
  if (random_.chance(0.2)) return change_order(cycle);
  Cycle next = cycle;
  RoundHandle& place = next[random_.below(next.size())];
  place = random_.chance(0.1) ? pool_[random_.below(pool_.size())] : change_round(*place);
  if (!place) return {};
  remember(place);
  return next;
}

/// A round is added, dropped, or trades places with another.
Cycle Moves::change_order(const Cycle& cycle) {
  Cycle next = cycle;
  const auto place = next.begin() + static_cast<std::ptrdiff_t>(random_.below(next.size()));
  switch (random_.below(3)) {
    case 0: {
      if (next.size() == max_rounds_) return {};
      RoundHandle added = draw_round(cycle);
      if (!added) return {};
      next.insert(place, std::move(added));
      return next;
    }
    case 1:
      if (next.size() == 1) return {};
      next.erase(place);
      return next;
    default:
      if (next.size() < 3) return {};  // A cycle of two is the same the other way round.
      std::swap(*place, next[random_.below(next.size())]);
      return next;
  }
}

RoundHandle Moves::draw_round(const Cycle& cycle) {
  const RoundHandle& known =
      random_.chance(0.5) ? cycle[random_.below(cycle.size())] : pool_[random_.below(pool_.size())];
  return random_.chance(0.5) ? known : change_round(*known);
}

RoundHandle Moves::change_round(const TimedPartition& round) {
  Partition sets = round.sets;
  // One change, or several at once: what is good together is often bad alone.
  do {
    bool changed = false;
    switch (random_.below(8)) {
      case 0:
        changed = join_sets(sets);
        break;
      case 1:
        changed = split_set(sets);
        break;
      case 2:
      case 3:
      case 4:
        changed = swap_islands(sets);
        break;
      default:
        changed = move_island(sets);
    }
    if (!changed) return nullptr;
  } while (random_.chance(0.3));
  return book_.find(std::move(sets));
}

/// An island leaves its set for another, or to rest alone.
bool Moves::move_island(Partition& sets) {
  const IslandSet island = IslandSet{1} << random_.below(islands_);
  const std::size_t to = random_.below(sets.size() + 1);
  if (to < sets.size() && (sets[to] & island) != 0) return false;
  for (IslandSet& set : sets) set &= ~island;
  if (to < sets.size())
    sets[to] |= island;
  else
    sets.push_back(island);
  std::erase(sets, IslandSet{0});
  return true;
}

bool Moves::swap_islands(Partition& sets) {
  const IslandSet both = IslandSet{1} << random_.below(islands_) | IslandSet{1} << random_.below(islands_);
  if (std::popcount(both) != 2) return false;
  bool apart = false;
  for (IslandSet& set : sets) {
    if (std::popcount(set & both) != 1) continue;
    set ^= both;
    apart = true;
  }
  return apart;
}

bool Moves::join_sets(Partition& sets) {
  const std::size_t a = random_.below(sets.size());
  const std::size_t b = random_.below(sets.size());
  if (a == b) return false;
  sets[a] |= sets[b];
  sets.erase(sets.begin() + static_cast<std::ptrdiff_t>(b));
  return true;
}

/// Each member goes to one side or the other.
bool Moves::split_set(Partition& sets) {
  IslandSet& set = sets[random_.below(sets.size())];
  const IslandSet part = set & random_.bits();
  if (part == 0 || part == set) return false;
  set ^= part;
  sets.push_back(part);
  return true;
}

}  // namespace tombolo::schedule
