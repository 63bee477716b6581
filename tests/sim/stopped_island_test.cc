// An island stops: its clique hears of it by name and in time, everything that it held is freed, and the
// schedule goes on without it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "control/membership.h"
#include "tests/sim/scenario.h"

namespace tombolo::sim {
namespace {

constexpr Nanoseconds kDeadline = 5 * kSecond;
constexpr const char* kStopped = "LON";

/// Multicast, edge aggregation.
using Capability = std::tuple<bool, bool>;

class StoppedIsland : public testing::TestWithParam<Capability> {
 protected:
  void SetUp() override {
    network_ = nine_cities(0.0002);
    stopped_ = rank_of(network_, kStopped);
    schedule_ =
        schedule_of("[[[AMS, FRA, LON], [NYC, LAX, BAR]], [[LON, NYC, TYO], [AMS, FRA, LAX]]]", network_);
    without_ = *control::without(schedule_, {stopped_});
    meeting_ = schedule_of("[[[FRA, SIN, AMS]]]", network_);
    ScenarioOptions options;
    options.update_bytes = 200'000;
    options.multicast = std::get<0>(GetParam());
    options.edge_aggregation = std::get<1>(GetParam());
    options.deadline_ns = kDeadline;
    scenario_ = Scenario::create(network_, options, {schedule_, without_, meeting_});
    const auto first = scenario_->install(schedule_);
    ASSERT_TRUE(first);
    first_ = *first;
    level_ = scenario_->buffers_in_use();
  }

  bool shares_a_clique(schedule::Rank rank, std::uint32_t round) const {
    const auto clique = scenario_->clique_of(1, round, rank);
    return std::find(clique.begin(), clique.end(), stopped_) != clique.end();
  }

  /// Its clique fails, naming it, a deadline after the start at the latest; other cliques are exact.
  void expect_named(std::uint32_t round, Nanoseconds since_ns) {
    for (schedule::Rank rank = 0; rank < network_.islands.size(); ++rank) {
      if (rank == stopped_) continue;
      const Part* const part = scenario_->part(rank, round);
      ASSERT_NE(part, nullptr);
      SCOPED_TRACE(network_.islands[rank].id);
      if (!shares_a_clique(rank, round)) {
        EXPECT_EQ(scenario_->judge_part(*part), "");
        continue;
      }
      ASSERT_EQ(part->outcome.stage, island::Stage::kFailed);
      EXPECT_EQ(part->outcome.error.code, ErrorCode::kDeadline);
      EXPECT_EQ(part->outcome.missing, std::vector<std::uint16_t>{stopped_}) << part->outcome.error.message;
      EXPECT_NE(part->outcome.error.message.find(fmt::format("round {}", round)), std::string::npos);
      EXPECT_NE(part->outcome.error.message.find(fmt::format("missing rank {}", stopped_)), std::string::npos)
          << part->outcome.error.message;
    }
    EXPECT_LE(scenario_->now_ns(), since_ns + kDeadline + kSecond);
  }

  /// The schedule without the island runs, and no buffer is left behind.
  void expect_recovery() {
    const auto next = scenario_->install(without_);
    ASSERT_TRUE(next);
    scenario_->play_all(*next, *next + 3);
    ASSERT_TRUE(scenario_->finish(60 * kSecond));
    for (schedule::Rank rank = 0; rank < network_.islands.size(); ++rank)
      for (std::uint32_t round = *next; rank != stopped_ && round < *next + 4; ++round) {
        const Part* const part = scenario_->part(rank, round);
        ASSERT_NE(part, nullptr);
        EXPECT_EQ(scenario_->judge_part(*part), "");
        EXPECT_EQ(part->outcome.epoch, 2u);
      }
    scenario_->run_for(5 * kSecond);
    EXPECT_LE(scenario_->buffers_in_use(), level_ + 8 * network_.islands.size());
  }

  schedule::Network network_;
  schedule::Schedule schedule_;
  schedule::Schedule without_;
  schedule::Schedule meeting_;
  schedule::Rank stopped_ = 0;
  std::unique_ptr<Scenario> scenario_;
  std::uint32_t first_ = 0;
  std::uint64_t level_ = 0;
};

TEST_P(StoppedIsland, InTheMiddleOfARound) {
  scenario_->play_all(first_, first_);
  const Nanoseconds since_ns = scenario_->now_ns();
  const schedule::Rank ams = rank_of(network_, "AMS");
  ASSERT_TRUE(scenario_->run_until(
      [&] {
        const auto* const part = scenario_->part(stopped_, first_);
        return part != nullptr &&
               scenario_->testbed().islands()[stopped_].endpoint->poll(part->handle)->payload_bytes_sent >
                   60'000;
      },
      kDeadline));
  EXPECT_FALSE(scenario_->has_outcome(ams, first_));
  scenario_->stop_island(stopped_);
  ASSERT_TRUE(scenario_->finish(kDeadline + 5 * kSecond)) << scenario_->unfinished();
  expect_named(first_, since_ns);
  expect_recovery();
}

TEST_P(StoppedIsland, BeforeItSentAnything) {
  scenario_->stop_island(stopped_);
  const Nanoseconds since_ns = scenario_->now_ns();
  scenario_->play_all(first_, first_);
  ASSERT_TRUE(scenario_->finish(kDeadline + 5 * kSecond)) << scenario_->unfinished();
  expect_named(first_, since_ns);
  expect_recovery();
}

TEST_P(StoppedIsland, ItsSiteStillForwards) {
  // Frankfurt and Singapore meet by way of London's edge, whose island is gone.
  scenario_->stop_island(stopped_);
  const auto next = scenario_->install(meeting_);
  ASSERT_TRUE(next);
  scenario_->play_all(*next, *next + 3);
  ASSERT_TRUE(scenario_->finish(60 * kSecond));
  EXPECT_EQ(scenario_->judge(), "");
}

TEST_P(StoppedIsland, SeveralEpochsFollow) {
  scenario_->stop_island(stopped_);
  scenario_->play_all(first_, first_);
  ASSERT_TRUE(scenario_->finish(kDeadline + 5 * kSecond));
  for (int change = 0; change < 3; ++change) {
    const auto next = scenario_->install(without_);
    ASSERT_TRUE(next) << "change " << change;
    scenario_->play_all(*next, *next + 1);
    ASSERT_TRUE(scenario_->finish(60 * kSecond)) << "change " << change;
    scenario_->run_for(2 * kDeadline);
  }
}

INSTANTIATE_TEST_SUITE_P(NineCities, StoppedIsland, testing::Combine(testing::Bool(), testing::Bool()),
                         [](const testing::TestParamInfo<Capability>& param_info) {
                           return fmt::format("multicast_{}_aggregation_{}",
                                              std::get<0>(param_info.param) ? "on" : "off",
                                              std::get<1>(param_info.param) ? "edge" : "none");
                         });

}  // namespace
}  // namespace tombolo::sim
