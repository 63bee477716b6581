#include "schedule/event/event_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "schedule/event/event_mixing.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::schedule {
namespace {

/// Islands that all are alike: each at a leaf of a star with `latency_ms` between any two.
Network star(std::size_t leaves, double latency_ms, double access_gbps) {
  std::string text = "sites:\n  - {id: HUB}\n";
  for (std::size_t i = 0; i < leaves; ++i) text += fmt::format("  - {{id: S{}}}\n", i);
  text += "links:\n";
  for (std::size_t i = 0; i < leaves; ++i)
    text += fmt::format("  - {{a: HUB, b: S{}, rtt_ms: {}}}\n", i, latency_ms);
  text += "islands:\n";
  for (std::size_t i = 0; i < leaves; ++i) text += fmt::format("  - {{id: I{}, site: S{}}}\n", i, i);
  text +=
      fmt::format("profiles:\n  p: {{core_gbps: 1000, egress_gbps: {0}, ingress_gbps: {0}}}\n", access_gbps);
  const auto topology = parse_topology(text, "star");
  EXPECT_TRUE(topology.ok()) << topology.error().message;
  return *resolve(*topology, "p");
}

TEST(EventBound, IsReachedByOneFullCliqueOfEquals) {
  const Network network = star(6, 40, 8);
  const Routes routes(network);
  const EventModel model(network, routes, {});
  // An update of 1 GB takes 1 s at 8 Gbit/s, and 40 ms more.
  EXPECT_NEAR(event_bound_s(model, 1e9, 1), 1.5 * 1.04 * 5 / 6, 1e-9);
  const Schedule full = *full_schedule(network.islands);
  EXPECT_NEAR(*event_disagreement(full, *model.timetable(full, 1e9, 1), 6), 1.5 * 1.04 * 5 / 6, 1e-6);
  // Ten fragments: a start every second, and 0.1 s + 40 ms on the way. The bound is reached again.
  EXPECT_NEAR(event_bound_s(model, 1e9, 10), (0.5 + 0.14) * 5 / 6, 1e-9);
  EXPECT_NEAR(*event_disagreement(full, *model.timetable(full, 1e9, 10), 6), (0.5 + 0.14) * 5 / 6, 1e-6);
  EXPECT_NEAR(event_bound_s(model, 1e9, 0), (0.5 + 0.04) * 5 / 6, 1e-9);
}

/// Pairs only reach two, four, then all of six: 1, 2 and log2(6) seconds where all others take nothing.
TEST(EventBound, DoublesAtMostWithoutTheNetworksHelp) {
  const Network network = star(6, 1e-6, 8);
  const Routes routes(network);
  const EventModel model(network, routes, {false, Aggregation::kNone, Family::kDirect});
  double expected = 0.5 * 5 / 6;
  for (int m = 1; m < 6; ++m) expected += (std::log2(m + 1) - std::log2(m)) * (1.0 / m - 1.0 / 6);
  EXPECT_NEAR(event_bound_s(model, 1e9, 1), expected, 1e-6);
}

/// Every partition of the ranks, as a round; without the one of singletons.
void partitions(std::size_t next, std::size_t islands, std::vector<Clique>& groups,
                std::vector<Round>& rounds) {
  if (next == islands) {
    Round round;
    for (const Clique& group : groups)
      if (group.size() > 1) round.cliques.push_back(group);
    if (!round.cliques.empty()) rounds.push_back(std::move(round));
    return;
  }
  for (std::size_t i = 0; i <= groups.size(); ++i) {
    if (i == groups.size()) {
      groups.push_back({static_cast<Rank>(next)});
      partitions(next + 1, islands, groups, rounds);
      groups.pop_back();
      return;
    }
    groups[i].push_back(static_cast<Rank>(next));
    partitions(next + 1, islands, groups, rounds);
    groups[i].pop_back();
  }
}

/// The least D of all schedules of one and two rounds is never below the bound, and not far above it always.
TEST(EventBound, HoldsForAllSmallSchedulesOfRandomNetworks) {
  std::size_t schedules = 0;
  double closest = 1e300;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Network network = random_network(random);
    const std::size_t n = network.islands.size();
    if (n > 4) continue;
    const Routes routes(network);
    const Capabilities can{random.chance(0.5), random.chance(0.5) ? Aggregation::kEdge : Aggregation::kNone};
    const EventModel model(network, routes, can);
    const double bytes = 1e6 * static_cast<double>(1 + random.below(100));
    const auto fragments = static_cast<std::uint32_t>(1 + random.below(4));
    const double bound_s = event_bound_s(model, bytes, fragments);
    EXPECT_LE(event_bound_s(model, bytes, 0), bound_s);
    std::vector<Round> rounds;
    std::vector<Clique> groups;
    partitions(0, n, groups, rounds);
    for (const Round& first : rounds)
      for (const Round& second : rounds) {
        const Schedule schedule{"", {first, second}};
        const auto timetable = model.timetable(schedule, bytes, fragments);
        if (!timetable) continue;  // It does not join all.
        const auto disagreement = event_disagreement(schedule, *timetable, n);
        ASSERT_TRUE(disagreement.ok()) << disagreement.error().message;
        EXPECT_GE(*disagreement, bound_s * (1 - 1e-7));
        closest = std::min(closest, *disagreement / bound_s);
        ++schedules;
      }
  }
  EXPECT_GT(schedules, 500u);
  EXPECT_LT(closest, 1.1);  // It is a bound of these schedules, not of worse ones.
}

TEST(EventBound, HoldsForRandomSchedules) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const Network network = random_network(random);
    const Routes routes(network);
    const EventModel model(
        network, routes, {random.chance(0.5), random.chance(0.5) ? Aggregation::kEdge : Aggregation::kNone});
    const Schedule schedule = random_schedule(random, network.islands.size());
    const double bytes = 1e6 * static_cast<double>(1 + random.below(100));
    const auto fragments = static_cast<std::uint32_t>(1 + random.below(8));
    const auto timetable = model.timetable(schedule, bytes, fragments);
    if (!timetable) continue;
    EXPECT_GE(*event_disagreement(schedule, *timetable, network.islands.size()),
              event_bound_s(model, bytes, fragments) * (1 - 1e-7));
  }
}

}  // namespace
}  // namespace tombolo::schedule
