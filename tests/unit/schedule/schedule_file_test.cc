#include "schedule/schedule_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

void expect_same(const Schedule& a, const Schedule& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.form, b.form);
  EXPECT_EQ(a.fragments, b.fragments);
  EXPECT_EQ(a.weights, b.weights);
  ASSERT_EQ(a.rounds.size(), b.rounds.size());
  for (std::size_t r = 0; r < a.rounds.size(); ++r) {
    EXPECT_EQ(a.rounds[r].cliques, b.rounds[r].cliques);
    EXPECT_EQ(a.rounds[r].modes, b.rounds[r].modes);
    EXPECT_EQ(a.rounds[r].rest_s, b.rounds[r].rest_s);
    EXPECT_EQ(a.rounds[r].trees, b.rounds[r].trees);
  }
}

TEST(ScheduleFile, ReadsModesFormAndRests) {
  const Network network = shipped_network("nine-city.yaml", "mixed");
  const auto schedule = parse_schedule(
      "form: event\n"
      "rounds:\n"
      "  - - {members: [LON, AMS, FRA], mode: tree, root: NYC}\n"
      "    - [TYO, SEO]\n"
      "    - {members: [LAX, NYC]}\n"
      "    - {members: [BAR], mode: sharded}\n"
      "  - {rest_s: 0.25}\n"
      "  - [{members: [SIN, TYO], mode: tree}]\n"
      "  - [[LON, NYC]]\n",
      "file", network.islands, network.site_names);
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  EXPECT_EQ(schedule->form, Form::kEvent);
  ASSERT_EQ(schedule->rounds.size(), 4u);
  EXPECT_EQ(schedule->rounds[0].cliques, (std::vector<Clique>{{0, 2, 4}, {6, 8}, {3, 5}}));
  EXPECT_EQ(schedule->rounds[0].modes,
            (std::vector<std::optional<CliqueMode>>{CliqueMode{Mode::kTree, 5}, std::nullopt, std::nullopt}));
  EXPECT_EQ(schedule->rounds[0].rest_s, 0);
  EXPECT_TRUE(schedule->rounds[1].cliques.empty());
  EXPECT_EQ(schedule->rounds[1].rest_s, 0.25);
  EXPECT_EQ(schedule->rounds[2].modes[0], (CliqueMode{Mode::kTree, kCentralRoot}));
  EXPECT_TRUE(schedule->rounds[3].modes.empty());
}

TEST(ScheduleFile, EveryIslandHasAWeightOrNone) {
  const Network network = shipped_network("three-site.yaml", "even");
  std::string all = "weights: {";
  for (std::size_t rank = 0; rank < network.islands.size(); ++rank)
    all += fmt::format("{}: {}, ", network.islands[rank].id, static_cast<double>(rank) + 0.5);
  const std::string rounds =
      fmt::format("}}\nrounds: [[[{}, {}]]]\n", network.islands[0].id, network.islands[1].id);
  const auto read = [&](const std::string& text) { return parse_schedule(text, "file", network.islands); };
  const auto schedule = read(all + rounds);
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  ASSERT_EQ(schedule->weights.size(), network.islands.size());
  EXPECT_EQ(schedule->weights[2], 2.5f);
  const std::string& first = network.islands[0].id;
  for (const auto& [weights, says] : std::vector<std::pair<std::string, std::string>>{
           {"weights: {" + first + ": 1", "has no weight"},
           {all + "ZZZ: 1", "there is no island 'ZZZ'"},
           {"weights: {" + first + ": 0", "weights." + first},
           {"weights: {" + first + ": 1e-44", "too small"},
           {"weights: {" + first + ": 1e21", "weights." + first},
           {"weights: {" + first + ": .nan", "weights." + first}}) {
    const auto refused = read(weights + rounds);
    ASSERT_FALSE(refused.ok()) << weights;
    EXPECT_NE(refused.error().message.find(says), std::string::npos) << refused.error().message;
  }
}

TEST(ScheduleFile, ReadsAndWritesTrees) {
  const Network network = ring_of_four();
  const auto schedule = parse_schedule(
      "rounds:\n"
      "  - - {members: [R, P], trees: {P: [P-Q, Q-R], R: [S-P, R-S]}}\n"
      "    - {members: [Q, S], mode: direct, trees: {S: [S-R, R-Q]}}\n"
      "  - [[P, Q, R, S]]\n",
      "file", network.islands, network.site_names);
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  const std::vector<CliqueTrees> expected{{{{0, 1}, {1, 2}}, {{3, 0}, {2, 3}}}, {{}, {{3, 2}, {2, 1}}}};
  EXPECT_EQ(schedule->rounds[0].trees, expected);
  EXPECT_EQ(schedule->rounds[0].modes, (std::vector<std::optional<CliqueMode>>{CliqueMode{}, CliqueMode{}}));
  EXPECT_TRUE(schedule->rounds[1].trees.empty());
  const std::string text = write_schedule(*schedule, network, {});
  EXPECT_NE(text.find("- - {members: [P, R], mode: direct, trees: {P: [P-Q, Q-R], R: [S-P, R-S]}}\n"),
            std::string::npos)
      << text;
  const auto again = parse_schedule(text, "written", network.islands, network.site_names);
  ASSERT_TRUE(again.ok()) << again.error().message;
  expect_same(*schedule, *again);
}

TEST(ScheduleFile, BadTreesNameLineAndKey) {
  const Network network = ring_of_four();
  const std::vector<std::pair<std::string, std::string>> cases{
      {"{P: [P-Q, Q-R, Q-P]}", ".trees.P: the link Q-P leads back to the source"},
      {"{P: [P-Q, Q-R, S-R]}", ".trees.P: two links lead to R"},
      {"{P: [P-Q, S-R]}", ".trees.P: the link S-R is not joined to the source at P"},
      {"{P: [P-Q]}", ".trees.P: does not reach R"},
      {"{P: [P-Q, Q-R, P-S]}", ".trees.P: the branch to S serves nobody"},
      {"{P: []}", ".trees.P: a tree must have links"},
      {"{P: [P-Q, Q-Z]}", ".trees.P[1]: there is no site 'Z'"},
      {"{P: [P-Q, QR]}", ".trees.P[1]: must be a link, written like LON-NYC"},
      {"{P: P-Q}", ".trees.P: must be a list"},
      {"{Q: [Q-R]}", ".trees.Q: the island 'Q' is not in the clique"},
      {"{Z: [Q-R]}", ".trees.Z: the island 'Z' is not in the clique"},
      {"[P-Q]", ".trees: must be a mapping"},
      {"{P: [P-Q, Q-R]}, mode: sharded", ".trees: only a clique of mode direct has trees of its members"}};
  for (const auto& [trees, expected] : cases) {
    const std::string text = "rounds:\n  - [{members: [P, R], trees: " + trees + "}]\n";
    const auto schedule = parse_schedule(text, "bad", network.islands, network.site_names);
    ASSERT_FALSE(schedule.ok()) << text;
    const std::string whole = "bad:2: rounds[0][0]" + expected;
    EXPECT_EQ(schedule.error().message.substr(0, whole.size()), whole);
  }
  const std::string good = "rounds:\n  - [{members: [P, R], trees: {P: [P-Q, Q-R]}}]\n";
  const auto unknown_sites = parse_schedule(good, "bad", network.islands);
  ASSERT_FALSE(unknown_sites.ok());
  EXPECT_EQ(unknown_sites.error().message, "bad:2: rounds[0][0].trees: trees cannot be given here");
  const auto event = parse_schedule("form: event\n" + good, "bad", network.islands, network.site_names);
  ASSERT_FALSE(event.ok());
  EXPECT_EQ(event.error().message, "bad:3: rounds[0]: a schedule of the form event has no trees of its own");
}

TEST(ScheduleFile, WritesWhatItReads) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Network network = random_network(random);
    network.islands[0].id = "null";  // A word that YAML reads as nothing.
    Schedule schedule = random_schedule(random, network.islands.size());
    schedule.name = random.chance(0.5) ? "a \"name\": # [with] \\ all\n\tof it" : "plain";
    schedule.form = random.chance(0.5) ? Form::kEvent : Form::kBarrier;
    if (schedule.form == Form::kEvent)
      schedule.fragments = static_cast<std::uint32_t>(1 + random.below(kMaxFragments));
    for (std::size_t rank = 0; seed % 2 == 0 && rank < network.islands.size(); ++rank)
      schedule.weights.push_back(static_cast<float>(random.unit()) + 1e-6f);
    for (Round& round : schedule.rounds) {
      if (random.chance(0.2)) {
        round = {};
        round.rest_s = random.unit() + 1e-9;
      } else if (random.chance(0.6)) {
        round.modes.resize(round.cliques.size());
        round.modes[0] =
            CliqueMode{Mode::kTree, static_cast<SiteId>(random.below(network.site_names.size()))};
        for (std::size_t i = 1; i < round.modes.size(); ++i)
          if (random.chance(0.7)) round.modes[i] = CliqueMode{static_cast<Mode>(random.below(3))};
      }
    }
    const ScheduleNotes notes{{"D 1.5 s", "two\nlines: [x"}, {{"round 0"}}};
    const std::string text = write_schedule(schedule, network, notes);
    EXPECT_TRUE(text.starts_with("# D 1.5 s\n# two lines: [x\n"));
    const auto again = parse_schedule(text, "written", network.islands, network.site_names);
    ASSERT_TRUE(again.ok()) << again.error().message << "\n" << text;
    expect_same(schedule, *again);
    EXPECT_EQ(write_schedule(*again, network, notes), text);
  }
}

}  // namespace
}  // namespace tombolo::schedule
