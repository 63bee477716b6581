#include "schedule/event/event_moves.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace tombolo::schedule {
namespace {

template <typename T>
T& pick(std::vector<T>& items, Random& random) {
  return items[random.below(items.size())];
}

/// The cliques of a round and, as cliques of one, the islands that rest.
std::vector<Clique> all_groups(const Round& round, std::size_t islands) {
  std::vector<Clique> groups = round.cliques;
  std::vector<bool> meets(islands, false);
  for (const Clique& clique : groups)
    for (const Rank rank : clique) meets[rank] = true;
  for (std::size_t rank = 0; rank < islands; ++rank)
    if (!meets[rank]) groups.push_back({static_cast<Rank>(rank)});
  return groups;
}

/// Makes a round of groups; false if no clique, or one that is too large, is among them.
bool set_groups(Round& round, std::vector<Clique> groups) {
  std::erase_if(groups, [](const Clique& group) { return group.size() < 2; });
  if (groups.empty()) return false;
  for (Clique& group : groups) {
    if (group.size() > kMaxCliqueMembers) return false;
    std::sort(group.begin(), group.end());
  }
  round.cliques = std::move(groups);
  round.modes.clear();  // They were those of the cliques before.
  return true;
}

bool move_island(Schedule& schedule, std::size_t islands, Random& random) {
  Round& round = pick(schedule.rounds, random);
  std::vector<Clique> groups = all_groups(round, islands);
  const std::size_t from = random.below(groups.size());
  const std::size_t to = random.below(groups.size() + 1);  // One more: alone.
  if (from == to) return false;
  const std::size_t at = random.below(groups[from].size());
  const Rank rank = groups[from][at];
  groups[from].erase(groups[from].begin() + static_cast<std::ptrdiff_t>(at));
  if (to == groups.size())
    groups.push_back({rank});
  else
    groups[to].push_back(rank);
  return set_groups(round, std::move(groups));
}

bool swap_islands(Schedule& schedule, std::size_t islands, Random& random) {
  Round& round = pick(schedule.rounds, random);
  std::vector<Clique> groups = all_groups(round, islands);
  const std::size_t a = random.below(groups.size());
  const std::size_t b = random.below(groups.size());
  if (a == b) return false;
  std::swap(pick(groups[a], random), pick(groups[b], random));
  return set_groups(round, std::move(groups));
}

bool merge_groups(Schedule& schedule, std::size_t islands, Random& random) {
  Round& round = pick(schedule.rounds, random);
  std::vector<Clique> groups = all_groups(round, islands);
  const std::size_t a = random.below(groups.size());
  const std::size_t b = random.below(groups.size());
  if (a == b) return false;
  groups[a].insert(groups[a].end(), groups[b].begin(), groups[b].end());
  groups[b].clear();
  return set_groups(round, std::move(groups));
}

bool split_clique(Schedule& schedule, std::size_t islands, Random& random) {
  Round& round = pick(schedule.rounds, random);
  std::vector<Clique> groups = all_groups(round, islands);
  Clique& group = pick(groups, random);
  Clique apart;
  Clique stays;
  for (const Rank rank : group) (random.chance(0.5) ? apart : stays).push_back(rank);
  if (apart.empty() || stays.empty()) return false;
  group = std::move(stays);
  groups.push_back(std::move(apart));
  return set_groups(round, std::move(groups));
}

bool drop_clique(Schedule& schedule, std::size_t, Random& random) {
  Round& round = pick(schedule.rounds, random);
  if (round.cliques.size() < 2) return false;
  round.cliques.erase(round.cliques.begin() +
                      static_cast<std::ptrdiff_t>(random.below(round.cliques.size())));
  round.modes.clear();
  return true;
}

void insert_round(Schedule& schedule, Round round, Random& random) {
  const std::size_t at = random.below(schedule.rounds.size() + 1);
  schedule.rounds.insert(schedule.rounds.begin() + static_cast<std::ptrdiff_t>(at), std::move(round));
}

bool repeat_clique(Schedule& schedule, std::size_t, Random& random) {
  Clique clique = pick(pick(schedule.rounds, random).cliques, random);
  insert_round(schedule, Round{{std::move(clique)}}, random);
  return true;
}

bool repeat_round(Schedule& schedule, std::size_t, Random& random) {
  insert_round(schedule, Round(pick(schedule.rounds, random)), random);
  return true;
}

bool add_pair(Schedule& schedule, std::size_t islands, Random& random) {
  const auto a = static_cast<Rank>(random.below(islands));
  const auto b = static_cast<Rank>(random.below(islands));
  if (a == b) return false;
  insert_round(schedule, Round{{{std::min(a, b), std::max(a, b)}}}, random);
  return true;
}

bool drop_round(Schedule& schedule, std::size_t, Random& random) {
  if (schedule.rounds.size() < 2) return false;
  schedule.rounds.erase(schedule.rounds.begin() +
                        static_cast<std::ptrdiff_t>(random.below(schedule.rounds.size())));
  return true;
}

bool swap_rounds(Schedule& schedule, std::size_t, Random& random) {
  const std::size_t a = random.below(schedule.rounds.size());
  const std::size_t b = random.below(schedule.rounds.size());
  if (a == b) return false;
  std::swap(schedule.rounds[a], schedule.rounds[b]);
  return true;
}

}  // namespace

bool move_at_random(Schedule& schedule, std::size_t islands, std::size_t max_rounds, Random& random) {
  using Move = bool (*)(Schedule&, std::size_t, Random&);
  // Small steps come more often.
  constexpr std::array<Move, 14> kMoves{move_island,  move_island,  move_island,  swap_islands, swap_islands,
                                        swap_islands, merge_groups, split_clique, drop_clique,  repeat_clique,
                                        repeat_round, add_pair,     drop_round,   swap_rounds};
  const Move move = kMoves[random.below(kMoves.size())];
  return move(schedule, islands, random) && schedule.rounds.size() <= max_rounds;
}

}  // namespace tombolo::schedule
