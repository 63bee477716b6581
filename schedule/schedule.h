#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schedule/epoch_plan.h"
#include "schedule/source_tree.h"
#include "schedule/topology.h"

namespace tombolo::schedule {

/// The contributor bitmap of a chunk indexes a clique's members.
inline constexpr std::size_t kMaxCliqueMembers = 64;
inline constexpr std::size_t kMaxRounds = 4096;
/// Fragments of an update that may be under way at once.
inline constexpr std::uint32_t kMaxFragments = 64;

/// Members in ascending rank, at least two.
using Clique = std::vector<Rank>;

/// How a clique exchanges: every member's update to every other (direct); shards to the member that sums
/// them, and the sums back to all (sharded: reduce-scatter, then all-gather); or partials up a shared tree
/// whose root's result comes back down (tree).
enum class Mode : std::uint8_t { kDirect, kSharded, kTree };
/// "direct", "sharded" or "tree": the word in files and reports.
std::string_view mode_name(Mode mode);

/// As a tree's root: the site of least radius, which the model finds.
inline constexpr SiteId kCentralRoot = 0xffff;

struct CliqueMode {
  Mode mode = Mode::kDirect;
  SiteId root = kCentralRoot;  ///< Only for kTree.

  friend bool operator==(const CliqueMode&, const CliqueMode&) = default;
};

/// Disjoint cliques; an island in none of them rests. At least one clique, or none and a duration: then all
/// islands rest (they train on their own).
struct Round {
  std::vector<Clique> cliques;
  /// By clique, or empty. What is not said here is chosen by whoever runs or prices the round.
  std::vector<std::optional<CliqueMode>> modes{};
  double rest_s = 0;  ///< Only of a round without cliques: how long it lasts; above 0.
  /// By clique, or empty: trees that were chosen for its members, only for cliques of mode direct.
  std::vector<CliqueTrees> trees{};
};

/// Whether all islands wait for a round's end before the next begins (barrier), or each clique starts as soon
/// as its own members are ready (event).
enum class Form : std::uint8_t { kBarrier, kEvent };

/// A period of rounds.
struct Schedule {
  std::string name;
  std::vector<Round> rounds;
  Form form = Form::kBarrier;
  /// Only of the form event: equal parts of the update, each of which goes through the rounds by itself.
  std::uint32_t fragments = 1;
  /// By rank, for the operation weighted; empty: none.
  std::vector<float> weights{};
};

/// Sums of 64 weights must stay finite, and so must their products with updates of ordinary size.
inline constexpr float kLargestWeight = 1e20f;
/// Whether a weight can be one: normal, above 0, at most kLargestWeight.
inline bool is_weight(float weight) {
  return std::isnormal(weight) && weight > 0 && weight <= kLargestWeight;
}

/// Every round is one clique of all islands.
/// Errors: kInvalidInput for fewer than two or more than 64 islands.
Result<Schedule> full_schedule(const std::vector<Island>& islands);

/// The 3x3 geographic grid of the nine cities: a round of neighbours, then a round across the oceans.
/// Errors: kInvalidInput unless the islands' ids are those of the nine cities.
Result<Schedule> grid_schedule(const std::vector<Island>& islands);

/// Reads a schedule file: `rounds`, a list of rounds; a round is a list of cliques, or `{rest_s}` if all
/// rest; a clique is a list of island ids, or `{members, mode, root, trees}`; optional `name`, `form` and, of
/// the form event, `fragments`, and `weights`, a number for each island. A clique of one rests, like an
/// island that is not mentioned. `trees` gives members of a clique of mode direct a tree: `LON: [LON-NYC,
/// NYC-LAX]`, links from the island's site to those of all other members. `sites`, by SiteId, are what `root`
/// and links may name; without them a root is not looked at, for callers that refuse the mode tree anyway,
/// and trees are refused. Any bytes may be given. Errors: kInvalidInput, exactly one, "file:line: key: what
/// is wrong".
Result<Schedule> parse_schedule(std::string_view text, std::string_view file_name,
                                const std::vector<Island>& islands,
                                const std::vector<std::string>& sites = {});

/// "full", "grid", or the path of a schedule file.
Result<Schedule> load_schedule(const std::string& name_or_path, const std::vector<Island>& islands,
                               const std::vector<std::string>& sites = {});

}  // namespace tombolo::schedule
