#include "schedule/optimize/uncertainty.h"

#include <gtest/gtest.h>

#include "schedule/mixing.h"
#include "schedule/random_network.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

const Capabilities kBoth{true, Aggregation::kEdge, Family::kDirect};

Schedule full(std::size_t n) {
  Clique all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(static_cast<Rank>(i));
  return {"full", {Round{{all}}}};
}

TEST(DisagreementSpread, IsOneValueWhereNothingIsUncertain) {
  const std::vector<Capabilities> settings = {
      kBoth, {false, Aggregation::kNone, Family::kBest}, {true, Aggregation::kTree, Family::kDirect}};
  for (std::size_t i = 0; i < settings.size(); ++i) {
    SCOPED_TRACE(testing::Message() << "setting " << i);
    const Network network = random_network(3, 7);
    const Problem problem(network, settings[i], 1e9);
    const auto spread = disagreement_spread(problem, full(7), {.share = 0, .seed = 1, .draws = 10});
    ASSERT_TRUE(spread.ok()) << spread.error().message;
    const double seconds = problem.model().time(full(7).rounds[0], 1e9)->seconds;
    EXPECT_NEAR(spread->p10_s, 1.5 * seconds * 6 / 7, 1e-9);
    EXPECT_NEAR(spread->worst_decile_s, spread->p10_s, 1e-9);
  }
}

/// Two islands: T = latency + M / the slowest of two lines on the way, both directions; D = 3/4 T. With 20 %
/// the transfer is at least divided by 1.2, at most by 0.8, and so is the latency multiplied.
TEST(DisagreementSpread, StaysWithinWhatTheFactorsAllow) {
  const Network network = random_network(6, 2);
  const Problem problem(network, kBoth, 1e9);
  const auto spread = disagreement_spread(problem, full(2), {.share = 0.2, .seed = 5, .draws = 500});
  ASSERT_TRUE(spread.ok());
  double latency_s = 0;
  double slowest_bps = 1e18;
  for (const DirectedLink& link : network.links) {
    latency_s = std::max(latency_s, static_cast<double>(link.one_way_ns) * 1e-9);
    slowest_bps = std::min(slowest_bps, static_cast<double>(link.capacity_bps));
  }
  for (const std::uint64_t bps : network.egress_bps)
    slowest_bps = std::min(slowest_bps, static_cast<double>(bps));
  const double transfer_s = 8e9 / slowest_bps;
  ASSERT_EQ(spread->ascending_s.size(), 500u);
  EXPECT_GE(spread->ascending_s.front(), 0.75 * (transfer_s / 1.2 + latency_s * 0.8) * (1 - 1e-9));
  EXPECT_LE(spread->ascending_s.back(), 0.75 * (transfer_s / 0.8 + latency_s * 1.2) * (1 + 1e-9));
  EXPECT_LT(spread->p10_s, spread->p50_s);
  EXPECT_LT(spread->p50_s, spread->p90_s);
  EXPECT_LT(spread->p90_s, spread->worst_decile_s);
}

TEST(ChooseRobust, TakesTheLeastWorstDecile) {
  const Network network = shipped_network("nine-city.yaml", "access-limited");
  const Problem problem(network, kBoth, 1e9);
  const std::vector<Schedule> candidates = {*grid_schedule(network.islands), full(9)};
  const auto choice = choose_robust(problem, candidates, {});
  ASSERT_TRUE(choice.ok()) << choice.error().message;
  ASSERT_EQ(choice->spreads.size(), 2u);
  const double grid_s = choice->spreads[0].worst_decile_s;
  const double full_s = choice->spreads[1].worst_decile_s;
  EXPECT_EQ(choice->index, grid_s <= full_s ? 0u : 1u);
  // The same draws again, whatever else was looked at.
  const auto alone = disagreement_spread(problem, candidates[1], {});
  ASSERT_TRUE(alone.ok());
  EXPECT_EQ(alone->ascending_s, choice->spreads[1].ascending_s);
}

TEST(DisagreementSpread, RefusesOptionsOutOfRange) {
  const Network network = random_network(6, 2);
  const Problem problem(network, kBoth, 1e9);
  EXPECT_FALSE(disagreement_spread(problem, full(2), {.share = 1, .seed = 1, .draws = 100}).ok());
  EXPECT_FALSE(disagreement_spread(problem, full(2), {.share = -0.1, .seed = 1, .draws = 100}).ok());
  EXPECT_FALSE(disagreement_spread(problem, full(2), {.share = 0.1, .seed = 1, .draws = 9}).ok());
  EXPECT_FALSE(choose_robust(problem, {}, {}).ok());
}

}  // namespace
}  // namespace tombolo::schedule
