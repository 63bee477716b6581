// Islands that do not wait for one another: rounds in flight, an early member, the pattern that deadlocks
// systems in which a link waits for a slot.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/sim/scenario.h"

namespace tombolo::sim {
namespace {

constexpr double kScale = 0.0002;

/// Multicast, edge aggregation.
using Capability = std::tuple<bool, bool>;
class Flight : public testing::TestWithParam<Capability> {
 protected:
  ScenarioOptions options(std::uint64_t update_bytes = 200'000) const {
    ScenarioOptions options;
    options.update_bytes = update_bytes;
    options.multicast = std::get<0>(GetParam());
    options.edge_aggregation = std::get<1>(GetParam());
    return options;
  }
};

TEST_P(Flight, IslandsStartTheNextRoundOnTheirOwn) {
  const schedule::Network network = nine_cities(kScale);
  const auto scenario = Scenario::create(network, options(), {grid(network)});
  const auto first = scenario->install(grid(network));
  ASSERT_TRUE(first);
  scenario->play_all(*first, *first + 5);
  ASSERT_TRUE(scenario->finish(200 * kSecond));
  EXPECT_EQ(scenario->judge(), "");
  // There was no barrier: in some round one island had begun before another had ended the round before.
  bool overlapped = false;
  for (schedule::Rank a = 0; a < network.islands.size(); ++a)
    for (schedule::Rank b = 0; b < network.islands.size(); ++b)
      overlapped = overlapped ||
                   scenario->part(a, *first + 1)->started_ns < scenario->part(b, *first)->outcome.ready_ns;
  EXPECT_TRUE(overlapped);
}

TEST_P(Flight, DeadlockPatternWithAnEarlyMember) {
  const schedule::Network network = nine_cities(kScale);
  const auto pattern = schedule_of("[[[FRA, LAX, SIN]], [[AMS, FRA, LON]], [[LON, NYC, TYO]]]", network);
  for (const char* const second : {"TYO", "AMS"}) {
    const auto scenario = Scenario::create(network, options(), {pattern});
    const auto first = scenario->install(pattern);
    ASSERT_TRUE(first);
    const Nanoseconds late_ns = scenario->now_ns() + 3 * kSecond;
    for (schedule::Rank rank = 0; rank < network.islands.size(); ++rank) {
      const bool early = network.islands[rank].id == "NYC" || network.islands[rank].id == second;
      scenario->play(rank, *first, *first + 5, early ? 0 : late_ns);
    }
    ASSERT_TRUE(scenario->finish(300 * kSecond)) << "NYC and " << second << " early";
    EXPECT_EQ(scenario->judge(), "");
  }
}

TEST_P(Flight, EachMemberMayBeTheLateOne) {
  const schedule::Network network = nine_cities(kScale);
  // Small enough that everything that others send fits the windows long before the late one starts.
  const auto clique = schedule_of("[[[LON, NYC, TYO]]]", network);
  for (const char* const late : {"LON", "NYC", "TYO"}) {
    const auto scenario = Scenario::create(network, options(20'000), {clique});
    const auto first = scenario->install(clique);
    ASSERT_TRUE(first);
    for (const char* const member : {"LON", "NYC", "TYO"})
      scenario->play(rank_of(network, member), *first, *first + 1,
                     std::string(member) == late ? scenario->now_ns() + 5 * kSecond : 0);
    ASSERT_TRUE(scenario->finish(100 * kSecond)) << late << " late";
    EXPECT_EQ(scenario->judge(), "") << late << " late";
  }
}

TEST_P(Flight, FiftySmallRounds) {
  const schedule::Network network = nine_cities(kScale);
  const auto scenario = Scenario::create(network, options(6'000), {grid(network)});
  const auto first = scenario->install(grid(network));
  ASSERT_TRUE(first);
  const std::uint64_t level = scenario->buffers_in_use();
  scenario->play_all(*first, *first + 49);
  ASSERT_TRUE(scenario->finish(500 * kSecond));
  EXPECT_EQ(scenario->judge(), "");
  for (schedule::Rank rank = 0; rank < network.islands.size(); ++rank)
    EXPECT_NE(scenario->part(rank, *first + 49), nullptr);
  scenario->run_for(2 * kSecond);
  EXPECT_LE(scenario->buffers_in_use(), level + 8 * network.islands.size()) << "buffers are kept";
}

INSTANTIATE_TEST_SUITE_P(NineCities, Flight, testing::Combine(testing::Bool(), testing::Bool()),
                         [](const testing::TestParamInfo<Capability>& param_info) {
                           return fmt::format("multicast_{}_aggregation_{}",
                                              std::get<0>(param_info.param) ? "on" : "off",
                                              std::get<1>(param_info.param) ? "edge" : "none");
                         });

}  // namespace
}  // namespace tombolo::sim
