#include "schedule/event/event_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "schedule/event/event_mixing.h"
#include "schedule/mixing.h"
#include "schedule/round_model.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

Capabilities random_capabilities(Random& random) {
  return {random.chance(0.5), random.chance(0.5) ? Aggregation::kEdge : Aggregation::kNone};
}

const Clique& members(const Schedule& schedule, const TimedExchange& timed) {
  return schedule.rounds[timed.round].cliques[timed.clique];
}

/// The largest share of any capacity at any time: at each begin of each stream, counts all that are on, in
/// whatever cycle.
double largest_load(const EventModel& model, const Schedule& schedule, const Timetable& timetable,
                    double update_bytes) {
  struct Use {
    double begin_s;
    double end_s;
    double share;
  };
  const std::vector<double> update_s = model.rounds().update_seconds(update_bytes / timetable.fragments);
  std::vector<std::vector<Use>> uses(update_s.size());
  for (const TimedExchange& timed : timetable.exchanges) {
    const Exchange exchange = *make_exchange(model.rounds(), members(schedule, timed), {});
    for (const Stream& stream : exchange.streams)
      uses[stream.resource].push_back({timed.start_s + stream.offset_s,
                                       timed.start_s + stream.offset_s + timed.sending_s,
                                       stream.updates * update_s[stream.resource] / timed.sending_s});
  }
  double largest = 0;
  for (const std::vector<Use>& here : uses)
    for (const Use& look : here) {
      const double at_s = look.begin_s + timetable.cycle_s * 1e-7;
      double share = 0;
      for (const Use& use : here)
        for (double cycle = std::floor((at_s - use.end_s) / timetable.cycle_s) - 1;
             use.begin_s + cycle * timetable.cycle_s < at_s; ++cycle)
          if (use.end_s + cycle * timetable.cycle_s > at_s + timetable.cycle_s * 1e-7) share += use.share;
      largest = std::max(largest, share);
    }
  return largest;
}

TEST(EventModel, OneCliqueTakesWhatItsRoundTakes) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Network network = random_network(random);
    const Routes routes(network);
    const Capabilities can = random_capabilities(random);
    const Schedule full = *full_schedule(network.islands);
    const auto timetable = EventModel(network, routes, can).timetable(full, 1e8, 1);
    ASSERT_TRUE(timetable.ok()) << timetable.error().message;
    const double round_s = RoundModel(network, routes, can).time(full.rounds[0], 1e8)->seconds;
    EXPECT_NEAR(timetable->cycle_s / round_s, 1, 1e-9);
    EXPECT_NEAR(timetable->exchanges[0].end_s() - timetable->exchanges[0].start_s, round_s, 1e-9 * round_s);
  }
}

/// Rounds in which nobody rests can keep the rates and so the times of their barriers.
TEST(EventModel, WithoutRestsNeverWorseThanWithBarriers) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Network network = random_network(random);
    const std::size_t n = network.islands.size();
    const Routes routes(network);
    const EventModel model(network, routes, random_capabilities(random));
    Schedule schedule = random_schedule(random, n);
    std::vector<double> seconds;
    for (Round& round : schedule.rounds) {
      std::vector<bool> meets(n, false);
      for (const Clique& clique : round.cliques)
        for (const Rank rank : clique) meets[rank] = true;
      for (Rank rank = 0; rank < n; ++rank)
        if (!meets[rank]) round.cliques.back().push_back(rank);
      std::sort(round.cliques.back().begin(), round.cliques.back().end());
      seconds.push_back(model.rounds().time(round, 1e7)->seconds);
    }
    const double barrier_s = measure_mixing(schedule, seconds, n)->disagreement_s;
    const auto timetable = model.timetable(schedule, 1e7, 1);
    if (!timetable || !std::isfinite(barrier_s)) continue;  // It does not join all islands.
    EXPECT_LE(*event_disagreement(schedule, *timetable, n), barrier_s * (1 + 1e-6));
    ++compared;
  }
  EXPECT_GT(compared, 50u);
}

TEST(EventModel, NothingExceedsACapacity) {
  double fullest = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Network network = random_network(random);
    const Routes routes(network);
    const EventModel model(network, routes, random_capabilities(random));
    const Schedule schedule = random_schedule(random, network.islands.size());
    const auto fragments = static_cast<std::uint32_t>(1 + random.below(5));
    const auto timetable = model.timetable(schedule, 1e7, fragments);
    if (!timetable) continue;  // It does not join all islands.
    const double load = largest_load(model, schedule, *timetable, 1e7);
    EXPECT_LE(load, 1 + 1e-6);
    fullest = std::max(fullest, load);
  }
  EXPECT_GT(fullest, 0.99);
}

TEST(EventModel, AnExchangeStartsWhenItsMembersAreReady) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Network network = random_network(random);
    const Routes routes(network);
    const EventModel model(network, routes, random_capabilities(random));
    const Schedule schedule = random_schedule(random, network.islands.size());
    const auto timetable = model.timetable(schedule, 1e7, 1);
    if (!timetable) continue;
    for (std::size_t i = 0; i < timetable->exchanges.size(); ++i) {
      double ready_s = -std::numeric_limits<double>::infinity();
      for (const Rank rank : members(schedule, timetable->exchanges[i]))
        for (std::size_t back = 1; back <= timetable->exchanges.size(); ++back) {
          const std::size_t before = (i + timetable->exchanges.size() - back) % timetable->exchanges.size();
          const Clique& clique = members(schedule, timetable->exchanges[before]);
          if (std::find(clique.begin(), clique.end(), rank) == clique.end()) continue;
          const double cycles = back > i ? 1 : 0;
          ready_s = std::max(ready_s, timetable->exchanges[before].end_s() - cycles * timetable->cycle_s);
          break;
        }
      EXPECT_NEAR(timetable->exchanges[i].start_s, ready_s, 1e-9 * timetable->cycle_s);
    }
  }
}

/// Nine cities, one clique, 1 GB at 10 Gbit/s: fragments follow one another and wait for no latency, as long
/// as one is back before its turn comes again: 0.8 s of sending against 0.8 s / F + 166.992 ms.
TEST(EventModel, FragmentsHideTheLatency) {
  const Network network = shipped_network("nine-city.yaml", "access-limited");
  const Routes routes(network);
  const Schedule full = *full_schedule(network.islands);
  const EventModel both(network, routes, {});
  EXPECT_NEAR(both.timetable(full, 1e9, 1)->cycle_s, 0.966992, 1e-9);
  for (const std::uint32_t fragments : {2, 3, 16}) {
    const auto timetable = both.timetable(full, 1e9, fragments);
    EXPECT_NEAR(timetable->cycle_s, 0.8, 1e-9);
    for (const TimedExchange& timed : timetable->exchanges)
      EXPECT_NEAR(timed.end_s() - timed.start_s, 0.8 / fragments + 0.166992, 1e-9);
  }
  // A small update is all latency: two fragments need as long as one.
  EXPECT_NEAR(both.timetable(full, 1e6, 2)->cycle_s, 0.166992 + 0.0004, 1e-9);
}

/// Pairs of 6 Gbit/s send 1 GB over a line of 8 Gbit/s.
TEST(EventModel, ThoseWhoMeetOnALineShareItFairly) {
  const std::string text =
      "sites:\n  - {id: A}\n  - {id: B}\nlinks:\n  - {a: A, b: B, rtt_ms: 0.001, gbps: {ab: 8, ba: 8}}\n"
      "islands:\n  - {id: A0, site: A}\n  - {id: A1, site: A}\n  - {id: B0, site: B}\n  - {id: B1, site: B}\n"
      "profiles:\n  p: {egress_gbps: 6, ingress_gbps: 6}\n";
  const auto topology = parse_topology(text, "line");
  ASSERT_TRUE(topology.ok()) << topology.error().message;
  const Network network = *resolve(*topology, "p");
  const Routes routes(network);
  const EventModel model(network, routes, {});
  // Alone a pair sends with 6 Gbit/s. The two together are given 4 Gbit/s each: 2 s.
  const Schedule crossing{"", {Round{{{0, 2}, {1, 3}}}, Round{{{0, 3}, {1, 2}}}}};
  const auto timetable = model.timetable(crossing, 1e9, 1);
  ASSERT_TRUE(timetable.ok()) << timetable.error().message;
  for (const TimedExchange& timed : timetable->exchanges) EXPECT_NEAR(timed.sending_s, 2, 1e-9);
  // A pair at one end keeps them apart: each has the line to itself.
  const Schedule turns{"", {Round{{{0, 2}}}, Round{{{0, 1}}}, Round{{{1, 3}}}, Round{{{0, 1}}}}};
  const auto alone = model.timetable(turns, 1e9, 1);
  for (const TimedExchange& timed : alone->exchanges) EXPECT_NEAR(timed.sending_s, 8.0 / 6, 1e-9);
}

TEST(EventModel, RefusesWhatItCannotTime) {
  const Network network = shipped_network("nine-city.yaml", "access-limited");
  const Routes routes(network);
  const EventModel model(network, routes, {});
  const Schedule full = *full_schedule(network.islands);
  EXPECT_FALSE(model.timetable(full, 0, 1).ok());
  EXPECT_FALSE(model.timetable(full, std::nan(""), 1).ok());
  EXPECT_FALSE(model.timetable(full, 1e9, 0).ok());
  EXPECT_FALSE(model.timetable(full, 1e9, kMaxFragments + 1).ok());
  // One island alone; two worlds.
  EXPECT_FALSE(model.timetable({"", {Round{{{0, 1, 2, 3, 4, 5, 6, 7}}}}}, 1e9, 1).ok());
  EXPECT_FALSE(model.timetable({"", {Round{{{0, 1, 2, 3}, {4, 5, 6, 7, 8}}}}}, 1e9, 1).ok());
}

}  // namespace
}  // namespace tombolo::schedule
