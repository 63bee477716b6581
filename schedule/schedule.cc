#include "schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace tombolo::schedule {
namespace {

using RankById = std::map<std::string, Rank, std::less<>>;

RankById ranks_by_id(const std::vector<Island>& islands) {
  RankById ranks;
  for (std::size_t rank = 0; rank < islands.size(); ++rank)
    ranks.emplace(islands[rank].id, static_cast<Rank>(rank));
  return ranks;
}

}  // namespace

std::string_view mode_name(Mode mode) {
  constexpr std::array<std::string_view, 3> kNames{"direct", "sharded", "tree"};
  return kNames[static_cast<std::size_t>(mode)];
}

Result<Schedule> full_schedule(const std::vector<Island>& islands) {
  if (islands.size() < 2 || islands.size() > kMaxCliqueMembers)
    return invalid_input(fmt::format("schedule full: needs 2 to {} islands, the topology has {}",
                                     kMaxCliqueMembers, islands.size()));
  Clique all(islands.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank) all[rank] = static_cast<Rank>(rank);
  return Schedule{"full", {Round{{std::move(all)}}}};
}

Result<Schedule> grid_schedule(const std::vector<Island>& islands) {
  constexpr std::size_t kSide = 3;
  using Line = std::array<std::string_view, kSide>;
  constexpr std::array<std::array<Line, kSide>, 2> kGrid{
      {{{{"AMS", "FRA", "LON"}, {"LAX", "NYC", "BAR"}, {"SEO", "SIN", "TYO"}}},
       {{{"LON", "NYC", "TYO"}, {"FRA", "LAX", "SIN"}, {"AMS", "BAR", "SEO"}}}}};
  const RankById ranks = ranks_by_id(islands);
  const Error wrong = invalid_input(
      "schedule grid: is defined for islands AMS BAR FRA LAX LON NYC SEO SIN TYO only; write a schedule "
      "file");
  if (ranks.size() != kSide * kSide) return wrong;
  Schedule schedule{"grid", {}};
  for (const auto& lines : kGrid) {
    Round round;
    for (const Line& line : lines) {
      Clique clique;
      for (const std::string_view id : line) {
        const auto found = ranks.find(id);
        if (found == ranks.end()) return wrong;
        clique.push_back(found->second);
      }
      std::sort(clique.begin(), clique.end());
      round.cliques.push_back(std::move(clique));
    }
    schedule.rounds.push_back(std::move(round));
  }
  return schedule;
}

}  // namespace tombolo::schedule
