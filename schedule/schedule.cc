#include "schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "schedule/yaml_value.h"

namespace tombolo::schedule {
namespace {

using RankById = std::map<std::string, Rank, std::less<>>;

RankById ranks_by_id(const std::vector<Island>& islands) {
  RankById ranks;
  for (std::size_t rank = 0; rank < islands.size(); ++rank)
    ranks.emplace(islands[rank].id, static_cast<Rank>(rank));
  return ranks;
}

Clique read_clique(const YamlValue& list, const RankById& ranks, std::map<Rank, std::string>& used) {
  const auto items = list.items();
  if (items.empty()) list.fail("a clique must have members");
  if (items.size() > kMaxCliqueMembers)
    list.fail(fmt::format("a clique of {}; at most {} islands can meet", items.size(), kMaxCliqueMembers));
  Clique clique;
  for (const YamlValue& item : items) {
    const auto found = ranks.find(item.text());
    if (found == ranks.end()) item.fail(fmt::format("there is no island '{}'", item.text()));
    const auto [first, added] = used.emplace(found->second, item.key());
    if (!added)
      item.fail(fmt::format("the island '{}' is already {} in this round", item.text(), first->second));
    clique.push_back(found->second);
  }
  std::sort(clique.begin(), clique.end());
  return clique;
}

Schedule read_schedule(const YamlValue& document, std::string_view file_name, const RankById& ranks) {
  const YamlMap top = document.map({"name", "rounds"});
  Schedule schedule;
  const auto name = top.find("name");
  schedule.name = name ? name->text() : std::string(file_name);
  const YamlValue list = top.get("rounds");
  const auto rounds = list.items();
  if (rounds.empty()) list.fail("there must be at least one round");
  if (rounds.size() > kMaxRounds) list.fail(fmt::format("{} rounds; at most {}", rounds.size(), kMaxRounds));
  for (const YamlValue& item : rounds) {
    Round round;
    std::map<Rank, std::string> used;
    for (const YamlValue& clique_list : item.items()) {
      Clique clique = read_clique(clique_list, ranks, used);
      if (clique.size() >= 2) round.cliques.push_back(std::move(clique));
    }
    if (round.cliques.empty()) item.fail("a round must have a clique of at least two islands");
    schedule.rounds.push_back(std::move(round));
  }
  return schedule;
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

Result<Schedule> parse_schedule(std::string_view text, std::string_view file_name,
                                const std::vector<Island>& islands) {
  return read_yaml<Schedule>(text, file_name, [&](const YamlValue& document) {
    return read_schedule(document, file_name, ranks_by_id(islands));
  });
}

Result<Schedule> load_schedule(const std::string& name_or_path, const std::vector<Island>& islands) {
  if (name_or_path == "full") return full_schedule(islands);
  if (name_or_path == "grid") return grid_schedule(islands);
  const Result<std::string> text = read_file(name_or_path);
  if (!text) return Error(text.error()).within("schedule (full, grid or a file)");
  return parse_schedule(*text, name_or_path, islands);
}

}  // namespace tombolo::schedule
