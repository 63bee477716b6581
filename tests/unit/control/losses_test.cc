#include "control/losses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "schedule/compile.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::control {
namespace {

using schedule::EpochPlan;
using schedule::LostLink;
using schedule::Network;
using schedule::Rank;
using schedule::SiteId;

EpochPlan plan_of(const Network& network, bool multicast, bool edge_aggregation) {
  schedule::CompileOptions options;
  options.chunk_elements = 320;
  options.lane_count = 2;
  options.deadline_ns = 1'000'000'000;
  options.update_bytes = 100'000;
  options.multicast = multicast;
  options.edge_aggregation = edge_aggregation;
  auto plan = schedule::compile(network, *schedule::full_schedule(network.islands), options);
  EXPECT_TRUE(plan.ok()) << plan.error().message;
  return std::move(plan).value();
}

EdgePlace place_of(const Network& network, SiteId site) {
  EdgePlace place{site, {}};
  for (const schedule::DirectedLink& link : network.links)
    if (link.from == site) place.links.push_back({false, link.to});
  for (Rank rank = 0; rank < network.islands.size(); ++rank)
    if (network.islands[rank].site == site) place.links.push_back({true, rank});
  return place;
}

EpochPlan losing(const std::set<std::pair<SiteId, SiteId>>& links, const std::set<Rank>& ranks) {
  EpochPlan newer;
  newer.epoch = 2;
  for (const auto& [a, b] : links) newer.lost_links.push_back({a, b});
  newer.lost_ranks.assign(ranks.begin(), ranks.end());
  return newer;
}

TEST(LossesTest, NothingLostIsNoEpoch) {
  const Network network = schedule::shipped_network("nine-city.yaml", "access-limited");
  const EpochPlan older = plan_of(network, true, true);
  EXPECT_EQ(make_losses(older, losing({}, {}), place_of(network, 0)).epoch, 0u);
}

TEST(LossesTest, ALostIslandIsMissingEverywhere) {
  const Network network = schedule::shipped_network("nine-city.yaml", "access-limited");
  const EpochPlan older = plan_of(network, true, true);
  for (SiteId site = 0; site < network.site_names.size(); ++site) {
    const dataplane::Losses losses = make_losses(older, losing({}, {4}), place_of(network, site));
    ASSERT_EQ(losses.epoch, older.epoch);
    EXPECT_EQ(losses.members, (std::vector<std::vector<std::uint64_t>>{{1U << 4}}));
    for (const std::uint64_t links : losses.links) EXPECT_EQ(links, 0u) << "its edge still ends its rounds";
  }
}

/// Asks the plan's trees in another way: which sites a packet still comes to, walking from the root.
std::set<SiteId> reached(const schedule::PlannedTree& tree, const EpochPlan& newer) {
  std::set<SiteId> sites;
  if (std::count(newer.lost_ranks.begin(), newer.lost_ranks.end(), tree.source) > 0) return sites;
  for (const schedule::TreeHop& hop : tree.hops) {
    const LostLink link{std::min(hop.parent, hop.site), std::max(hop.parent, hop.site)};
    const bool root = hop.parent == hop.site;
    const bool cut = std::count(newer.lost_links.begin(), newer.lost_links.end(), link) > 0;
    if (root || (sites.contains(hop.parent) && !cut)) sites.insert(hop.site);
  }
  return sites;
}

TEST(LossesTest, RandomCutsAgreeWithAWalkFromTheRoot) {
  constexpr std::uint64_t kSeed = 20261130;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  std::size_t cuts = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const Network network = schedule::random_network(random);
    const EpochPlan older = plan_of(network, random.chance(0.5), true);
    std::set<std::pair<SiteId, SiteId>> links;
    std::set<Rank> ranks;
    for (std::size_t i = 0; i < network.links.size(); i += 2)
      if (random.chance(0.3)) links.emplace(std::minmax(network.links[i].from, network.links[i].to));
    for (Rank rank = 0; rank < network.islands.size(); ++rank)
      if (random.chance(0.15)) ranks.insert(rank);
    const EpochPlan newer = losing(links, ranks);
    for (SiteId site = 0; site < network.site_names.size(); ++site) {
      const EdgePlace place = place_of(network, site);
      const dataplane::Losses losses = make_losses(older, newer, place);
      const schedule::PlannedClique& clique = older.entries[0].cliques[0];
      std::size_t local = 0;
      for (std::size_t receiver = 0; receiver < clique.members.size(); ++receiver) {
        if (network.islands[clique.members[receiver]].site != site) continue;
        for (std::size_t source = 0; source < clique.members.size(); ++source) {
          const auto hears = [&](std::size_t who, std::size_t whom) {
            const SiteId where = network.islands[clique.members[who]].site;
            return reached(older.trees[clique.receive_trees[who][whom]], newer).contains(where);
          };
          const auto hears_all = [&](std::size_t who) {
            for (std::size_t whom = 0; whom < clique.members.size(); ++whom)
              if (!hears(who, whom)) return false;
            return true;
          };
          // One that hears all cannot count on a member that does not: that one gives the round up.
          const bool lost =
              hears_all(receiver) ? source != receiver && !hears_all(source) : !hears(receiver, source);
          const bool said = losses.epoch != 0 && (losses.members[local][0] >> source & 1) != 0;
          EXPECT_EQ(said, lost) << "trial " << trial << " site " << site << " source " << source;
          cuts += lost ? 1 : 0;
        }
        ++local;
      }
      // A link is lost to a tree when cutting everything else changes nothing: nobody who receives is below.
      for (const schedule::PlannedTree& tree : older.trees)
        for (std::size_t link = 0; link < place.links.size(); ++link) {
          if (place.links[link].is_island) continue;
          std::set<SiteId> below;
          bool child = false;
          for (const schedule::TreeHop& hop : tree.hops) {
            const LostLink up{std::min(hop.parent, hop.site), std::max(hop.parent, hop.site)};
            const bool cut = std::count(newer.lost_links.begin(), newer.lost_links.end(), up) > 0;
            const bool here = hop.parent == site && hop.site == place.links[link].id && hop.site != site;
            child = child || here;
            if ((here || below.contains(hop.parent)) && !cut) below.insert(hop.site);
          }
          bool receives = false;
          for (const schedule::TreeHop& hop : tree.hops)
            receives = receives || (below.contains(hop.site) && !hop.deliver.empty());
          const bool said = losses.epoch != 0 && (losses.links[tree.id] >> link & 1) != 0;
          EXPECT_EQ(said, child && !receives) << "trial " << trial << " site " << site << " tree " << tree.id;
        }
    }
  }
  EXPECT_GT(cuts, 100u);
}

}  // namespace
}  // namespace tombolo::control
