// Something is lost for good: what needs it fails at once and by name, and the epoch without it goes on at
// once. The deadline of these epochs is far away: nothing here waits for it.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "control/membership.h"
#include "tests/sim/scenario.h"

namespace tombolo::sim {
namespace {

constexpr Nanoseconds kDeadline = 10'000 * kSecond;
constexpr std::uint32_t kRounds = 12;

class SomethingIsLost : public testing::TestWithParam<bool> {
 protected:
  void create(const schedule::Schedule& nominal, const Loss& loss) {
    ScenarioOptions options;
    options.update_bytes = 200'000;
    options.multicast = GetParam();
    options.deadline_ns = kDeadline;
    options.loss = loss;
    scenario_ = Scenario::create(network_, options, {nominal});
    ASSERT_NE(scenario_, nullptr);
    const auto first = scenario_->install(nominal);
    ASSERT_TRUE(first);
    first_ = *first;
    scenario_->play_all(first_, first_ + kRounds - 1);
  }

  /// Lets the islands get into the middle of the second round.
  void get_going(schedule::Rank watched) {
    ASSERT_TRUE(scenario_->run_until(
        [&] {
          const Part* const part = scenario_->part(watched, first_ + 1);
          return part != nullptr &&
                 scenario_->testbed().islands()[watched].endpoint->poll(part->handle)->payload_bytes_sent >
                     60'000;
        },
        60 * kSecond));
  }

  /// Rounds of cliques that a lost island was in fail by its name or were over before; all others are exact.
  /// `cuts_others_off`: those who cannot be heard for it are named too.
  void expect_outcomes(const std::vector<schedule::Rank>& lost, std::uint32_t activating_round,
                       bool cuts_others_off) {
    std::size_t failed = 0;
    for (schedule::Rank rank = 0; rank < network_.islands.size(); ++rank) {
      if (std::count(lost.begin(), lost.end(), rank) > 0) continue;
      for (std::uint32_t round = first_; round < first_ + kRounds; ++round) {
        SCOPED_TRACE(testing::Message() << network_.islands[rank].id << " in round " << round);
        const Part* const part = scenario_->part(rank, round);
        ASSERT_NE(part, nullptr);
        if (part->outcome.stage != island::Stage::kFailed) {
          EXPECT_EQ(scenario_->judge_part(*part), "");
          continue;
        }
        ++failed;
        EXPECT_LT(round, activating_round) << part->outcome.error.message;
        const auto& missing = part->outcome.missing;
        for (const schedule::Rank each : lost)
          EXPECT_EQ(std::count(missing.begin(), missing.end(), each), 1) << part->outcome.error.message;
        if (!cuts_others_off) {
          EXPECT_EQ(missing, lost) << part->outcome.error.message;
        }
      }
    }
    EXPECT_GT(failed, 0u);
  }

  schedule::Network network_ = nine_cities(0.0002);
  std::unique_ptr<Scenario> scenario_;
  std::uint32_t first_ = 0;
};

TEST_P(SomethingIsLost, AnIslandInTheMiddleOfARound) {
  const schedule::Rank lon = rank_of(network_, "LON");
  const Loss loss{{}, {lon}};
  const schedule::Schedule nominal = grid(network_);
  create(nominal, loss);
  get_going(lon);
  scenario_->stop_island(lon);
  const Nanoseconds lost_ns = scenario_->now_ns();
  const auto next = scenario_->install(*control::without(nominal, {lon}), loss);
  ASSERT_TRUE(next);
  ASSERT_TRUE(scenario_->finish(120 * kSecond)) << scenario_->unfinished();
  expect_outcomes({lon}, *next, false);
  EXPECT_LT(scenario_->now_ns() - lost_ns, kDeadline / 20);
  // Nothing of the first epoch is under way any more, so a third one need not wait for its deadline.
  ASSERT_TRUE(scenario_->install(*control::without(nominal, {lon}), loss));
}

TEST_P(SomethingIsLost, AnEdgeWithItsIslandThatOthersRelyOnForTransit) {
  const schedule::Rank lax = rank_of(network_, "LAX");
  const schedule::SiteId site = network_.islands[lax].site;
  Loss loss{{}, {lax}};
  for (const schedule::DirectedLink& link : network_.links)
    if (link.from == site) loss.links.push_back({std::min(link.from, link.to), std::max(link.from, link.to)});
  std::sort(loss.links.begin(), loss.links.end());
  const schedule::Schedule nominal = full(network_);
  create(nominal, loss);
  get_going(lax);
  scenario_->stop_edge(site);
  const Nanoseconds lost_ns = scenario_->now_ns();
  // Its own island hears nothing any more and says so.
  ASSERT_TRUE(scenario_->run_until([&] { return scenario_->has_outcome(lax, first_ + 1); }, 5 * kSecond));
  const Part* const own = scenario_->part(lax, first_ + 1);
  EXPECT_NE(own->outcome.error.message.find("no word from the edge"), std::string::npos)
      << own->outcome.error.message;
  scenario_->stop_island(lax);
  const auto next = scenario_->install(*control::without(nominal, {lax}), loss);
  ASSERT_TRUE(next);
  ASSERT_TRUE(scenario_->finish(120 * kSecond)) << scenario_->unfinished();
  expect_outcomes({lax}, *next, true);
  EXPECT_LT(scenario_->now_ns() - lost_ns, kDeadline / 20);
  ASSERT_TRUE(scenario_->install(*control::without(nominal, {lax}), loss));
}

INSTANTIATE_TEST_SUITE_P(NineCities, SomethingIsLost, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& param) {
                           return param.param ? "multicast" : "unicast";
                         });

}  // namespace
}  // namespace tombolo::sim
