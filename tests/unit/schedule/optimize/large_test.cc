#include "schedule/optimize/large.h"

#include <gtest/gtest.h>

#include "schedule/barrier_bound.h"
#include "schedule/random_network.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

const Capabilities kNone{false, Aggregation::kNone, Family::kDirect};
const Capabilities kBoth{true, Aggregation::kEdge, Family::kDirect};

/// What is said of it is so, by the round model and measure_mixing; cliques are disjoint and small enough.
void expect_sound(const LargeSchedule& found, const Problem& problem) {
  std::vector<double> seconds;
  for (const Round& round : found.schedule.rounds) {
    std::vector<bool> seen(problem.islands(), false);
    for (const Clique& clique : round.cliques) {
      EXPECT_LE(clique.size(), kMaxCliqueMembers);
      for (const Rank rank : clique) {
        EXPECT_FALSE(seen[rank]);
        seen[rank] = true;
      }
    }
    const auto time = problem.model().time(round, problem.update_bytes());
    ASSERT_TRUE(time.ok());
    seconds.push_back(time->seconds);
  }
  const auto mixing = measure_mixing(found.schedule, seconds, problem.islands());
  ASSERT_TRUE(mixing.ok());
  EXPECT_DOUBLE_EQ(found.mixing.disagreement_s, mixing->disagreement_s);
  EXPECT_LE(mixing->disagreement_s, found.seed_disagreement_s * (1 + 1e-9));
  const auto bound_s = barrier_bound_s(problem.model(), problem.update_bytes());
  ASSERT_TRUE(bound_s.ok());
  EXPECT_GE(mixing->disagreement_s, *bound_s * (1 - 1e-9));
}

/// Egress-scarce with multicast: the certified optimum of two rounds has D 4.793 (SCHEDULING table).
TEST(ImproveLarge, FindsAKnownOptimumOfTheNineCities) {
  const Network network = shipped_network("nine-city.yaml", "egress-scarce");
  const Problem problem(network, {true, Aggregation::kNone, Family::kDirect}, 1e9);
  LargeOptions options;
  options.work = 200'000'000;
  const auto found = improve_large(problem, options);
  ASSERT_TRUE(found.ok()) << found.error().message;
  expect_sound(*found, problem);
  EXPECT_LE(found->mixing.disagreement_s, 4.7935);
}

TEST(ImproveLarge, ImprovesSeedsOfAnySize) {
  struct Size {
    std::size_t islands;
    std::uint64_t work;
  };
  for (const Size size :
       {Size{2, 1'000'000}, Size{13, 50'000'000}, Size{50, 100'000'000}, Size{100, 150'000'000}}) {
    SCOPED_TRACE(testing::Message() << "seed " << size.islands << ", that many islands");
    const Network network = random_network(size.islands, size.islands);
    const Problem problem(network, size.islands % 2 == 0 ? kNone : kBoth, 1e9);
    LargeOptions options;
    options.work = size.work;
    const auto found = improve_large(problem, options);
    ASSERT_TRUE(found.ok()) << found.error().message;
    expect_sound(*found, problem);
    // Seeds do not know capacities of single links: where there is something to find, it is found.
    if (size.islands < 50) continue;
    EXPECT_LT(found->mixing.disagreement_s, 0.8 * found->seed_disagreement_s);
  }
}

#if TOMBOLO_LONG_TESTS
TEST(ImproveLarge, FitsFiveHundredIslands) {
  const Network network = random_network(1, 500);
  const Problem problem(network, kBoth, 1e9);
  const auto found = improve_large(problem, {});
  ASSERT_TRUE(found.ok()) << found.error().message;
  expect_sound(*found, problem);
}
#endif

TEST(ImproveLarge, IsTheSameForTheSameSeed) {
  const Network network = random_network(9, 30);
  const Problem problem(network, kNone, 1e9);
  LargeOptions options;
  options.work = 30'000'000;
  const auto once = improve_large(problem, options);
  const auto again = improve_large(problem, options);
  ASSERT_TRUE(once.ok() && again.ok());
  EXPECT_EQ(once->mixing.disagreement_s, again->mixing.disagreement_s);
  ASSERT_EQ(once->schedule.rounds.size(), again->schedule.rounds.size());
  for (std::size_t r = 0; r < once->schedule.rounds.size(); ++r)
    EXPECT_EQ(once->schedule.rounds[r].cliques, again->schedule.rounds[r].cliques);
}

TEST(ImproveLarge, IsNeverWorseThanAStart) {
  const Network network = random_network(4, 20);
  const Problem problem(network, kNone, 1e9);
  LargeOptions options;
  options.work = 30'000'000;
  const auto good = improve_large(problem, options);
  ASSERT_TRUE(good.ok());
  options.work = 1'000'000;
  options.starts = {good->schedule};
  const auto again = improve_large(problem, options);
  ASSERT_TRUE(again.ok());
  EXPECT_LE(again->mixing.disagreement_s, good->mixing.disagreement_s * (1 + 1e-9));
}

TEST(ImproveLarge, StopsWhenTold) {
  const Network network = random_network(4, 20);
  const Problem problem(network, kNone, 1e9);
  LargeOptions options;
  options.stop = [] { return true; };
  const auto found = improve_large(problem, options);
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->stopped);
  expect_sound(*found, problem);
}

TEST(ImproveLarge, RefusesOneIsland) {
  const Network network = random_network(1, 1);
  EXPECT_FALSE(improve_large(Problem(network, kNone, 1e9), {}).ok());
}

}  // namespace
}  // namespace tombolo::schedule
