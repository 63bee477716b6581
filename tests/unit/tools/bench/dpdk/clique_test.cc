#include "tools/bench/dpdk/clique.h"

#include <gtest/gtest.h>

#include <set>

#include "tools/bench/dpdk/testpmd.h"

namespace tombolo::bench {
namespace {

TEST(Clique, CloseTogetherAChunksContributionsFollowEachOther) {
  Clique clique;
  clique.k = 8;
  clique.chunk_bytes = 8192;
  EXPECT_EQ(clique.elements(), 2048U);
  EXPECT_EQ(clique.distance_bytes(), 7U * 8192);
}

TEST(Clique, ASkewPutsAllMembersPacketsBetweenThem) {
  Clique clique;
  clique.k = 4;
  clique.chunk_bytes = 1280;
  // Between two members' packets of a chunk come `skew` chunks of all four.
  const std::uint64_t megabyte = 1'000'000;
  clique.skew_chunks = skew_for(clique, megabyte);
  EXPECT_LE(clique.distance_bytes(), megabyte);
  EXPECT_GT(clique.distance_bytes(), megabyte - 3 * 4 * 1280);
  // Member m waits for the last one through (3 - m) skews: 3 + 2 + 1 of them, and what a step brings.
  EXPECT_EQ(clique.waiting_packets(), 6U * clique.skew_chunks + 4U * clique.step_chunks());
  EXPECT_GT(clique.window_chunks(), 3U * clique.skew_chunks);
  EXPECT_EQ(skew_for(clique, 1), 1U);
}

TEST(Clique, AStepIsABurstOnTheWanPort) {
  for (const std::uint32_t k : {2U, 3U, 8U, 16U, 64U}) {
    Clique clique;
    clique.k = k;
    EXPECT_GE(clique.step_chunks(), 1U);
    if (k <= 33) {
      EXPECT_LE((k - 1) * clique.step_chunks(), kBurst) << k;
    }
  }
}

TEST(Clique, EveryPeerHasAnAddressOfItsOwn) {
  std::set<std::uint32_t> seen{port_address(false).ipv4, port_address(true).ipv4};
  for (std::uint32_t member = 0; member < 64; ++member)
    EXPECT_TRUE(seen.insert(peer_address(member).ipv4).second) << member;
}

TEST(Testpmd, TheLastRateOfEachPortCounts) {
  const std::string output =
      "  Rx-pps:            0          Rx-bps:            0\n"
      "  Rx-pps:            5          Rx-bps:            0\n"
      "  Rx-pps:    170324165          Rx-bps:            0\n"
      "  Tx-pps:            9          Tx-bps:            0\n"
      "  Rx-pps:    170324100          Rx-bps:            0\n";
  EXPECT_DOUBLE_EQ(last_rates(output, 2), 170324165.0 + 170324100.0);
  EXPECT_DOUBLE_EQ(last_rates("Cause: no memory\n", 2), 0);
}

}  // namespace
}  // namespace tombolo::bench
