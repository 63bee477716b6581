#include "schedule/event/event_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "schedule/event/event_bound.h"
#include "schedule/event/event_mixing.h"
#include "schedule/event/event_moves.h"
#include "schedule/optimize/search.h"
#include "schedule/optimize/seeds.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

void expect_schedule(const Schedule& schedule, std::size_t islands) {
  EXPECT_FALSE(schedule.rounds.empty());
  for (const Round& round : schedule.rounds) {
    EXPECT_FALSE(round.cliques.empty());
    std::set<Rank> used;
    for (const Clique& clique : round.cliques) {
      EXPECT_GE(clique.size(), 2u);
      EXPECT_TRUE(std::is_sorted(clique.begin(), clique.end()));
      for (const Rank rank : clique) {
        EXPECT_LT(rank, islands);
        EXPECT_TRUE(used.insert(rank).second);
      }
    }
  }
}

TEST(EventMoves, LeaveASchedule) {
  const std::uint64_t seed = 3;
  SCOPED_TRACE(seed);
  Random random(seed);
  Schedule schedule = random_schedule(random, 7);
  std::size_t moves = 0;
  for (int i = 0; i < 2000; ++i) {
    Schedule next = schedule;
    if (!move_at_random(next, 7, 6, random)) continue;
    expect_schedule(next, 7);
    EXPECT_LE(next.rounds.size(), 6u);
    schedule = std::move(next);
    ++moves;
  }
  EXPECT_GT(moves, 500u);
}

TEST(EventSearch, SeedsAreSchedules) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Network network = random_network(random);
    const Routes routes(network);
    const auto seeds = event_seeds({network, routes, {}});
    EXPECT_GE(seeds.size(), 2u);
    for (const Schedule& schedule : seeds) expect_schedule(schedule, network.islands.size());
  }
}

/// Access-limited, 1 GB, no help from the network: the best schedule with barriers that is known has 1.790 s.
TEST(EventSearch, BeatsTheBestBarriers) {
  const Network network = shipped_network("nine-city.yaml", "access-limited");
  const Routes routes(network);
  const EventModel model(network, routes, {false, Aggregation::kNone, Family::kDirect});
  EventSearchOptions options;
  options.update_bytes = 1e9;
  options.evaluations = 20'000;
  const std::vector<Schedule> seeds{
      *load_schedule("grid", network.islands),
      *load_schedule(config_path("schedules/nine-city-two-cliques.yaml"), network.islands)};
  const auto found = search_event(model, seeds, options);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_LT(found->disagreement_s, 1.79);
  EXPECT_GE(found->disagreement_s, event_bound_s(model, 1e9, 1));
  expect_schedule(found->schedule, 9);
  // What it says is what its schedule has.
  const auto again = model.timetable(found->schedule, 1e9, found->timetable.fragments);
  EXPECT_DOUBLE_EQ(*event_disagreement(found->schedule, *again, 9), found->disagreement_s);
}

/// A short search for the best barriers, then one that begins at what it found.
TEST(EventSearch, IsNeverWorseThanTheBarriersItIsGiven) {
  for (const char* const profile : {"access-limited", "egress-scarce", "testnet10", "mixed"}) {
    SCOPED_TRACE(profile);
    const Network network = shipped_network("nine-city.yaml", profile);
    for (const Capabilities& can : {Capabilities{false, Aggregation::kNone}, Capabilities{}}) {
      const Problem problem(network, can, 1e9);
      const std::vector<Schedule> starts = plain_seeds(problem, 6);
      const auto barrier = search_cycles(
          problem, starts, {.max_rounds = 6, .seed = 1, .max_cycles = 30'000, .stop = {}, .progress = {}});
      ASSERT_TRUE(barrier.ok()) << barrier.error().message;
      EventSearchOptions options;
      options.update_bytes = 1e9;
      options.evaluations = 300;
      const std::vector<Schedule> seeds{barrier->schedule};
      const auto found = search_event(EventModel(network, problem.routes(), can), seeds, options);
      ASSERT_TRUE(found.ok()) << found.error().message;
      EXPECT_EQ(found->schedule.form, Form::kEvent);
      EXPECT_EQ(found->schedule.fragments, 1u);
      EXPECT_LE(found->disagreement_s, barrier->disagreement_s * (1 + 1e-6));
    }
  }
}

TEST(EventSearch, TheSameSeedFindsTheSame) {
  const Network network = shipped_network("nine-city.yaml", "testnet10");
  const Routes routes(network);
  const EventModel model(network, routes, {});
  EventSearchOptions options;
  options.update_bytes = 1e9;
  options.evaluations = 500;
  options.max_fragments = 4;
  options.seed = 9;
  const auto a = search_event(model, {}, options);
  const auto b = search_event(model, {}, options);
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(a->disagreement_s, b->disagreement_s);
  ASSERT_EQ(a->schedule.rounds.size(), b->schedule.rounds.size());
  for (std::size_t r = 0; r < a->schedule.rounds.size(); ++r)
    EXPECT_EQ(a->schedule.rounds[r].cliques, b->schedule.rounds[r].cliques);
}

TEST(EventSearch, RefusesWhatMakesNoSense) {
  const Network network = shipped_network("nine-city.yaml", "testnet10");
  const Routes routes(network);
  const EventModel model(network, routes, {});
  EventSearchOptions options;
  EXPECT_FALSE(search_event(model, {}, options).ok());  // No size.
  options.update_bytes = 1e9;
  options.max_fragments = 0;
  EXPECT_FALSE(search_event(model, {}, options).ok());
  options.max_fragments = 1;
  options.evaluations = 1;
  const std::vector<Schedule> foreign{{"", {Round{{{0, 99}}}}}};
  EXPECT_FALSE(search_event(model, foreign, options).ok());
}

}  // namespace
}  // namespace tombolo::schedule
