#include "schedule/optimize/scenarios.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

constexpr double kUpdateBytes = 125e6;  // One second on the ring's core links.

std::vector<double> drawn_seconds(const Problem& problem, const Round& round, double share) {
  const auto planned = plan_round(problem, round);
  EXPECT_TRUE(planned.ok()) << planned.error().message;
  return Scenarios(problem, {.share = share, .seed = 3, .draws = 300}).seconds(*planned);
}

/// Each of four updates has links of its own: 1 s and the 3 ms of the way R-S-P. Along the shortest routes
/// two updates share the link between P and Q.
TEST(Scenarios, TreesStayAsInstalled) {
  const Network network = ring_of_four();
  const Problem problem(network, {}, kUpdateBytes);
  for (const double seconds : drawn_seconds(problem, crossed_round(), 0)) EXPECT_NEAR(seconds, 1.003, 1e-9);
  for (const double seconds : drawn_seconds(problem, crossed_round(), 0.2)) {
    EXPECT_GE(seconds, 1 / 1.2 + 0.8 * 0.003 - 1e-9);
    EXPECT_LE(seconds, 1 / 0.8 + 1.2 * 0.003 + 1e-9);
  }
  for (const double seconds : drawn_seconds(problem, Round{{{0, 2}, {1, 3}}}, 0.2))
    EXPECT_GE(seconds, 2 / 1.2);
}

/// An update of a byte takes its latency: between P and R the longer of P-Q-R and back, two links each way.
TEST(Scenarios, LatencyIsThatOfTheWays) {
  const Network network = ring_of_four();
  const Problem problem(network, {}, 1);
  const Round routed{{{0, 2}}};
  const Round chosen{.cliques = {{0, 2}}, .trees = {{{{0, 3}, {3, 2}}, {{2, 3}, {3, 0}}}}};
  for (const double seconds : drawn_seconds(problem, routed, 0.3)) {
    EXPECT_GE(seconds, 0.7 * 0.002);
    EXPECT_LE(seconds, 1.3 * 0.002 + 1e-6);
  }
  // Two halves of a way have factors of their own: hardly ever are both near an end of their range.
  const std::vector<double> drawn_s = drawn_seconds(problem, chosen, 0.3);
  EXPECT_NEAR(std::accumulate(drawn_s.begin(), drawn_s.end(), 0.0) / 300, 0.0032, 0.0001);
  for (const double seconds : drawn_s) {
    EXPECT_GE(seconds, 0.7 * 0.003);
    EXPECT_LE(seconds, 1.3 * 0.003 + 1e-6);
  }
}

TEST(Scenarios, ARestLastsAsLongAsItSays) {
  const Network network = ring_of_four();
  const Problem problem(network, {}, kUpdateBytes);
  const Round rest{.cliques = {}, .rest_s = 0.25};
  for (const double seconds : drawn_seconds(problem, rest, 0.5)) EXPECT_EQ(seconds, 0.25);
}

}  // namespace
}  // namespace tombolo::schedule
