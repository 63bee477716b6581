// Sizes at the edges of chunks and lanes, small cliques, other topologies, and the largest clique.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/sim/run_config.h"

namespace tombolo::sim {
namespace {

using testbed::RunConfig;

TEST(Shapes, UpdatesOfAnySize) {
  // Four lanes of chunks of 320 elements: one element, less than a chunk, a chunk, fewer chunks than lanes,
  // as many, one element more, odd ends.
  for (const std::uint64_t elements : {1u, 31u, 319u, 320u, 321u, 640u, 1279u, 1280u, 1281u, 1600u, 2561u})
    for (const bool edge_aggregation : {true, false})
      for (const bool multicast : {true, false}) {
        SCOPED_TRACE(
            fmt::format("{} elements, aggregation {}, multicast {}", elements, edge_aggregation, multicast));
        RunConfig config = nine_city_config(0.001);
        config.schedule = schedule_of("[[[LON, AMS], [NYC, LAX, BAR]]]", config.network);
        config.rounds = 2;
        config.update_bytes = elements * sizeof(float);
        config.edge_aggregation = edge_aggregation;
        config.multicast = multicast;
        EXPECT_EQ(complaints(run_or_fail(config)), "");
      }
}

TEST(Shapes, UpdatesThatEndAtAWindow) {
  // A window is what a round trip takes, far below these updates; they end just before, at and behind a
  // lane's end.
  RunConfig config = nine_city_config(0.0002);
  config.schedule = schedule_of("[[[AMS, LON]]]", config.network);
  for (const std::uint64_t chunks : {255u, 256u, 257u, 258u, 259u, 260u}) {
    config.update_bytes = chunks * 1280;
    EXPECT_EQ(complaints(run_or_fail(config)), "") << chunks;
  }
}

TEST(Shapes, LanesFromOneToMany) {
  for (const int lanes : {1, 2, 3, 7, 64}) {
    RunConfig config = nine_city_config(0.0002);
    config.schedule = grid(config.network);
    config.lane_count = static_cast<std::uint16_t>(lanes);
    config.update_bytes = 50'000;
    EXPECT_EQ(complaints(run_or_fail(config)), "") << lanes;
  }
}

class OtherTopology : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(OtherTopology, IsExactInEveryMode) {
  const auto& [file, profile] = GetParam();
  for (const bool edge_aggregation : {true, false})
    for (const bool multicast : {true, false}) {
      SCOPED_TRACE(fmt::format("aggregation {}, multicast {}", edge_aggregation, multicast));
      RunConfig config;
      config.network = shipped(file, profile, 0.001);
      config.schedule = full(config.network);
      config.rounds = 2;
      config.update_bytes = 100'000;
      config.edge_aggregation = edge_aggregation;
      config.multicast = multicast;
      EXPECT_EQ(complaints(run_or_fail(config)), "");
    }
}

INSTANTIATE_TEST_SUITE_P(
    Shipped, OtherTopology,
    testing::Values(std::tuple("three-site.yaml", "even"), std::tuple("three-site.yaml", "slow-core"),
                    std::tuple("shared-site.yaml", "standard"), std::tuple("nine-city.yaml", "testnet10"),
                    std::tuple("nine-city.yaml", "egress-scarce"), std::tuple("nine-city.yaml", "mixed")),
    [](const auto& param_info) {
      std::string name = std::string(std::get<0>(param_info.param)) + "_" + std::get<1>(param_info.param);
      for (char& c : name)
        if (c == '-' || c == '.') c = '_';
      return name;
    });

/// A ring of 16 sites with four islands each and a few chords.
schedule::Network sixty_four_islands() {
  std::string text = "sites:\n";
  for (int i = 0; i < 16; ++i) text += fmt::format("  - {{id: S{}}}\n", i);
  text += "links:\n";
  for (int i = 0; i < 16; ++i)
    text += fmt::format("  - {{a: S{}, b: S{}, rtt_ms: {}}}\n", i, (i + 1) % 16, 4 + i);
  for (int i = 0; i < 4; ++i) text += fmt::format("  - {{a: S{}, b: S{}, rtt_ms: 30}}\n", i, i + 8);
  text += "islands:\n";
  for (int i = 0; i < 64; ++i) text += fmt::format("  - {{id: I{}, site: S{}}}\n", i, i * 7 % 16);
  text += "profiles:\n  p: {core_gbps: 40, egress_gbps: 10, ingress_gbps: 10}\n";
  const auto topology = schedule::parse_topology(text, "generated");
  EXPECT_TRUE(topology.ok()) << topology.error().message;
  return *schedule::resolve(*topology, "p", 0.001);
}

TEST(Shapes, SixtyFourIslandsInOneClique) {
  for (const bool edge_aggregation : {true, false}) {
    RunConfig config;
    config.network = sixty_four_islands();
    config.schedule = full(config.network);
    config.rounds = 2;
    config.update_bytes = 12'000;
    config.edge_aggregation = edge_aggregation;
    const auto report = run_or_fail(config);
    EXPECT_EQ(complaints(report), "") << "aggregation " << edge_aggregation;
    ASSERT_EQ(report.rounds.size(), 2u);
    EXPECT_EQ(report.rounds[0].cliques.at(0).size(), 64u);
  }
}

}  // namespace
}  // namespace tombolo::sim
