#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schedule/epoch_plan.h"
#include "schedule/topology.h"

namespace tombolo::schedule {

/// The contributor bitmap of a chunk indexes a clique's members.
inline constexpr std::size_t kMaxCliqueMembers = 64;
inline constexpr std::size_t kMaxRounds = 4096;

/// Members in ascending rank, at least two.
using Clique = std::vector<Rank>;

/// Disjoint cliques; an island in none of them rests. At least one clique.
struct Round {
  std::vector<Clique> cliques;
};

/// A period of rounds.
struct Schedule {
  std::string name;
  std::vector<Round> rounds;
};

/// Every round is one clique of all islands.
/// Errors: kInvalidInput for fewer than two or more than 64 islands.
Result<Schedule> full_schedule(const std::vector<Island>& islands);

/// The 3x3 geographic grid of the nine cities: a round of neighbours, then a round across the oceans.
/// Errors: kInvalidInput unless the islands' ids are those of the nine cities.
Result<Schedule> grid_schedule(const std::vector<Island>& islands);

/// Reads a schedule file: `rounds`, a list of rounds; a round is a list of cliques, a clique a list of island
/// ids; optional `name`. A clique of one rests, like an island that is not mentioned. Any bytes may be given.
/// Errors: kInvalidInput, exactly one, "file:line: key: what is wrong".
Result<Schedule> parse_schedule(std::string_view text, std::string_view file_name,
                                const std::vector<Island>& islands);

/// "full", "grid", or the path of a schedule file.
Result<Schedule> load_schedule(const std::string& name_or_path, const std::vector<Island>& islands);

}  // namespace tombolo::schedule
