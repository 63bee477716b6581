#include "schedule/random_network.h"

#include <gtest/gtest.h>

#include "schedule/routes.h"

namespace tombolo::schedule {
namespace {

TEST(RandomNetwork, IsConnectedAndComplete) {
  for (const std::size_t sites : {1, 2, 3, 9, 40})
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", sites " << sites);
      const Network network = random_network(seed, sites);
      ASSERT_EQ(network.islands.size(), sites);
      const Routes routes(network);
      for (std::size_t site = 0; site < sites; ++site) {
        EXPECT_TRUE(routes.reaches(0, static_cast<SiteId>(site)));
        EXPECT_GT(network.egress_bps[site], 0u);
        EXPECT_EQ(network.egress_bps[site], network.ingress_bps[site]);
      }
      for (const DirectedLink& link : network.links) {
        EXPECT_GT(link.one_way_ns, 0u);
        // Half the equator by a cable that is half as long again, at 4.9 us/km.
        EXPECT_LT(link.one_way_ns, 150'000'000u);
      }
    }
}

TEST(RandomNetwork, IsTheSameForTheSameSeedOnly) {
  const Network once = random_network(7, 30);
  const Network again = random_network(7, 30);
  const Network other = random_network(8, 30);
  ASSERT_EQ(once.links.size(), again.links.size());
  bool differs = once.links.size() != other.links.size();
  for (std::size_t i = 0; i < once.links.size(); ++i) {
    EXPECT_EQ(once.links[i].one_way_ns, again.links[i].one_way_ns);
    EXPECT_EQ(once.links[i].capacity_bps, again.links[i].capacity_bps);
    if (!differs) differs = once.links[i].one_way_ns != other.links[i].one_way_ns;
  }
  EXPECT_TRUE(differs);
}

TEST(RandomNetwork, CoreIsSparse) {
  const Network network = random_network(3, 200);
  // A tree of n - 1 cables, two neighbours each and a fifth of long ones: never more than n - 1 + 2.2 n or
  // so.
  EXPECT_GE(network.links.size(), 2u * 199);
  EXPECT_LE(network.links.size(), 2u * 199 + 2 * 3 * 200);
}

}  // namespace
}  // namespace tombolo::schedule
