#include "control/membership.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tombolo::control {
namespace {

using schedule::Clique;
using schedule::CliqueTrees;
using schedule::Rank;
using schedule::Round;
using schedule::Schedule;

/// Sets of islands that influence one another over a period: the cliques of all rounds, joined.
class Groups {
 public:
  explicit Groups(const Schedule& schedule) {
    for (const Round& round : schedule.rounds) {
      for (const Clique& clique : round.cliques) {
        for (const Rank member : clique) parent_[find(member)] = find(clique.front());
      }
    }
  }

  Rank find(Rank rank) {
    Rank root = rank;
    while (parent_.try_emplace(root, root).first->second != root) root = parent_[root];
    return root;
  }

 private:
  std::map<Rank, Rank> parent_;
};

std::set<Rank> members_of(const Schedule& schedule) {
  std::set<Rank> members;
  for (const Round& round : schedule.rounds) {
    for (const Clique& clique : round.cliques) members.insert(clique.begin(), clique.end());
  }
  return members;
}

/// Islands of one group of `nominal` must be in one group of `remaining`.
Status check_groups(const Schedule& nominal, const Schedule& remaining, const std::set<Rank>& lost) {
  Groups before(nominal);
  Groups after(remaining);
  std::map<Rank, Rank> first_of_group;
  for (const Rank rank : members_of(nominal)) {
    if (lost.contains(rank)) continue;
    const Rank first = first_of_group.try_emplace(before.find(rank), rank).first->second;
    if (after.find(rank) == after.find(first)) continue;
    return Error{
        ErrorCode::kFailed,
        fmt::format("schedule {}: without the lost islands, ranks {} and {} never influence each other; "
                    "choose another schedule",
                    nominal.name, first, rank)};
  }
  return ok_status();
}

}  // namespace

Result<Schedule> without(const Schedule& nominal, const std::set<Rank>& lost) {
  Schedule remaining{.name = nominal.name, .rounds = {}, .form = nominal.form};
  for (const Round& round : nominal.rounds) {
    Round kept{.cliques = {}, .modes = {}, .rest_s = round.rest_s};
    bool any_tree = false;
    for (std::size_t i = 0; i < round.cliques.size(); ++i) {
      Clique clique = round.cliques[i];
      std::erase_if(clique, [&lost](Rank member) { return lost.contains(member); });
      if (clique.size() < 2) continue;
      kept.cliques.push_back(std::move(clique));
      if (!round.modes.empty()) kept.modes.push_back(round.modes[i]);
      // Trees to islands that are gone would serve nobody: who is left sends the shortest way.
      const bool whole = kept.cliques.back().size() == round.cliques[i].size();
      kept.trees.push_back(whole && !round.trees.empty() ? round.trees[i] : CliqueTrees{});
      any_tree = any_tree || !kept.trees.back().empty();
    }
    if (!any_tree) kept.trees.clear();
    if (!kept.cliques.empty() || kept.rest_s > 0) remaining.rounds.push_back(std::move(kept));
  }
  if (std::all_of(remaining.rounds.begin(), remaining.rounds.end(),
                  [](const Round& round) { return round.cliques.empty(); })) {
    return Error{ErrorCode::kFailed,
                 fmt::format("schedule {}: without the lost islands no clique is left", nominal.name)};
  }
  remaining.weights = nominal.weights;
  if (Status grouped = check_groups(nominal, remaining, lost); !grouped.ok())
    return std::move(grouped).error();
  return remaining;
}

}  // namespace tombolo::control
