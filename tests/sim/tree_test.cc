// Cliques that fold on trees, in virtual time: right to the bit by a replay of the tree, in the time that the
// model says, with losses, changes of the schedule, and members that stop.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "control/membership.h"
#include "tests/sim/run_config.h"
#include "tools/testbed/planned_order.h"
#include "tools/testbed/workload.h"

namespace tombolo::sim {
namespace {

using testbed::RunConfig;
using testbed::RunReport;

/// Says that every clique of the schedule folds on a tree.
schedule::Schedule on_trees(schedule::Schedule schedule) {
  for (schedule::Round& round : schedule.rounds)
    round.modes.assign(round.cliques.size(), schedule::CliqueMode{schedule::Mode::kTree});
  return schedule;
}

/// Trees that meet the same sites, and a direct clique beside one of them.
schedule::Schedule mixed(const schedule::Network& network) {
  const auto schedule = schedule::parse_schedule(
      "rounds:\n"
      "  - [{members: [AMS, FRA, NYC, BAR], mode: tree}, {members: [LON, SIN], mode: direct},\n"
      "     {members: [LAX, TYO, SEO], mode: tree, root: SIN}]\n"
      "  - [{members: [AMS, SEO, LON], mode: direct}]\n"
      "  - [{members: [AMS, BAR, FRA, LAX, LON, NYC, SEO, SIN, TYO], mode: tree, root: LON}]\n"
      "  - [{members: [FRA, TYO], mode: tree}, {members: [LON, NYC], mode: tree}]\n",
      "mixed", network.islands, network.site_names);
  EXPECT_TRUE(schedule.ok()) << schedule.error().message;
  return *schedule;
}

RunConfig tree_config(double scale) {
  RunConfig config;
  config.network = shipped("nine-city.yaml", "testnet10", scale);
  config.schedule = full(config.network);
  config.update_bytes = static_cast<std::uint64_t>(1e9 * scale) / sizeof(float) * sizeof(float);
  config.tree_aggregation = true;
  return config;
}

TEST(Tree, AGigabyteTakesTheTimeOfTheModel) {
  // What the network's part is worth on testnet10, one clique of nine: seconds by the round model.
  struct Case {
    double model_s;
    bool multicast, edge, tree;
  };
  for (const Case& c :
       {Case{8.967, false, false, false}, Case{6.567, true, true, false}, Case{0.982, true, true, true}}) {
    RunConfig config = tree_config(0.001);
    config.multicast = c.multicast;
    config.edge_aggregation = c.edge;
    config.tree_aggregation = c.tree;
    const RunReport report = run_or_fail(config);
    EXPECT_EQ(complaints(report), "");
    ASSERT_EQ(report.rounds.size(), 1u);
    EXPECT_NEAR(report.rounds[0].model_s, c.model_s, 0.001);
    EXPECT_GE(report.rounds[0].ratio(), 1.0);
    EXPECT_LE(report.rounds[0].ratio(), 1.10)
        << report.rounds[0].measured_s << " s, predicted " << report.rounds[0].predicted_s << " s";
  }
}

TEST(Tree, ExactInEveryRound) {
  RunConfig config = tree_config(0.0002);
  config.rounds = 5;
  for (const schedule::Schedule& schedule :
       {full(config.network), on_trees(grid(config.network)), mixed(config.network)})
    for (const wire::Operation operation : {wire::Operation::kSum, wire::Operation::kMean}) {
      config.schedule = schedule;
      config.operation = operation;
      EXPECT_EQ(complaints(run_or_fail(config)), "") << schedule.name;
    }
}

TEST(Tree, PartialsInTheUpdatesFormatRoundAtEverySite) {
  using F = NumberFormat;
  for (const auto& [format, result] :
       {std::pair{F::kBf16, F::kFp32}, {F::kFp16, F::kNone}, {F::kMxFp8E4M3, F::kBf16}}) {
    RunConfig config = tree_config(0.0002);
    config.schedule = mixed(config.network);
    config.format = format;
    config.result_format = result;
    config.partial_format = schedule::PartialFormat::kUpdate;
    config.chunk_elements = chunk_elements_for(std::array{format, config.output_format()}, 1280);
    config.update_bytes = encoded_bytes(format, 50'001);
    EXPECT_EQ(complaints(run_or_fail(config)), "") << name(format);
  }
}

TEST(Tree, ExactWithWorkersAndJumbo) {
  RunConfig config = tree_config(0.0002);
  config.schedule = mixed(config.network);
  config.lane_count = 12;
  config.workers = 4;
  config.receive_queues = 2;
  config.chunk_elements = 2048;
  EXPECT_EQ(complaints(run_or_fail(config)), "");
}

TEST(Tree, ExactInRealTime) {
  RunConfig config = tree_config(0.0002);
  config.update_bytes = 20'000;
  config.schedule = mixed(config.network);
  config.real_time = true;
  config.deadline_ns = 60 * kSecond;
  EXPECT_EQ(complaints(run_or_fail(config)), "");
}

TEST(Tree, ATransitSiteFoldsAndIslandsShareASite) {
  RunConfig config;
  config.network = shipped("shared-site.yaml", "standard", 0.001);
  config.schedule = on_trees(full(config.network));
  config.update_bytes = 400'000;
  config.tree_aggregation = true;
  config.rounds = 4;
  EXPECT_EQ(complaints(run_or_fail(config)), "");
}

TEST(Tree, TheOrderShowsInTheBits) {
  // The canary: the same update folded in rank order has other bits than on the tree.
  const auto plan = testbed::make_plan(tree_config(0.0002), 1);
  ASSERT_TRUE(plan.ok());
  const auto order = testbed::fold_order(*plan, plan->entries[0].cliques[0]);
  EXPECT_EQ(testbed::to_text(order), "[[[0,2,4],1,5],3,[6,7,8]]");
  const auto direct = testbed::direct_order(testbed::ranks_of(order));
  EXPECT_FALSE(testbed::same_bits(testbed::expected_result(1, 0, order, 1000, wire::Operation::kMean),
                                  testbed::expected_result(1, 0, direct, 1000, wire::Operation::kMean)));
}

TEST(Tree, LossesAreRepaired) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    RunConfig config = tree_config(0.001);
    config.schedule = mixed(config.network);
    config.seed = seed;
    for (const char* const ends : {"NYCLON", "SINTYO", "TYOLAX", "LAXNYC"})
      config.losses.push_back({rank_of(config.network, std::string(ends, 3)),
                               rank_of(config.network, std::string(ends + 3)), 0.001});
    const RunReport report = run_or_fail(config);
    EXPECT_EQ(complaints(report), "");
    EXPECT_GE(report.repairs, 1u);
    for (const testbed::RoundReport& round : report.rounds) EXPECT_LE(round.ratio(), 1.6) << round.round;
  }
}

TEST(Tree, TheSameSeedGivesTheSameRun) {
  RunConfig config = tree_config(0.0002);
  config.schedule = mixed(config.network);
  config.losses = {{rank_of(config.network, "LON"), rank_of(config.network, "NYC"), 0.02}};
  const auto text_of = [](const RunReport& report) {
    std::string text = fmt::format("{} {} {}\n", report.repairs, report.copies, report.payload_bytes_saved);
    for (const auto& round : report.rounds) text += fmt::format("{:a} {}\n", round.measured_s, round.exact);
    for (const auto& [reason, count] : report.drops) text += fmt::format("{} {}\n", reason, count);
    return text;
  };
  EXPECT_EQ(text_of(run_or_fail(config)), text_of(run_or_fail(config)));
}

/// Islands that go through rounds on their own.
class TreeScenario : public testing::Test {
 protected:
  static constexpr Nanoseconds kDeadline = 5 * kSecond;

  void create(const std::vector<schedule::Schedule>& schedules, double loss = 0, std::uint64_t seed = 1) {
    ScenarioOptions options;
    options.update_bytes = 60'000;
    options.tree_aggregation = true;
    options.deadline_ns = deadline_ns_;
    options.network.seed = seed;
    options.network.site_faults.loss = loss;
    options.loss = loss_;
    scenario_ = Scenario::create(network_, options, schedules);
    ASSERT_NE(scenario_, nullptr);
    const auto first = scenario_->install(schedules[0]);
    ASSERT_TRUE(first);
    first_ = *first;
  }
  void expect_all_well() {
    ASSERT_TRUE(scenario_->finish(120 * kSecond)) << scenario_->unfinished();
    EXPECT_EQ(scenario_->judge(), "");
  }

  schedule::Network network_ = shipped("nine-city.yaml", "testnet10", 0.0001);
  Loss loss_;
  Nanoseconds deadline_ns_ = kDeadline;
  std::unique_ptr<Scenario> scenario_;
  std::uint32_t first_ = 0;
};

TEST_F(TreeScenario, IslandsThatDoNotWaitForOthers) {
  create({mixed(network_)});
  scenario_->play_all(first_, first_ + 11);
  expect_all_well();
  scenario_->run_for(kDeadline);
  for (schedule::Rank rank = 0; rank < 9; ++rank)
    for (std::uint32_t round = first_; round < first_ + 12; ++round)
      EXPECT_FALSE(scenario_->part(rank, round)->outcome.failed_elsewhere) << rank << " " << round;
}

TEST_F(TreeScenario, OneTreeForEverLeavesNothingBehind) {
  create({full(network_)});
  scenario_->play_all(first_, first_);
  expect_all_well();
  scenario_->run_for(kDeadline);
  const std::uint64_t level = scenario_->buffers_in_use();
  scenario_->play_all(first_ + 1, first_ + 12);
  expect_all_well();
  scenario_->run_for(kDeadline);
  EXPECT_LE(scenario_->buffers_in_use(), level + 8);
}

TEST_F(TreeScenario, ChangesUnderTraffic) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const double loss = seed == 3 ? 0.01 : 0;
    SCOPED_TRACE(fmt::format("seed {}, loss {}", seed, loss));
    const std::vector<schedule::Schedule> all{mixed(network_), full(network_), grid(network_),
                                              on_trees(grid(network_))};
    create(all, loss, seed);
    scenario_->play_all(first_, first_ + 29);
    std::size_t installed = 1;
    while (installed < 6 && !scenario_->run_until([&] { return scenario_->finished(); },
                                                  (20 + seed * 137 % 400) * kMillisecond)) {
      ASSERT_TRUE(scenario_->propose(all[installed % all.size()]));
      ASSERT_TRUE(
          scenario_->run_until([&] { return scenario_->control().outcome().has_value(); }, 60 * kSecond));
      const auto outcome = scenario_->control().outcome()->kind;
      installed += outcome == control::ChangeOutcome::Kind::kInstalled ? 1 : 0;
    }
    expect_all_well();
    EXPECT_EQ(installed, 6u);
    for (schedule::Rank rank = 0; rank < 9; ++rank)
      for (std::uint32_t round = first_; round < first_ + 30; ++round)
        EXPECT_FALSE(scenario_->part(rank, round)->outcome.failed_elsewhere) << rank << " " << round;
  }
}

TEST_F(TreeScenario, AStoppedIslandIsNamedToAll) {
  // Singapore is folded at Tokyo first; Frankfurt in London. Everybody hears who it was, and only that.
  for (const char* const name : {"SIN", "FRA", "LAX"}) {
    SCOPED_TRACE(name);
    const schedule::Rank stopped = rank_of(network_, name);
    const schedule::Schedule after = *control::without(full(network_), {stopped});
    create({full(network_), after});
    scenario_->stop_island(stopped);
    const Nanoseconds since_ns = scenario_->now_ns();
    scenario_->play_all(first_, first_);
    ASSERT_TRUE(scenario_->finish(kDeadline + 3 * kSecond)) << scenario_->unfinished();
    EXPECT_LE(scenario_->now_ns(), since_ns + kDeadline + kSecond);
    for (schedule::Rank rank = 0; rank < 9; ++rank) {
      if (rank == stopped) continue;
      const Part* const part = scenario_->part(rank, first_);
      ASSERT_EQ(part->outcome.stage, island::Stage::kFailed) << rank;
      EXPECT_EQ(part->outcome.error.code, ErrorCode::kDeadline);
      EXPECT_EQ(part->outcome.missing, std::vector<std::uint16_t>{stopped}) << part->outcome.error.message;
    }
    const auto next = scenario_->install(after);
    ASSERT_TRUE(next);
    scenario_->play_all(*next, *next + 3);
    ASSERT_TRUE(scenario_->finish(60 * kSecond)) << scenario_->unfinished();
    for (schedule::Rank rank = 0; rank < 9; ++rank)
      for (std::uint32_t round = *next; rank != stopped && round < *next + 4; ++round)
        EXPECT_EQ(scenario_->judge_part(*scenario_->part(rank, round)), "");
  }
}

TEST_F(TreeScenario, OtherCliquesDoNotWaitForAStoppedIsland) {
  // Both trees pass London; only one has the island that has stopped.
  const auto schedule = schedule::parse_schedule(
      "rounds: [[{members: [FRA, NYC], mode: tree}, {members: [AMS, SIN, LON], mode: tree}]]", "two",
      network_.islands, network_.site_names);
  create({*schedule});
  const schedule::Rank stopped = rank_of(network_, "SIN");
  scenario_->stop_island(stopped);
  scenario_->play_all(first_, first_ + 4);
  ASSERT_TRUE(scenario_->finish(60 * kSecond)) << scenario_->unfinished();
  for (const char* const name : {"FRA", "NYC"})
    for (std::uint32_t round = first_; round < first_ + 5; ++round)
      EXPECT_EQ(scenario_->judge_part(*scenario_->part(rank_of(network_, name), round)), "");
}

TEST_F(TreeScenario, SkippedRoundsHoldNobodyUp) {
  create({mixed(network_)});
  for (const std::uint32_t jump : {6U, 19U, 1000U}) {
    scenario_->play_all(first_ + jump, first_ + jump + 4);
    ASSERT_TRUE(scenario_->finish(4 * kDeadline)) << scenario_->unfinished();
  }
  EXPECT_EQ(scenario_->judge(), "");
}

TEST_F(TreeScenario, AMemberThatGivesUpIsNamedAtOnce) {
  create({full(network_)});
  const schedule::Rank quits = rank_of(network_, "SIN");
  scenario_->play_all(first_, first_);
  const Nanoseconds since_ns = scenario_->now_ns();
  scenario_->run_for(50 * kMillisecond);
  const island::Handle handle = scenario_->part(quits, first_)->handle;
  scenario_->driver().with_island(quits, [&](island::Endpoint& endpoint, Nanoseconds now_ns) {
    EXPECT_TRUE(endpoint.cancel(handle, now_ns));
  });
  ASSERT_TRUE(scenario_->finish(kDeadline)) << scenario_->unfinished();
  EXPECT_LT(scenario_->now_ns() - since_ns, kSecond);
  for (schedule::Rank rank = 0; rank < 9; ++rank) {
    if (rank == quits) continue;
    const Part* const part = scenario_->part(rank, first_);
    ASSERT_EQ(part->outcome.stage, island::Stage::kFailed);
    EXPECT_EQ(part->outcome.error.message, "round 0: a member gave the round up; missing rank 7");
  }
  scenario_->play_all(first_ + 1, first_ + 3);
  ASSERT_TRUE(scenario_->finish(kDeadline)) << scenario_->unfinished();
  for (schedule::Rank rank = 0; rank < 9; ++rank)
    for (std::uint32_t round = first_ + 1; round < first_ + 4; ++round)
      EXPECT_EQ(scenario_->judge_part(*scenario_->part(rank, round)), "");
}

TEST_F(TreeScenario, GoesOnWithoutALostIsland) {
  const schedule::Rank lost = rank_of(network_, "NYC");
  loss_.ranks = {lost};
  deadline_ns_ = 300 * kSecond;
  create({full(network_)});
  scenario_->play_all(first_, first_ + 9);
  ASSERT_TRUE(scenario_->run_until([&] { return scenario_->has_outcome(0, first_); }, 60 * kSecond));
  scenario_->stop_island(lost);
  const auto next = scenario_->install(*control::without(full(network_), {lost}), loss_);
  ASSERT_TRUE(next);
  ASSERT_TRUE(scenario_->finish(60 * kSecond)) << scenario_->unfinished();
  // Rounds under way ended with the new epoch, by name, and not by their deadline, which is far away.
  for (schedule::Rank rank = 0; rank < 9; ++rank)
    for (std::uint32_t round = first_; rank != lost && round < first_ + 10; ++round) {
      const Part* const part = scenario_->part(rank, round);
      if (part->outcome.stage != island::Stage::kFailed) {
        EXPECT_EQ(scenario_->judge_part(*part), "");
        continue;
      }
      EXPECT_LT(round, *next);
      EXPECT_EQ(part->outcome.missing, std::vector<std::uint16_t>{lost}) << part->outcome.error.message;
    }
}

}  // namespace
}  // namespace tombolo::sim
