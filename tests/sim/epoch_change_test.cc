// Changes of schedule while islands go on with their rounds: no round is lost, none is mixed.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "tests/sim/scenario.h"

namespace tombolo::sim {
namespace {

struct Change {
  std::uint64_t seed = 1;
  bool edge_aggregation = true;
  bool multicast = true;
  double loss = 0;  ///< On every link between sites.
};

class EpochChange : public testing::TestWithParam<Change> {
 protected:
  static constexpr std::uint32_t kRounds = 40;
  static constexpr std::uint32_t kEpochs = 5;

  /// Three schedules in turn, each proposed in the middle of the traffic of the one before.
  std::vector<schedule::Schedule> schedules(const schedule::Network& network) const {
    // Without multicast the full clique takes very long. Every island takes part in each schedule: one that
    // only rests would be through with all its rounds before the next epoch comes.
    return {grid(network),
            GetParam().multicast
                ? full(network)
                : schedule_of("[[[AMS, BAR], [LON, NYC, SEO], [LAX, FRA], [SIN, TYO]]]", network),
            schedule_of("[[[AMS, TYO, NYC], [LON, SIN]], [[LAX, FRA, SEO, BAR]], [[NYC, SIN, TYO, SEO]]]",
                        network)};
  }

  ScenarioOptions options() const {
    ScenarioOptions options;
    options.update_bytes = 60'000;
    options.edge_aggregation = GetParam().edge_aggregation;
    options.multicast = GetParam().multicast;
    options.network.seed = GetParam().seed;
    options.network.site_faults.loss = GetParam().loss;
    return options;
  }
};

TEST_P(EpochChange, UnderTraffic) {
  SCOPED_TRACE(fmt::format("seed {}", GetParam().seed));
  const schedule::Network network = nine_cities(0.0001);
  const auto all = schedules(network);
  const auto scenario = Scenario::create(network, options(), all);
  const auto first = scenario->install(all[0]);
  ASSERT_TRUE(first);
  scenario->play_all(*first, *first + kRounds - 1);
  std::uint32_t installed = 1;
  const Nanoseconds apart_ns = (20 + GetParam().seed * 137 % 400) * kMillisecond;
  while (installed < kEpochs && !scenario->run_until([&] { return scenario->finished(); }, apart_ns)) {
    ASSERT_TRUE(scenario->propose(all[installed % all.size()]));
    ASSERT_TRUE(scenario->run_until([&] { return scenario->control().outcome().has_value(); }, 60 * kSecond));
    // An edge refuses a third epoch while the first has rounds open: the old one stays, and traffic goes on.
    const auto outcome = *scenario->control().outcome();
    ASSERT_TRUE(outcome.kind == control::ChangeOutcome::Kind::kInstalled ||
                outcome.kind == control::ChangeOutcome::Kind::kAborted)
        << control::to_string(outcome);
    installed += outcome.kind == control::ChangeOutcome::Kind::kInstalled ? 1 : 0;
  }
  ASSERT_TRUE(scenario->finish(400 * kSecond)) << "installed " << installed << "\n" << scenario->unfinished();
  EXPECT_EQ(scenario->judge(), "") << "installed " << installed;
  EXPECT_EQ(installed, kEpochs);
  // Every round of every island had an outcome, and more than one epoch had a part.
  std::set<std::uint32_t> epochs;
  for (schedule::Rank rank = 0; rank < network.islands.size(); ++rank)
    for (std::uint32_t round = *first; round < *first + kRounds; ++round) {
      const Part* const part = scenario->part(rank, round);
      ASSERT_NE(part, nullptr);
      EXPECT_FALSE(part->outcome.failed_elsewhere) << "island " << rank << " round " << round;
      epochs.insert(part->outcome.epoch);
    }
  EXPECT_EQ(epochs.size(), kEpochs);
}

INSTANTIATE_TEST_SUITE_P(NineCities, EpochChange,
                         testing::Values(Change{1}, Change{2}, Change{3}, Change{4, true, true, 0.01},
                                         Change{5, true, true, 0.01}, Change{6, true, false},
                                         Change{7, false, true}, Change{8, false, false},
                                         Change{9, false, true, 0.01}),
                         [](const testing::TestParamInfo<Change>& param_info) {
                           return fmt::format("seed_{}_aggregation_{}_multicast_{}{}", param_info.param.seed,
                                              param_info.param.edge_aggregation ? "edge" : "none",
                                              param_info.param.multicast ? "on" : "off",
                                              param_info.param.loss > 0 ? "_lossy" : "");
                         });

TEST(EpochChangeAtRest, NeedsNoTraffic) {
  const schedule::Network network = nine_cities(0.0001);
  const std::vector<schedule::Schedule> all{grid(network), full(network)};
  ScenarioOptions options;
  options.update_bytes = 20'000;
  const auto scenario = Scenario::create(network, options, all);
  // Rounds that nobody begins do not keep an epoch alive for ever: the islands skip to each epoch's first
  // round.
  for (std::size_t change = 0; change < 5; ++change) {
    const auto first = scenario->install(all[change % 2]);
    ASSERT_TRUE(first) << "change " << change;
    scenario->play_all(*first, *first);
    ASSERT_TRUE(scenario->finish(60 * kSecond)) << "change " << change;
    EXPECT_EQ(scenario->judge(), "") << "change " << change;
    scenario->run_for(60 * kSecond);
  }
}

}  // namespace
}  // namespace tombolo::sim
