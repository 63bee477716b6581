#include "schedule/optimize/grouping.h"

#include <algorithm>
#include <utility>

namespace tombolo::schedule {

Grouping to_grouping(std::vector<Clique> groups, std::size_t islands) {
  Grouping grouping;
  grouping.group_of.resize(islands);
  std::erase_if(groups, [](const Clique& group) { return group.empty(); });
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::sort(groups[g].begin(), groups[g].end());
    for (const Rank rank : groups[g]) grouping.group_of[rank] = static_cast<std::uint16_t>(g);
  }
  grouping.groups = std::move(groups);
  return grouping;
}

Grouping to_grouping(const Round& round, std::size_t islands) {
  std::vector<Clique> groups = round.cliques;
  std::vector<bool> meets(islands, false);
  for (const Clique& clique : round.cliques)
    for (const Rank rank : clique) meets[rank] = true;
  for (std::size_t i = 0; i < islands; ++i)
    if (!meets[i]) groups.push_back({static_cast<Rank>(i)});
  return to_grouping(std::move(groups), islands);
}

Round to_round(const Grouping& grouping) {
  Round round;
  for (const Clique& group : grouping.groups)
    if (group.size() >= 2) round.cliques.push_back(group);
  std::sort(round.cliques.begin(), round.cliques.end());
  return round;
}

}  // namespace tombolo::schedule
