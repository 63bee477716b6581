#include "schedule/optimize/search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "schedule/optimize/cycle.h"
#include "schedule/optimize/moves.h"
#include "schedule/optimize/seeds.h"
#include "tests/unit/schedule/optimize/reference_rows.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(CycleMeter, AgreesWithMixing) {
  const std::uint64_t seed = 20263;
  SCOPED_TRACE(seed);
  Random random(seed);
  for (int i = 0; i < 60; ++i) {
    const Network network = random_network(random);
    const Problem problem(network, {}, 1e9);
    RoundBook book(problem);
    CycleMeter meter(problem.islands());
    for (int j = 0; j < 5; ++j) {
      const Schedule schedule = random_schedule(random, problem.islands());
      const double measured_s = measured_disagreement_s(problem, schedule);
      if (std::isinf(measured_s)) continue;
      Cycle cycle;
      for (const Round& round : schedule.rounds)
        cycle.push_back(book.find(to_partition(round, problem.islands())));
      EXPECT_NEAR(meter.disagreement_s(cycle, kInfinity, 1e-14), measured_s, 1e-9 * measured_s);
      // An early end is only for what is worse than the cutoff, and never tells less than it.
      EXPECT_GT(meter.disagreement_s(cycle, 0.9 * measured_s, 1e-14), 0.9 * measured_s);
      EXPECT_NEAR(meter.disagreement_s(cycle, 1.1 * measured_s, 1e-14), measured_s, 1e-9 * measured_s);
    }
  }
}

TEST(RoundBook, KnowsWhatIsNoRound) {
  const Network network = shipped_network("three-site.yaml", "even");
  const Problem problem(network, {}, 1e9);
  RoundBook book(problem);
  EXPECT_EQ(book.find({0b001, 0b010, 0b100}), nullptr);
  const RoundHandle pair = book.find({0b100, 0b011});
  ASSERT_NE(pair, nullptr);
  EXPECT_EQ(pair, book.find({0b011, 0b100}));  // Measured once, whatever the order.
  EXPECT_EQ(pair->seconds, problem.model().time(Round{{{0, 1}}}, 1e9)->seconds);
}

TEST(Moves, EveryChangeIsACycleOfTheSameLength) {
  const std::uint64_t seed = 20264;
  SCOPED_TRACE(seed);
  Random random(seed);
  const Network network = shipped_network("nine-city.yaml", "testnet10");
  const Problem problem(network, {}, 1e9);
  RoundBook book(problem);
  Moves moves(9, book, random);
  Cycle cycle;
  for (const Schedule& start : plain_seeds(problem, 8))
    for (const Round& round : start.rounds) {
      cycle.push_back(book.find(to_partition(round, 9)));
      moves.remember(cycle.back());
    }
  const std::size_t length = cycle.size();
  int changed = 0;
  for (int i = 0; i < 5000; ++i) {
    Cycle next = moves.change(cycle);
    if (next.empty()) continue;
    ++changed;
    ASSERT_EQ(next.size(), length);
    for (const RoundHandle& round : next) {
      IslandSet all = 0;
      std::size_t members = 0;
      for (std::size_t a = 0; a < round->sets.size(); ++a) {
        all |= round->sets[a];
        members += static_cast<std::size_t>(round->sizes[a]);
      }
      ASSERT_EQ(all, 0b111111111u);
      ASSERT_EQ(members, 9u);  // Together with the line before: disjoint.
    }
    cycle = std::move(next);
  }
  EXPECT_GT(changed, 2500);
}

/// The published best of every row, to be reached or beaten: two rows at once, all of them in long runs.
TEST(Search, ReachesTheBestKnown) {
  const bool all = TOMBOLO_LONG_TESTS != 0;
  for (const std::size_t index :
       all ? std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7} : std::vector<std::size_t>{0, 6}) {
    const ReferenceRow& row = reference_rows()[index];
    SCOPED_TRACE(index);
    const Network network = shipped_network("nine-city.yaml", row.profile);
    const Problem problem(network, row.capabilities, 1e9);
    SearchOptions options;
    options.max_cycles = all ? 6'000'000 : 1'500'000;
    const auto found = search_cycles(problem, plain_seeds(problem, options.max_rounds), options);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_LE(found->disagreement_s, row.best_s + row.best_half_digit);
    EXPECT_GE(found->disagreement_s, row.bound_s - row.half_digit);
    EXPECT_NEAR(measured_disagreement_s(problem, found->schedule), found->disagreement_s, 1e-9);
    EXPECT_LE(found->schedule.rounds.size(), options.max_rounds);
  }
}

TEST(Search, IsTheSameForTheSameSeedAndNeverWorseThanItsStarts) {
  const Network network = shipped_network("nine-city.yaml", "mixed");
  const Problem problem(network, {}, 1e8);
  const std::vector<Schedule> starts = plain_seeds(problem, 5);
  double best_start_s = kInfinity;
  for (const Schedule& start : starts)
    best_start_s = std::min(best_start_s, measured_disagreement_s(problem, start));
  SearchOptions options;
  options.max_rounds = 5;
  options.max_cycles = 20'000;
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    options.seed = seed;
    const auto first = search_cycles(problem, starts, options);
    const auto second = search_cycles(problem, starts, options);
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(first->disagreement_s, second->disagreement_s);
    EXPECT_EQ(first->cycles, second->cycles);
    ASSERT_EQ(first->schedule.rounds.size(), second->schedule.rounds.size());
    for (std::size_t r = 0; r < first->schedule.rounds.size(); ++r)
      EXPECT_EQ(first->schedule.rounds[r].cliques, second->schedule.rounds[r].cliques);
    EXPECT_LE(first->disagreement_s, best_start_s * (1 + 1e-12));
    EXPECT_FALSE(first->stopped);
  }
}

TEST(Search, StopsWhenAsked) {
  const Network network = shipped_network("nine-city.yaml", "mixed");
  const Problem problem(network, {}, 1e8);
  int asked = 0;
  SearchOptions options;
  options.stop = [&] { return ++asked == 3; };
  const auto found = search_cycles(problem, plain_seeds(problem, 8), options);
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->stopped);
  EXPECT_EQ(asked, 3);
  EXPECT_LT(found->cycles, options.max_cycles / 100);
  EXPECT_TRUE(std::isfinite(found->disagreement_s));
}

TEST(Search, RefusesWhatItCannotBeginWith) {
  const Network network = shipped_network("three-site.yaml", "even");
  const Problem problem(network, {}, 1e9);
  EXPECT_EQ(search_cycles(problem, {}, {}).error().code, ErrorCode::kInvalidInput);
  const std::vector<Schedule> apart{{"apart", {Round{{{0, 1}}}}}};
  EXPECT_EQ(search_cycles(problem, apart, {}).error().code, ErrorCode::kInvalidInput);
  SearchOptions none;
  none.max_rounds = 0;
  EXPECT_EQ(search_cycles(problem, plain_seeds(problem, 1), none).error().code, ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace tombolo::schedule
