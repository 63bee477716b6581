#include "schedule/event/event_mixing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "schedule/mixing.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

/// Standard normal by Box and Muller.
double normal(Random& random) {
  return std::sqrt(-2 * std::log(1 - random.unit())) * std::cos(2 * std::numbers::pi * random.unit());
}

/// The barriers of a schedule: round r of everybody takes seconds[r].
Timetable with_barriers(const Schedule& schedule, const std::vector<double>& seconds) {
  Timetable timetable;
  for (std::uint32_t r = 0; r < seconds.size(); ++r) {
    for (std::uint32_t c = 0; c < schedule.rounds[r].cliques.size(); ++c)
      timetable.exchanges.push_back({r, c, 0, timetable.cycle_s, seconds[r], 0});
    timetable.cycle_s += seconds[r];
  }
  return timetable;
}

/// The definition, played for one fragment: islands drift, hold what they had at a start, average it at the
/// end.
double played(const Schedule& schedule, const Timetable& timetable, std::size_t n, int cycles,
              Random& random) {
  struct Event {
    double at_s;
    bool is_end;
    const Clique* members;
  };
  std::vector<Event> events;
  for (int cycle = 0; cycle < cycles; ++cycle)
    for (const TimedExchange& timed : timetable.exchanges) {
      const Clique* const members = &schedule.rounds[timed.round].cliques[timed.clique];
      const double start_s = timed.start_s + cycle * timetable.cycle_s;
      events.push_back({start_s, false, members});
      events.push_back({start_s + timed.sending_s + timed.latency_s - 1e-9, true, members});
    }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.at_s < b.at_s; });
  std::vector<double> x(n, 0);
  std::vector<double> held(n, 0);
  double integral = 0;
  double now_s = events.front().at_s;
  const double first_s = now_s;
  for (const Event& event : events) {
    // One look at a random moment on the way to the event.
    const double seconds = event.at_s - now_s;
    const double look = random.unit();
    double mean = 0;
    std::vector<double> seen(n);
    for (std::size_t i = 0; i < n; ++i) {
      seen[i] = x[i] + std::sqrt(look * seconds) * normal(random);
      x[i] = seen[i] + std::sqrt((1 - look) * seconds) * normal(random);
      mean += seen[i] / static_cast<double>(n);
    }
    for (const double value : seen)
      integral += seconds * (value - mean) * (value - mean) / static_cast<double>(n);
    now_s = event.at_s;
    double sum = 0;
    for (const Rank rank : *event.members) sum += held[rank];
    for (const Rank rank : *event.members) {
      if (event.is_end)
        x[rank] += sum / static_cast<double>(event.members->size()) - held[rank];
      else
        held[rank] = x[rank];
    }
  }
  return integral / (now_s - first_s);
}

TEST(EventMixing, OneFullCliqueIsThatOfTheBarrier) {
  for (const std::size_t n : {2u, 5u, 9u}) {
    Clique all;
    for (std::size_t i = 0; i < n; ++i) all.push_back(static_cast<Rank>(i));
    const Schedule schedule{"full", {Round{{all}}}};
    const auto disagreement = event_disagreement(schedule, {0.7, 1, {{0, 0, 0, 0.1, 0.5, 0.2}}}, n);
    ASSERT_TRUE(disagreement.ok());
    const double islands = static_cast<double>(n);
    EXPECT_NEAR(*disagreement, 1.5 * 0.7 * (islands - 1) / islands, 1e-7);
  }
}

/// A full clique that starts every P and takes t: just after an end the drift of t is there, before the next
/// that of t + P.
TEST(EventMixing, PausesAreCounted) {
  const Schedule schedule{"full", {Round{{{0, 1, 2, 3}}}}};
  const double p = 2.0;
  const double t = 0.6;
  const auto disagreement = event_disagreement(schedule, {p, 1, {{0, 0, 0, 0, t, 0}}}, 4);
  EXPECT_NEAR(*disagreement, (t + p / 2) * 3 / 4, 1e-7);
}

TEST(EventMixing, FragmentsAreAveraged) {
  const Schedule schedule{"full", {Round{{{0, 1, 2}}}}};
  const Timetable timetable{3.0, 2, {{0, 0, 0, 0, 1, 0}, {0, 0, 1, 1.3, 2, 0}}};
  EXPECT_NEAR(*event_disagreement(schedule, timetable, 3), (2.5 + 3.5) / 2 * 2 / 3, 1e-7);
}

/// One fragment's cycle is exact. The other's leaves an island out: all of (3, -1, -1, -1) is left.
TEST(EventMixing, TheSlowestFragmentSaysWhatACycleLeaves) {
  const Schedule schedule{"", {Round{{{0, 1, 2, 3}}}, Round{{{1, 2, 3}}}}};
  const std::vector<TimedExchange> first{{0, 0, 0, 0, 1, 0}};
  EXPECT_NEAR(*event_contraction(schedule, {2.0, 1, first}, 4), 1 / 2.0, 1e-9);
  std::vector<TimedExchange> both = first;
  both.push_back({1, 0, 1, 0.5, 1, 0});
  EXPECT_NEAR(*event_contraction(schedule, {2.0, 2, both}, 4), 0, 1e-9);
  // An exchange that is under way as the cycle begins finds what islands hold as what they held.
  EXPECT_NEAR(*event_contraction(schedule, {2.0, 1, {{0, 0, 0, 1.5, 1, 0}}}, 4), 1 / 2.0, 1e-9);
}

TEST(EventMixing, BarriersGiveTheBarrierValue) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::size_t n = 2 + random.below(6);
    const Schedule schedule = random_schedule(random, n);
    std::vector<double> seconds;
    for (std::size_t r = 0; r < schedule.rounds.size(); ++r) seconds.push_back(0.1 + random.unit());
    const double barrier = measure_mixing(schedule, seconds, n)->disagreement_s;
    EXPECT_NEAR(*event_contraction(schedule, with_barriers(schedule, seconds), n),
                measure_mixing(schedule, seconds, n)->r_per_s, 1e-7);
    const auto event = event_disagreement(schedule, with_barriers(schedule, seconds), n);
    ASSERT_TRUE(event.ok()) << event.error().message;
    if (std::isfinite(barrier))
      EXPECT_NEAR(*event / barrier, 1, 1e-6);
    else
      EXPECT_FALSE(std::isfinite(*event));
  }
}

TEST(EventMixing, AgreesWithMonteCarlo) {
  const std::uint64_t seed = 77;
  SCOPED_TRACE(seed);
  Random random(seed);
  const Network network = shipped_network("nine-city.yaml", "testnet10");
  const Routes routes(network);
  const EventModel model(network, routes, {false, Aggregation::kNone, Family::kDirect});
  // Cliques that do not keep step with one another.
  const Schedule schedule{"uneven",
                          {Round{{{0, 2, 4}, {6, 8}}}, Round{{{0, 4}, {3, 5}}}, Round{{{1, 5}, {7, 8}}},
                           Round{{{4, 5}, {3, 8}}}}};
  const auto timetable = model.timetable(schedule, 1e9, 1);
  ASSERT_TRUE(timetable.ok()) << timetable.error().message;
  const auto exact = event_disagreement(schedule, *timetable, 9);
  ASSERT_TRUE(exact.ok());
  EXPECT_NEAR(played(schedule, *timetable, 9, 30'000, random) / *exact, 1, 0.03);
}

TEST(EventMixing, RefusesWhatCannotBe) {
  const Schedule schedule{"full", {Round{{{0, 1}}}}};
  EXPECT_FALSE(event_disagreement(schedule, {0, 1, {{0, 0, 0, 0, 1, 0}}}, 2).ok());    // No cycle.
  EXPECT_FALSE(event_disagreement(schedule, {1, 1, {}}, 2).ok());                      // No exchange.
  EXPECT_FALSE(event_disagreement(schedule, {1, 1, {{1, 0, 0, 0, 1, 0}}}, 2).ok());    // No such round.
  EXPECT_FALSE(event_disagreement(schedule, {1, 1, {{0, 0, 1, 0, 1, 0}}}, 2).ok());    // No such fragment.
  EXPECT_FALSE(event_disagreement(schedule, {1, 1, {{0, 0, 0, 0, 1, 0.1}}}, 2).ok());  // Longer than a cycle.
  EXPECT_FALSE(event_disagreement(schedule, {1, 1, {{0, 0, 0, 0, 1, 0}}}, 1).ok());    // No such island.
}

}  // namespace
}  // namespace tombolo::schedule
