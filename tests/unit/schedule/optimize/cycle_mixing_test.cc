#include "schedule/optimize/cycle_mixing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "schedule/mixing.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

struct Case {
  Schedule schedule;
  std::vector<Grouping> rounds;
  std::vector<double> seconds;
};

Case random_case(Random& random, std::size_t n) {
  Case made{random_schedule(random, n), {}, {}};
  for (const Round& round : made.schedule.rounds) {
    made.rounds.push_back(to_grouping(round, n));
    made.seconds.push_back(0.1 + random.unit());
  }
  return made;
}

TEST(CycleMixing, AgreesWithMeasureMixing) {
  int finite = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const std::size_t n = 2 + random.below(11);
    const Case one = random_case(random, n);
    const auto mixing = measure_mixing(one.schedule, one.seconds, n);
    ASSERT_TRUE(mixing.ok());
    CycleMixing cycle(n);
    cycle.measure(one.rounds, one.seconds);
    if (std::isinf(cycle.disagreement_s())) continue;
    ++finite;
    EXPECT_NEAR(cycle.disagreement_s(), mixing->disagreement_s, 1e-7 * mixing->disagreement_s);
  }
  EXPECT_GT(finite, 100);
}

TEST(CycleMixing, IsInfiniteWhereIslandsNeverMeet) {
  CycleMixing cycle(4);
  const std::vector<Grouping> rounds = {to_grouping(Round{{{0, 1}, {2, 3}}}, 4)};
  cycle.measure(rounds, {1.0});
  EXPECT_TRUE(std::isinf(cycle.disagreement_s()));
}

/// The worth is the derivative of N by S, and S is linear in what each round adds: the sum of T trace S is
/// the sum over rounds of what they add, T (I - J), weighed by the worth after them.
TEST(CycleMixing, WorthIsDualToDisagreement) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const std::size_t n = 2 + random.below(11);
    const Case one = random_case(random, n);
    CycleMixing cycle(n);
    cycle.measure(one.rounds, one.seconds);
    if (std::isinf(cycle.disagreement_s())) continue;
    double direct = 0;
    double dual = 0;
    for (std::size_t r = 0; r < one.rounds.size(); ++r) {
      direct += one.seconds[r] * cycle.before(r).trace();
      dual += one.seconds[r] * cycle.worth_after(r).trace();
    }
    EXPECT_NEAR(direct, dual, 1e-7 * direct);
  }
}

TEST(BlockMatrix, SumsAreThoseOfTheWholeMatrix) {
  Random random(11);
  const std::size_t n = 9;
  const Case one = random_case(random, n);
  CycleMixing cycle(n);
  cycle.measure(one.rounds, one.seconds);
  const Grouping other = to_grouping(random_round(random, n), n);
  const BlockMatrix& x = cycle.before(0);
  const RowMatrix rows = x.row_sums(other);
  const RowMatrix blocks = x.block_sums(other);
  for (std::size_t g = 0; g < other.size(); ++g) {
    RowMatrix block = RowMatrix::Zero(1, other.size());
    for (const Rank i : other.groups[g])
      for (std::size_t h = 0; h < other.size(); ++h) {
        double sum = 0;
        for (const Rank j : other.groups[h]) sum += x.at(i, j);
        EXPECT_NEAR(rows(i, h), sum, 1e-12);
        block(0, h) += sum;
      }
    for (std::size_t h = 0; h < other.size(); ++h) EXPECT_NEAR(blocks(g, h), block(0, h), 1e-12);
  }
}

}  // namespace
}  // namespace tombolo::schedule
