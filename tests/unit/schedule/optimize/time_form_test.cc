#include "schedule/optimize/time_form.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"
#include "schedule/mixing.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

constexpr double kFine = 1e-14;
constexpr int kMaxPasses = 1000;

/// False if the rounds do not join all islands.
bool settle(TimeForm& form) {
  for (int pass = 0; pass < kMaxPasses; ++pass)
    if (form.refine() <= kFine) return true;
  return false;
}

Cycle cycle_of(const Schedule& schedule, std::size_t islands, RoundBook& book) {
  Cycle cycle;
  for (const Round& round : schedule.rounds) cycle.push_back(book.find(to_partition(round, islands)));
  return cycle;
}

TEST(TimeForm, IsTheDOfAnyRoundTimes) {
  const std::uint64_t seed = 20271;
  SCOPED_TRACE(seed);
  Random random(seed);
  int joined = 0;
  for (int i = 0; i < 60; ++i) {
    const Network network = random_network(random);
    const Problem problem(network, {}, 1e9);
    const std::size_t n = problem.islands();
    RoundBook book(problem);
    TimeForm form(n);
    for (int j = 0; j < 5; ++j) {
      const Schedule schedule = random_schedule(random, n);
      const std::size_t count = schedule.rounds.size();
      constexpr std::size_t kDraws = 3;
      Eigen::MatrixXd seconds(kDraws, static_cast<Eigen::Index>(count));
      for (double& value : seconds.reshaped()) value = 0.1 + 3 * random.unit();
      const Cycle cycle = cycle_of(schedule, n, book);
      form.begin(cycle);
      const Eigen::ArrayXd first_s = form.disagreements_s(seconds);
      if (!settle(form)) continue;
      ++joined;
      const Eigen::ArrayXd settled_s = form.disagreements_s(seconds);
      for (std::size_t d = 0; d < kDraws; ++d) {
        const auto draw = static_cast<Eigen::Index>(d);
        const Eigen::VectorXd row = seconds.row(draw);
        const auto mixing = measure_mixing(schedule, std::vector<double>(row.begin(), row.end()), n);
        ASSERT_TRUE(mixing.ok());
        EXPECT_NEAR(settled_s(draw), mixing->disagreement_s, 1e-9 * mixing->disagreement_s);
        EXPECT_LE(first_s(draw), settled_s(draw) * (1 + kFine));
      }
    }
  }
  EXPECT_GT(joined, 50);
}

TEST(TimeForm, DoesNotSettleWhereIslandsNeverMeet) {
  const Network network = shipped_network("three-site.yaml", "even");
  const Problem problem(network, {}, 1e9);
  RoundBook book(problem);
  TimeForm form(3);
  form.begin(cycle_of({"apart", {Round{{{0, 1}}}}}, 3, book));
  EXPECT_FALSE(settle(form));
  form.begin(cycle_of({"full", {Round{{{0, 1, 2}}}}}, 3, book));
  EXPECT_EQ(form.refine(), 0);
  EXPECT_NEAR(form.disagreements_s(Eigen::MatrixXd::Constant(1, 1, 2.0))(0), 1.5 * 2 * 2 / 3, 1e-12);
}

}  // namespace
}  // namespace tombolo::schedule
