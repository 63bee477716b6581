#include "schedule/optimize/reoptimize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.h"
#include "schedule/mixing.h"
#include "schedule/optimize/large.h"
#include "schedule/random_network.h"

namespace tombolo::schedule {
namespace {

const Capabilities kNone{false, Aggregation::kNone, Family::kDirect};

Schedule running_on(const Network& network) {
  LargeOptions options;
  options.work = 20'000'000;
  options.max_rounds = 6;
  const auto found = improve_large(Problem(network, kNone, 1e9), options);
  EXPECT_TRUE(found.ok());
  return found->schedule;
}

/// D of a schedule in whole ranks on what is left, from the round model and measure_mixing.
double measured_s(const Schedule& schedule, const Remainder& rest) {
  const Problem problem(rest.network, rest.capabilities, 1e9);
  Schedule left = schedule;
  std::vector<double> seconds;
  for (Round& round : left.rounds) {
    for (Clique& clique : round.cliques)
      for (Rank& rank : clique)
        rank = static_cast<Rank>(std::find(rest.ranks.begin(), rest.ranks.end(), rank) - rest.ranks.begin());
    seconds.push_back(problem.model().time(round, 1e9)->seconds);
  }
  return measure_mixing(left, seconds, rest.ranks.size())->disagreement_s;
}

TEST(Reoptimize, GoesOnAfterALostSiteOrLink) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const std::size_t n = 5 + random.below(8);
    const Network network = random_network(seed, n);
    const Schedule running = running_on(network);
    Losses losses;
    const DirectedLink& link = network.links[random.below(network.links.size())];
    if (seed % 2 == 0)
      losses.sites = {static_cast<SiteId>(random.below(n))};
    else
      losses.links = {{std::min(link.from, link.to), std::max(link.from, link.to)}};
    const auto rest = without(network, kNone, losses);
    ASSERT_TRUE(rest.ok());
    ReoptimizeOptions options;
    options.max_cycles = 5'000;
    const auto next = reoptimize(network, kNone, 1e9, running, losses, options);
    ASSERT_TRUE(next.ok()) << next.error().message;

    EXPECT_EQ(next->lost.size() + rest->ranks.size(), n);
    EXPECT_NEAR(next->disagreement_s, measured_s(next->schedule, *rest), 1e-6 * next->disagreement_s);
    EXPECT_LE(next->fresh_disagreement_s, next->disagreement_s);
    EXPECT_LE(next->disagreement_s, next->fresh_disagreement_s * 1.05 * (1 + 1e-9));
    // Counted here from the schedules themselves.
    std::multiset<Clique> gone;
    for (const Round& round : running.rounds)
      for (Clique clique : round.cliques) {
        std::erase_if(clique, [&](Rank rank) {
          return std::binary_search(next->lost.begin(), next->lost.end(), rank);
        });
        if (clique.size() >= 2) gone.insert(clique);
      }
    std::size_t came = 0;
    for (const Round& round : next->schedule.rounds)
      for (const Clique& clique : round.cliques) {
        if (const auto same = gone.find(clique); same != gone.end())
          gone.erase(same);
        else
          ++came;
      }
    EXPECT_EQ(next->changed_cliques, std::max(came, gone.size()));
  }
}

TEST(Reoptimize, LeavesAGoodScheduleAlone) {
  const Network network = random_network(2, 8);
  const Schedule running = running_on(network);
  ReoptimizeOptions options;
  options.tolerance = 1;
  const auto next = reoptimize(network, kNone, 1e9, running, {}, options);
  ASSERT_TRUE(next.ok());
  EXPECT_TRUE(next->lost.empty());
  EXPECT_EQ(next->changed_cliques, 0u);
  EXPECT_DOUBLE_EQ(next->disagreement_s, next->unchanged_disagreement_s);
}

/// A chain: sites beyond a lost link go with it, the smaller part first.
TEST(Without, KeepsTheLargestPart) {
  Topology topology;
  for (int i = 0; i < 5; ++i) {
    topology.sites.push_back({std::string(1, static_cast<char>('A' + i)), "", {}, {}});
    topology.islands.push_back({topology.sites.back().id, static_cast<SiteId>(i)});
    if (i > 0)
      topology.links.push_back(
          {static_cast<SiteId>(i - 1), static_cast<SiteId>(i), 1'000'000, 1'000'000, {}, {}});
  }
  Profile profile;
  profile.name = "p";
  profile.core_gbps = profile.egress_gbps = profile.ingress_gbps = 10;
  topology.profiles.push_back(profile);
  const auto network = resolve(topology, "p");
  ASSERT_TRUE(network.ok());
  const auto rest = without(*network, kNone, {.sites = {}, .links = {{1, 2}}});
  ASSERT_TRUE(rest.ok());
  EXPECT_EQ(rest->ranks, (std::vector<Rank>{2, 3, 4}));
  EXPECT_EQ(rest->network.links.size(), 6u);
  const auto middle = without(*network, kNone, {.sites = {1}, .links = {}});
  ASSERT_TRUE(middle.ok());
  EXPECT_EQ(middle->ranks, (std::vector<Rank>{2, 3, 4}));
  EXPECT_FALSE(without(*network, kNone, {.sites = {5}, .links = {}}).ok());
}

TEST(Reoptimize, RefusesWhenNobodyIsLeftToMeet) {
  const Network network = random_network(1, 2);
  const Schedule running{"pair", {Round{{{0, 1}}}}};
  EXPECT_FALSE(reoptimize(network, kNone, 1e9, running, {.sites = {0}, .links = {}}).ok());
}

}  // namespace
}  // namespace tombolo::schedule
