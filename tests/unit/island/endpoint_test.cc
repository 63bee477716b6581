#include "island/endpoint.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/unit/island/scripted_edge.h"

namespace tombolo::island {
namespace {

struct BadConfig {
  std::string field;
  std::function<void(EndpointConfig&)> change;
};

TEST(EndpointCreate, RefusesWhatMakesNoSenseAndNamesTheField) {
  const std::vector<BadConfig> table = {
      {"session", [](EndpointConfig& config) { config.session = 0; }},
      {"rank", [](EndpointConfig& config) { config.rank = 0xffff; }},
      {"lane_count", [](EndpointConfig& config) { config.lane_count = 0; }},
      {"lane_count", [](EndpointConfig& config) { config.lane_count = 257; }},
      {"hello_interval_ns", [](EndpointConfig& config) { config.hello_interval_ns = 0; }},
      {"window_packets", [](EndpointConfig& config) { config.window_packets = 0; }},
      {"window_packets", [](EndpointConfig& config) { config.window_packets = 32; }},
      {"window_packets", [](EndpointConfig& config) { config.window_packets = 100; }},
  };
  const auto pool = std::move(MemoryPool::create(8, PoolSharing::kSingleOwner)).value();
  FakePort port(*pool);
  for (const BadConfig& bad : table) {
    EndpointConfig config = ScriptedEdge::island_config();
    bad.change(config);
    const auto created = Endpoint::create(config, port, *pool);
    ASSERT_FALSE(created.ok()) << bad.field;
    EXPECT_EQ(created.error().code, ErrorCode::kInvalidInput);
    EXPECT_EQ(created.error().message.rfind(bad.field + ":", 0), 0U) << created.error().message;
  }
}

TEST(Endpoint, IsConnectedWhenEveryLaneIs) {
  ScriptedEdge edge;
  edge.answers = false;
  edge.hello(0);
  edge.run(kMillisecond);
  EXPECT_FALSE(edge.island->connected());
  edge.hello(1);
  edge.run(kMillisecond);
  EXPECT_TRUE(edge.island->connected());
}

TEST(Endpoint, CanStartWhenEveryTreeIsGrantedInEveryLane) {
  ScriptedEdge edge;
  wire::Config config = ScriptedEdge::clique();
  config.send_tree_count = 2;
  config.send_tree = {4, 5};
  edge.join({config});
  EXPECT_FALSE(edge.island->can_start(0));
  edge.grant(0, 2, 4);
  edge.run(kMillisecond);
  EXPECT_FALSE(edge.island->can_start(0));
  edge.grant_lane(0, 0, 2, 5);
  edge.run(kMillisecond);
  EXPECT_FALSE(edge.island->can_start(0));
  edge.grant_lane(1, 0, 3, 5);
  edge.run(kMillisecond);
  EXPECT_TRUE(edge.island->can_start(0));
  EXPECT_FALSE(edge.island->can_start(1));
}

TEST(Endpoint, CannotStartARoundBeforeItsEpoch) {
  ScriptedEdge edge;
  wire::Config config = ScriptedEdge::clique();
  config.first_round = 10;
  edge.join({config});
  EXPECT_EQ(edge.island->first_round(), 10U);
  EXPECT_FALSE(edge.island->can_start(9));
}

TEST(Endpoint, AsksForItsNextTurnByTheDeadline) {
  ScriptedEdge edge;
  edge.join({ScriptedEdge::clique()});
  Buffers buffers(64);
  Allreduce request = buffers.request(0);
  request.deadline_ns = 3 * kMillisecond;
  ASSERT_TRUE(edge.island->allreduce_async(request, edge.now_ns).ok());
  EXPECT_LE(edge.island->turn(edge.now_ns), edge.now_ns + 3 * kMillisecond);
}

}  // namespace
}  // namespace tombolo::island
