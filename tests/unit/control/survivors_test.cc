#include "control/survivors.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "base/random.h"

namespace tombolo::control {
namespace {

using schedule::LostLink;
using schedule::Rank;
using schedule::SiteId;

constexpr SurvivorOptions kOptions{
    .settle_ns = 300 * kMillisecond, .return_ns = kSecond, .first_up_ns = 10 * kSecond};

/// Sites 0 to n-1 with an island each, rank = site, and the given links.
schedule::Network network_of(std::size_t sites, const std::vector<std::pair<SiteId, SiteId>>& links) {
  schedule::Network network;
  for (std::size_t i = 0; i < sites; ++i) {
    network.site_names.push_back("S" + std::to_string(i));
    network.islands.push_back({"I" + std::to_string(i), static_cast<SiteId>(i)});
  }
  for (const auto& [a, b] : links) {
    network.links.push_back({.from = a, .to = b, .one_way_ns = 1, .rtt_ns = 2, .capacity_bps = 1});
    network.links.push_back({.from = b, .to = a, .one_way_ns = 1, .rtt_ns = 2, .capacity_bps = 1});
  }
  return network;
}

/// A ring of five with a tail: 0-1-2-3-4-0 and 4-5.
schedule::Network ring_with_tail() { return network_of(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}, {4, 5}}); }

/// What every edge would report, and the clock.
class World {
 public:
  explicit World(const schedule::Network& network) : network_(network), policy_(network, kOptions) {
    for (std::size_t i = 0; i < network.site_names.size(); ++i) speaks_.push_back(true);
    for (std::size_t i = 0; i < network.islands.size(); ++i) island_up_.push_back(true);
  }

  void report_all() {
    for (std::size_t site = 0; site < speaks_.size(); ++site)
      if (speaks_[site]) report(static_cast<SiteId>(site));
  }
  void report(SiteId site) {
    std::vector<LinkState> links;
    for (const schedule::DirectedLink& link : network_.links)
      if (link.from == site) links.push_back({false, link.to, !is_down(link.from, link.to)});
    for (std::size_t rank = 0; rank < network_.islands.size(); ++rank)
      if (network_.islands[rank].site == site)
        links.push_back({true, static_cast<std::uint16_t>(rank), island_up_[rank]});
    policy_.report(site, links, now_ns);
  }
  bool is_down(SiteId a, SiteId b) const {
    return !speaks_[a] || !speaks_[b] || down_.contains({std::min(a, b), std::max(a, b)});
  }
  void kill_edge(SiteId site) {
    speaks_[site] = false;
    policy_.silent(site, now_ns);
    report_all();
  }
  void start_edge(SiteId site) {
    speaks_[site] = true;
    report_all();
  }
  void set_link(SiteId a, SiteId b, bool up) {
    if (up)
      down_.erase({a, b});
    else
      down_.insert({a, b});
    report_all();
  }
  void set_island(Rank rank, bool up) {
    island_up_[rank] = up;
    report_all();
  }
  /// Time passes; reports are repeated every 100 ms as heartbeats would.
  void pass(Nanoseconds duration_ns) {
    for (const Nanoseconds end_ns = now_ns + duration_ns; now_ns < end_ns;) {
      now_ns = std::min(end_ns, now_ns + 100 * kMillisecond);
      policy_.advance(now_ns);
      report_all();
    }
  }
  const Survivors& now() const { return policy_.survivors(); }
  SurvivorPolicy& policy() { return policy_; }

  Nanoseconds now_ns = 5 * kSecond;

 private:
  const schedule::Network network_;
  SurvivorPolicy policy_;
  std::vector<bool> speaks_;
  std::vector<bool> island_up_;
  std::set<LostLink> down_;
};

TEST(Survivors, NothingIsLostBeforeAndWhenAllIsWell) {
  World world(ring_with_tail());
  EXPECT_EQ(world.now(), Survivors{});
  world.report_all();
  world.pass(20 * kSecond);
  EXPECT_EQ(world.now(), Survivors{});
  EXPECT_EQ(world.policy().next_timer_ns(), kNever);
}

TEST(Survivors, ALinkThatOneEndMissesIsLostAfterItHasSettled) {
  World world(ring_with_tail());
  world.report_all();
  world.set_link(1, 2, false);
  EXPECT_EQ(world.now(), Survivors{});
  EXPECT_EQ(world.policy().next_timer_ns(), world.now_ns + kOptions.settle_ns);
  world.pass(kOptions.settle_ns - 1);
  EXPECT_EQ(world.now(), Survivors{});
  world.pass(1);
  EXPECT_EQ(world.now(), (Survivors{.lost_links = {{1, 2}}, .dead_sites = {}, .lost_islands = {}}));
}

TEST(Survivors, OneEndIsEnough) {
  World world(ring_with_tail());
  world.report_all();
  const std::vector<LinkState> says{{false, 2, false}, {false, 0, true}};
  world.policy().report(1, says, world.now_ns);
  world.policy().advance(world.now_ns + kOptions.settle_ns);
  EXPECT_EQ(world.now().lost_links, (std::set<LostLink>{{1, 2}}));
}

TEST(Survivors, AShortLossIsNone) {
  World world(ring_with_tail());
  world.report_all();
  for (int i = 0; i < 10; ++i) {
    world.set_link(1, 2, false);
    world.pass(kOptions.settle_ns - 1);
    world.set_link(1, 2, true);
    world.pass(100 * kMillisecond);
  }
  world.pass(5 * kSecond);
  EXPECT_EQ(world.now(), Survivors{});
}

TEST(Survivors, TheLinksOfADeadEdgeAreOneChange) {
  World world(ring_with_tail());
  world.report_all();
  const auto report = [&](SiteId site, std::vector<LinkState> says) {
    world.policy().report(site, says, world.now_ns);
  };
  // Site 2 dies; its neighbours miss it 200 ms apart.
  world.policy().silent(2, world.now_ns);
  report(1, {{false, 0, true}, {false, 2, false}, {true, 1, true}});
  const Nanoseconds first_ns = world.now_ns;
  world.now_ns += 200 * kMillisecond;
  report(3, {{false, 2, false}, {false, 4, true}, {true, 3, true}});
  world.policy().advance(first_ns + kOptions.settle_ns);
  EXPECT_EQ(world.now(), Survivors{}) << "more is about to be lost";
  world.policy().advance(first_ns + 200 * kMillisecond + kOptions.settle_ns);
  EXPECT_EQ(world.now(), (Survivors{.lost_links = {{1, 2}, {2, 3}}, .dead_sites = {2}, .lost_islands = {2}}));
}

TEST(Survivors, ALinkThatFlapsElsewhereDelaysNobodyForLong) {
  World world(ring_with_tail());
  world.report_all();
  world.set_island(0, false);
  const Nanoseconds start_ns = world.now_ns;
  for (int i = 0; i < 20 && world.now() == Survivors{}; ++i) {
    world.set_link(1, 2, i % 2 != 0);
    world.pass(100 * kMillisecond);
  }
  EXPECT_EQ(world.now().lost_islands, std::set<Rank>{0});
  EXPECT_LE(world.now_ns - start_ns, 2 * kOptions.settle_ns);
}

TEST(Survivors, ADeadEdgeTakesItsLinksAndItsIsland) {
  World world(ring_with_tail());
  world.report_all();
  world.kill_edge(2);
  world.pass(kOptions.settle_ns);
  EXPECT_EQ(world.now(), (Survivors{.lost_links = {{1, 2}, {2, 3}}, .dead_sites = {2}, .lost_islands = {2}}));
}

TEST(Survivors, WhatIsBehindADeadTransitEdgeIsDeadToo) {
  World world(ring_with_tail());
  world.report_all();
  world.kill_edge(4);
  world.pass(kOptions.settle_ns);
  // Site 5 lives and speaks, but no link leads there.
  EXPECT_EQ(
      world.now(),
      (Survivors{.lost_links = {{3, 4}, {0, 4}, {4, 5}}, .dead_sites = {4, 5}, .lost_islands = {4, 5}}));
}

TEST(Survivors, ALostStreamAloneIsNoDeath) {
  World world(ring_with_tail());
  world.report_all();
  world.policy().silent(2, world.now_ns);
  world.policy().advance(world.now_ns + 60 * kSecond);
  EXPECT_EQ(world.now(), Survivors{});
  // The controller is cut off from everybody.
  for (SiteId site = 0; site < 6; ++site) world.policy().silent(site, world.now_ns);
  world.policy().advance(world.now_ns + 120 * kSecond);
  EXPECT_EQ(world.now(), Survivors{});
}

TEST(Survivors, WhatASilentEdgeSaidOfItsIslandStands) {
  World world(ring_with_tail());
  world.report_all();
  world.set_island(3, false);
  world.pass(kOptions.settle_ns);
  EXPECT_EQ(world.now(), (Survivors{.lost_links = {}, .dead_sites = {}, .lost_islands = {3}}));
  world.policy().silent(3, world.now_ns);
  world.policy().advance(world.now_ns + 60 * kSecond);
  EXPECT_EQ(world.now().lost_islands, std::set<Rank>{3});
}

TEST(Survivors, AReturnCountsAfterASecondUp) {
  World world(ring_with_tail());
  world.report_all();
  world.kill_edge(2);
  world.set_island(0, false);
  world.pass(kOptions.settle_ns);
  ASSERT_EQ(world.now().dead_sites, std::set<SiteId>{2});
  world.start_edge(2);
  world.set_island(0, true);
  world.pass(kOptions.return_ns - 1);
  EXPECT_EQ(world.now().lost_islands, (std::set<Rank>{0, 2}));
  world.pass(1);
  EXPECT_EQ(world.now(), Survivors{});
}

TEST(Survivors, AFlappingLinkStaysLost) {
  World world(ring_with_tail());
  world.report_all();
  world.set_link(1, 2, false);
  world.pass(kOptions.settle_ns);
  for (int i = 0; i < 50; ++i) {
    world.set_link(1, 2, i % 2 == 0);
    world.pass(800 * kMillisecond);
    ASSERT_EQ(world.now().lost_links, (std::set<LostLink>{{1, 2}})) << i;
  }
}

TEST(Survivors, WhatNeverWasUpGetsTimeToStart) {
  World world(ring_with_tail());
  world.set_island(1, false);
  world.pass(kOptions.first_up_ns - 1);
  EXPECT_EQ(world.now(), Survivors{});
  world.pass(1);
  EXPECT_EQ(world.now().lost_islands, std::set<Rank>{1});
}

TEST(Survivors, ResumesWithWhatTheEpochGoesOnWithout) {
  World world(ring_with_tail());
  schedule::EpochPlan plan;
  plan.lost_links = {{1, 2}, {2, 3}};
  plan.lost_ranks = {2};
  world.policy().resume(plan);
  EXPECT_EQ(world.now(), (Survivors{.lost_links = {{1, 2}, {2, 3}}, .dead_sites = {2}, .lost_islands = {2}}));
  // It has been up before, so a loss needs no grace.
  world.set_island(4, false);
  world.report_all();
  world.pass(kOptions.settle_ns);
  EXPECT_EQ(world.now().lost_islands, (std::set<Rank>{2, 4}));
  // Everything else reports well: after a second site 2 is back.
  world.set_island(4, true);
  world.pass(kOptions.return_ns);
  EXPECT_EQ(world.now(), Survivors{});
}

TEST(Survivors, OfTwoHalvesTheOneThatSpeaksLives) {
  World world(network_of(4, {{0, 1}, {1, 2}, {2, 3}}));
  world.report_all();
  world.policy().silent(0, world.now_ns);
  world.set_link(1, 2, false);
  // set_link makes everybody speak again, so site 0 falls silent once more.
  world.policy().silent(0, world.now_ns);
  world.policy().advance(world.now_ns + kOptions.settle_ns);
  EXPECT_EQ(world.now().dead_sites, (std::set<SiteId>{0, 1}));
}

TEST(Survivors, IgnoresWhatIsNoNeighbour) {
  World world(ring_with_tail());
  world.report_all();
  const std::vector<LinkState> says{{false, 3, false}, {false, 77, false}, {true, 2, false},
                                    {true, 99, false}, {false, 1, true},   {true, 0, true}};
  world.policy().report(0, says, world.now_ns);
  world.policy().report(1000, says, world.now_ns);
  world.policy().advance(world.now_ns + 60 * kSecond);
  EXPECT_EQ(world.now(), Survivors{});
}

/// Whatever happened before, a while after the last event the verdict is what the state of the world says:
/// the largest part by a count of reachable sites that is made here in another way.
TEST(Survivors, SettlesOnTheStateOfTheWorld) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    constexpr SiteId kSites = 7;
    std::vector<std::pair<SiteId, SiteId>> ends;
    for (SiteId b = 1; b < kSites; ++b)
      for (SiteId a = 0; a < b; ++a)
        if (a + 1 == b || random.chance(0.2)) ends.emplace_back(a, b);
    World world(network_of(kSites, ends));
    world.report_all();
    std::vector<bool> dead(kSites, false);
    std::set<LostLink> down;
    for (int event = 0; event < 20; ++event) {
      const auto site = static_cast<SiteId>(random.below(kSites));
      const auto& [a, b] = ends[random.below(ends.size())];
      if (random.chance(0.5)) {
        dead[site] = !dead[site];
        if (dead[site])
          world.kill_edge(site);
        else
          world.start_edge(site);
      } else if (down.contains({a, b})) {
        down.erase({a, b});
        world.set_link(a, b, true);
      } else {
        down.insert({a, b});
        world.set_link(a, b, false);
      }
      world.pass(random.below(2000) * kMillisecond);
    }
    world.pass(kOptions.return_ns + 2 * kOptions.settle_ns);

    // Reachability by Warshall's algorithm.
    bool joined[kSites][kSites] = {};
    for (SiteId i = 0; i < kSites; ++i) joined[i][i] = true;
    const auto is_up = [&](SiteId a, SiteId b) { return !dead[a] && !dead[b] && !down.contains({a, b}); };
    for (const auto& [a, b] : ends)
      if (is_up(a, b)) joined[a][b] = joined[b][a] = true;
    for (SiteId k = 0; k < kSites; ++k)
      for (SiteId i = 0; i < kSites; ++i)
        for (SiteId j = 0; j < kSites; ++j) joined[i][j] = joined[i][j] || (joined[i][k] && joined[k][j]);
    std::size_t most = 0;
    for (SiteId i = 0; i < kSites; ++i)
      most = std::max<std::size_t>(most,
                                   static_cast<std::size_t>(std::count(joined[i], joined[i] + kSites, true)));
    std::set<SiteId> living;
    for (SiteId i = 0; i < kSites; ++i)
      if (!world.now().dead_sites.contains(i)) living.insert(i);
    ASSERT_EQ(living.size(), most);
    for (const SiteId i : living)
      for (const SiteId j : living) EXPECT_TRUE(joined[i][j]);
    for (const auto& [a, b] : ends) {
      const bool lost = !is_up(a, b) || !living.contains(a) || !living.contains(b);
      EXPECT_EQ(world.now().lost_links.contains({a, b}), lost) << a << "-" << b;
    }
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace tombolo::control
