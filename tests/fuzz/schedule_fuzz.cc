#include "schedule/schedule_file.h"

#include <set>
#include <string_view>

#include "base/check.h"
#include "tests/fuzz/fuzz_target.h"

namespace tombolo::schedule {
namespace {

constexpr Rank kIslands = 70;  // More than a clique may have.

/// The nine cities first, as the schedule files of the repository name them; then islands I9, I10 and so on.
std::vector<Island> make_islands() {
  std::vector<Island> islands;
  for (const char* id : {"AMS", "BAR", "FRA", "LAX", "LON", "NYC", "SEO", "SIN", "TYO"})
    islands.push_back({id, static_cast<SiteId>(islands.size())});
  while (islands.size() < kIslands)
    islands.push_back({"I" + std::to_string(islands.size()), static_cast<SiteId>(islands.size())});
  return islands;
}

Network make_network() {
  Network network;
  network.islands = make_islands();
  network.site_names = {"AMS", "null", ".", "LAX"};
  return network;
}

/// What is accepted can be written, and reads back the same.
void check_written(const Schedule& schedule, const Network& network) {
  const ScheduleNotes notes{{"a: 1\n- b", ""}, {{"rounds: []"}}};
  const std::string text = write_schedule(schedule, network, notes);
  const auto again = parse_schedule(text, "written.yaml", network.islands, network.site_names);
  CHECK(again.ok());
  CHECK(again->name == schedule.name && again->form == schedule.form);
  CHECK(again->rounds.size() == schedule.rounds.size());
  for (std::size_t r = 0; r < schedule.rounds.size(); ++r) {
    CHECK(again->rounds[r].cliques == schedule.rounds[r].cliques);
    CHECK(again->rounds[r].modes == schedule.rounds[r].modes);
    CHECK(again->rounds[r].rest_s == schedule.rounds[r].rest_s);
    CHECK(again->rounds[r].trees == schedule.rounds[r].trees);
  }
}

/// Trees of sites that exist, from a member to all others of a clique of mode direct.
void check_trees(const Round& round, const Network& network) {
  CHECK(round.trees.empty() || round.trees.size() == round.cliques.size());
  for (std::size_t c = 0; c < round.trees.size(); ++c) {
    const Clique& clique = round.cliques[c];
    CHECK(round.trees[c].empty() || round.trees[c].size() == clique.size());
    if (!round.trees[c].empty()) CHECK(round.modes[c] == CliqueMode{Mode::kDirect});
    for (std::size_t i = 0; i < round.trees[c].size(); ++i) {
      std::vector<SiteId> sites;
      for (const Rank rank : clique)
        if (network.islands[rank].site != network.islands[clique[i]].site)
          sites.push_back(network.islands[rank].site);
      const SourceTree& tree = round.trees[c][i];
      if (tree.empty()) continue;
      const SiteId source = network.islands[clique[i]].site;
      CHECK(check_source_tree(tree, source, sites, network.site_names).ok());
      const std::vector<TreeHop> hops = source_tree_hops(tree, source, sites);
      CHECK(hops.size() == tree.size() + 1);
    }
  }
}

void check_accepted(const Schedule& schedule, const Network& network) {
  CHECK(!schedule.rounds.empty() && schedule.rounds.size() <= kMaxRounds);
  for (const Round& round : schedule.rounds) {
    CHECK(round.cliques.empty() == (round.rest_s > 0));
    check_trees(round, network);
    CHECK(round.modes.empty() || round.modes.size() == round.cliques.size());
    for (const auto& mode : round.modes)
      CHECK(!mode || mode->root == kCentralRoot || (mode->mode == Mode::kTree && mode->root < 4));
    std::set<Rank> seen;
    for (const Clique& clique : round.cliques) {
      CHECK(clique.size() >= 2 && clique.size() <= kMaxCliqueMembers);
      for (std::size_t i = 0; i < clique.size(); ++i) {
        CHECK(clique[i] < kIslands);
        CHECK(i == 0 || clique[i - 1] < clique[i]);
        CHECK(seen.insert(clique[i]).second);
      }
    }
  }
}

}  // namespace
}  // namespace tombolo::schedule

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tombolo;
  static const schedule::Network network = schedule::make_network();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto schedule = schedule::parse_schedule(text, "input.yaml", network.islands, network.site_names);
  if (schedule.ok()) {
    schedule::check_accepted(*schedule, network);
    schedule::check_written(*schedule, network);
  } else {
    CHECK(schedule.error().code == ErrorCode::kInvalidInput);
    CHECK(schedule.error().message.starts_with("input.yaml:"));
  }
  return 0;
}

std::vector<std::string> tombolo::fuzz::seed_inputs() {
  return {
      "form: event\nrounds:\n  - - {members: [AMS, FRA], mode: tree, root: \"null\"}\n"
      "    - {members: [I9, I10, I69], mode: sharded}\n    - [NYC, LON]\n  - {rest_s: 2.5}\n",
      "rounds:\n  - [{members: [AMS, FRA], trees: {AMS: [AMS-LAX, LAX-.], FRA: [.-AMS]}}]\n",
      "rounds:\n  - - {members: [AMS, LAX, BAR], mode: direct, trees: {AMS: [AMS-LAX, LAX-null]}}\n    - "
      "[I9, I10]\n",
      "name: small\nrounds:\n  - [[AMS, FRA], [I9, I10, I69]]\n  - [[NYC, LON]]\n"};
}
