#include "schedule/optimize/round_timer.h"

#include <gtest/gtest.h>

#include "schedule/random_network.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

TEST(RoundTimer, AgreesWithTheRoundModel) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const std::size_t n = 2 + random.below(14);
    const Network network = random_network(seed, n);
    const bool choice = seed % 3 == 0;
    const Problem problem(network,
                          {random.chance(0.5), random.chance(0.5) ? Aggregation::kNone : Aggregation::kEdge,
                           choice ? Family::kBest : Family::kDirect},
                          1e6 * static_cast<double>(1 + random.below(1000)));
    RoundTimer timer(problem);
    for (int i = 0; i < 10; ++i) {
      const Round round = random_round(random, n);
      const auto time = problem.model().time(round, problem.update_bytes());
      ASSERT_TRUE(time.ok());
      std::vector<const TimedClique*> cliques;
      for (const Clique& clique : round.cliques) cliques.push_back(&timer.clique(clique));
      const TimedGroups timed = timer.time(cliques);
      EXPECT_FALSE(timed.critical.empty());
      // With a choice of modes the round model's joint one may be quicker, never slower.
      EXPECT_GE(timed.seconds, time->seconds * (1 - 1e-9));
      if (choice) continue;
      EXPECT_NEAR(timed.seconds, time->seconds, 1e-9 * time->seconds);
    }
  }
}

}  // namespace
}  // namespace tombolo::schedule
