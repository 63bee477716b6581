#include "schedule/optimize/optimize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"
#include "schedule/random_network.h"
#include "tests/unit/schedule/optimize/reference_rows.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

OptimizeOptions quick(std::uint64_t max_cycles) {
  OptimizeOptions options;
  options.max_cycles = max_cycles;
  return options;
}

/// Where one clique of all is the best cycle of two rounds it stays the answer, and is called certified.
TEST(Optimize, CertifiesTheFullClique) {
  const Network network = shipped_network("nine-city.yaml", "access-limited");
  const Problem problem(network, {}, 1e9);
  const auto best = optimize(problem, quick(20'000), VirtualClock());
  ASSERT_TRUE(best.ok()) << best.error().message;
  EXPECT_NEAR(best->mixing.disagreement_s, 1.2893, 5e-5);
  EXPECT_EQ(best->certified, "cycles of at most two rounds");
  ASSERT_EQ(best->schedule.rounds.size(), 1u);
  EXPECT_NEAR(best->cycle_s, 0.9670, 5e-5);
  EXPECT_EQ(best->times[0].seconds, best->cycle_s);
  EXPECT_LE(best->gap, 1 - 1.1036 / 1.2893 + 2e-4);  // By the published bound; ours is larger.
  EXPECT_DOUBLE_EQ(best->gap, 1 - best->bound_s / best->mixing.disagreement_s);
  EXPECT_FALSE(best->stopped);
  EXPECT_EQ(best->solve_s, 0);  // This clock stands still.
}

/// With trees of our choice the search goes on from the answer without them.
TEST(Optimize, PackedTreesLowerDOrLeaveIt) {
  const Network network = shipped_network("nine-city.yaml", "testnet10");
  const Problem problem(network, {}, 1e9);
  OptimizeOptions options = quick(20'000);
  options.effort = 0.02;
  const auto shortest = optimize(problem, options, VirtualClock());
  options.packed_trees = true;
  const auto packed = optimize(problem, options, VirtualClock());
  ASSERT_TRUE(shortest.ok() && packed.ok());
  EXPECT_TRUE(shortest->packed.empty());
  EXPECT_LE(packed->mixing.disagreement_s, shortest->mixing.disagreement_s);
  EXPECT_LE(packed->bound_s, packed->mixing.disagreement_s);
  ASSERT_EQ(packed->packed.size(), packed->schedule.rounds.size());
  for (std::size_t r = 0; r < packed->packed.size(); ++r) {
    const Round& round = packed->schedule.rounds[r];
    EXPECT_EQ(problem.model().time(round, 1e9)->seconds, packed->times[r].seconds);
    EXPECT_EQ(packed->packed[r].packed_s, packed->times[r].seconds);
    EXPECT_LE(packed->packed[r].bound_s, packed->packed[r].packed_s);
    EXPECT_EQ(round.trees.empty(), packed->packed[r].packed_s == packed->packed[r].shortest_s);
  }
}

TEST(Optimize, PackedTreesOnlyWhereTheNetworkLetsUs) {
  const Network network = ring_of_four("explicit_trees: false\n");
  OptimizeOptions options = quick(100);
  options.packed_trees = true;
  const auto refused = optimize(Problem(network, {}, 1e6), options, VirtualClock());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kNotSupported);
  EXPECT_NE(refused.error().message.find("packed trees: the network does not let us choose trees"),
            std::string::npos);
}

TEST(Optimize, DoesNotCallALongerCycleCertified) {
  const Network network = shipped_network("nine-city.yaml", "testnet10");
  const auto best = optimize(Problem(network, {false, Aggregation::kNone, Family::kDirect}, 1e9),
                             quick(100'000), VirtualClock());
  ASSERT_TRUE(best.ok());
  EXPECT_GT(best->schedule.rounds.size(), 2u);
  EXPECT_LT(best->mixing.disagreement_s, *best->two_rounds_s);
  EXPECT_EQ(best->certified, "");
}

/// Two islands: one round of both, which the bound shows to be the best of all: D = 1.5 T / 2.
TEST(Optimize, TwoIslands) {
  Network network = shipped_network("three-site.yaml", "even");
  network.islands.resize(2);
  const auto best = optimize(Problem(network, {}, 1.25e9), quick(1000), VirtualClock());
  ASSERT_TRUE(best.ok()) << best.error().message;
  ASSERT_EQ(best->schedule.rounds.size(), 1u);
  EXPECT_NEAR(best->mixing.disagreement_s, 0.75 * 1.005, 1e-12);
  EXPECT_EQ(best->certified, "all schedules with barriers");
}

TEST(Optimize, RandomNetworksKeepTheirBounds) {
  const std::uint64_t seed = 20265;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < (TOMBOLO_LONG_TESTS != 0 ? 200 : 30); ++i) {
    SCOPED_TRACE(i);
    const Network network = random_network(random);
    const Capabilities capabilities{random.chance(0.5),
                                    random.chance(0.5) ? Aggregation::kEdge : Aggregation::kNone,
                                    random.chance(0.3) ? Family::kBest : Family::kDirect};
    const Problem problem(network, capabilities, 1e8);
    const auto best = optimize(problem, quick(3000), VirtualClock());
    ASSERT_TRUE(best.ok()) << best.error().message;
    EXPECT_GE(best->mixing.disagreement_s, best->bound_s * (1 - 1e-9));
    EXPECT_NEAR(measured_disagreement_s(problem, best->schedule), best->mixing.disagreement_s, 1e-12);
    if (!best->two_rounds_s) continue;
    EXPECT_LE(best->mixing.disagreement_s, *best->two_rounds_s * (1 + 1e-9));
  }
}

/// Beyond annealing: any number of islands, the same answer for the same seed, the bound beside it.
TEST(Optimize, ManyIslands) {
  const Network network = random_network(7, 40);
  const Problem problem(network, {}, 1e9);
  OptimizeOptions options;
  options.effort = 0.02;
  const auto best = optimize(problem, options, VirtualClock());
  ASSERT_TRUE(best.ok()) << best.error().message;
  EXPECT_FALSE(best->two_rounds_s);
  EXPECT_EQ(best->certified, "");
  EXPECT_GE(best->mixing.disagreement_s, best->bound_s);
  EXPECT_DOUBLE_EQ(best->gap, 1 - best->bound_s / best->mixing.disagreement_s);
  EXPECT_NEAR(measured_disagreement_s(problem, best->schedule), best->mixing.disagreement_s, 1e-12);
  double cycle_s = 0;
  for (const RoundTime& time : best->times) cycle_s += time.seconds;
  EXPECT_DOUBLE_EQ(best->cycle_s, cycle_s);
  const auto again = optimize(problem, options, VirtualClock());
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(best->mixing.disagreement_s, again->mixing.disagreement_s);
  options.max_rounds = 3;
  const auto brief = optimize(problem, options, VirtualClock());
  ASSERT_TRUE(brief.ok()) << brief.error().message;
  EXPECT_LE(brief->schedule.rounds.size(), 3u);
}

TEST(Optimize, RefusesMoreIslandsThanItCanServe) {
  Network network = shipped_network("three-site.yaml", "even");
  network.islands.resize(kMaxOptimizedIslands + 1);  // All of them at the first site.
  EXPECT_EQ(optimize(Problem(network, {}, 1e9), {}, VirtualClock()).error().code, ErrorCode::kNotSupported);
}

TEST(Optimize, HonoursTheTimeLimit) {
  /// A clock that goes on by a second each time it is read.
  class TickingClock final : public Clock {
   public:
    Nanoseconds now_ns() const override { return ticks_++ * kSecond; }

   private:
    mutable std::uint64_t ticks_ = 0;
  };
  const Network network = shipped_network("nine-city.yaml", "testnet10");
  OptimizeOptions options = quick(100'000'000);
  options.time_limit_s = 5;
  const auto best = optimize(Problem(network, {}, 1e9), options, TickingClock());
  ASSERT_TRUE(best.ok());
  EXPECT_TRUE(best->stopped);
  EXPECT_GE(best->solve_s, 5);
  EXPECT_LE(best->solve_s, 10);
}

TEST(Optimize, BadOptionsAreErrors) {
  const Network network = shipped_network("three-site.yaml", "even");
  const Problem problem(network, {}, 1e9);
  OptimizeOptions none;
  none.max_rounds = 0;
  EXPECT_EQ(optimize(problem, none, VirtualClock()).error().code, ErrorCode::kInvalidInput);
  OptimizeOptions late;
  late.time_limit_s = 0;
  EXPECT_EQ(optimize(problem, late, VirtualClock()).error().code, ErrorCode::kInvalidInput);
  OptimizeOptions idle;
  idle.effort = 0;
  EXPECT_EQ(optimize(problem, idle, VirtualClock()).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(optimize(Problem(network, {}, 0), {}, VirtualClock()).error().code, ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace tombolo::schedule
