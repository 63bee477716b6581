#include "tools/testbed/sizing.h"

#include <gtest/gtest.h>

namespace tombolo::testbed {
namespace {

constexpr const char* kTopology = R"(
sites: [{id: A}, {id: B}, {id: C}]
links: [{a: B, b: A, rtt_ms: 1}, {a: B, b: C, rtt_ms: 1}]
islands: [{id: X, site: B}, {id: Y, site: A}, {id: Z, site: B}]
profiles: {p: {core_gbps: 1, egress_gbps: 1, ingress_gbps: 1}}
)";

TEST(Sizing, AnEdgesLinksAreSitesInLinkOrderThenIslandsByRank) {
  const auto topology = schedule::parse_topology(kTopology, "t");
  ASSERT_TRUE(topology.ok()) << topology.error().message;
  const auto places = edge_places(*schedule::resolve(*topology, "p"));
  ASSERT_EQ(places.size(), 3U);
  const auto words = [&](std::size_t site) {
    std::string text;
    for (const control::Neighbour& link : places[site].links)
      text += (link.is_island ? "i" : "s") + std::to_string(link.id) + " ";
    return text;
  };
  EXPECT_EQ(words(0), "s1 i1 ");
  EXPECT_EQ(words(1), "s0 s2 i0 i2 ");
  EXPECT_EQ(words(2), "s1 ");
}

TEST(Sizing, AQueueHoldsFiftyMillisecondsButAtLeastSomeBursts) {
  EXPECT_EQ(wire_queue_bytes(1'000'000'000), 6'250'000U);
  EXPECT_EQ(wire_queue_bytes(1'000'000), 512U * 1024);
}

}  // namespace
}  // namespace tombolo::testbed
