#include "schedule/optimize/structured_seeds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "schedule/mixing.h"
#include "schedule/random_network.h"

namespace tombolo::schedule {
namespace {

TEST(StructuredSeeds, AreValidAndJoinAllIslands) {
  for (const std::size_t n : {2, 3, 7, 16, 65}) {
    SCOPED_TRACE(testing::Message() << n << " islands");
    const Network network = random_network(n, n);
    const Problem problem(network, {true, Aggregation::kEdge, Family::kDirect}, 1e8);
    const std::vector<Schedule> seeds = structured_seeds(problem, 12);
    ASSERT_FALSE(seeds.empty());
    std::size_t joined = 0;
    for (const Schedule& schedule : seeds) {
      ASSERT_FALSE(schedule.rounds.empty());
      EXPECT_LE(schedule.rounds.size(), 12u);
      for (const Round& round : schedule.rounds) {
        std::vector<bool> seen(n, false);
        for (const Clique& clique : round.cliques) {
          EXPECT_GE(clique.size(), 2u);
          EXPECT_LE(clique.size(), kMaxCliqueMembers);
          for (const Rank rank : clique) {
            EXPECT_FALSE(seen[rank]);
            seen[rank] = true;
          }
        }
      }
      const auto mixing = measure_mixing(schedule, std::vector<double>(schedule.rounds.size(), 1.0), n);
      if (mixing.ok() && std::isfinite(mixing->disagreement_s)) ++joined;
    }
    EXPECT_EQ(joined, seeds.size());
  }
}

/// 16 islands by four digits of two: every island has heard of every other after one sweep, exactly.
TEST(StructuredSeeds, ButterflyIsExactWhereTheNumberFits) {
  const Network network = random_network(2, 16);
  const Problem problem(network, {false, Aggregation::kNone, Family::kDirect}, 1e8);
  bool found = false;
  for (const Schedule& schedule : structured_seeds(problem, 4)) {
    if (schedule.rounds.size() != 4 || schedule.rounds[0].cliques.size() != 8) continue;
    const auto mixing = measure_mixing(schedule, std::vector<double>(4, 1.0), 16);
    ASSERT_TRUE(mixing.ok());
    found = found || std::abs(mixing->r_per_s - 0.25) < 1e-9;  // (1 - 0) / 4 s.
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace tombolo::schedule
