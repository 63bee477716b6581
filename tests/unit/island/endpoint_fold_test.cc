#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "tests/unit/island/scripted_edge.h"

namespace tombolo::island {
namespace {

constexpr std::uint32_t kAll = 0xffffffff;
constexpr std::array<std::uint16_t, 2> kOthers = {1, 5};
constexpr std::array<std::uint16_t, 2> kReceiveTrees = {3, 6};
using wire::RoundOutcome;

/// A clique without edge aggregation: the island receives the ranks 1 and 5 on the trees 3 and 6 and folds
/// them with its own; it sends to each of them on a tree of its own.
wire::Config folding_clique(std::uint32_t window_chunks = 64) {
  wire::Config config = ScriptedEdge::clique();
  config.edge_aggregation = false;
  config.window_chunks = window_chunks;
  config.receive_tree = {3, wire::kNoTree, 6};
  config.send_tree_count = 2;
  config.send_tree = {4, 5};
  return config;
}

class EndpointFold : public testing::Test {
 protected:
  EndpointFold() : buffers_(std::make_unique<Buffers>(32 * 4 + 2)) {}

  Handle start(std::uint32_t round = 0) {
    return *edge_.island->allreduce_async(buffers_->request(round), edge_.now_ns);
  }
  void grant_own(std::uint32_t round = 0) {
    edge_.grant(round, kAll, 4);
    edge_.grant(round, kAll, 5);
  }
  std::vector<float> values(std::uint16_t rank, std::uint32_t chunk) const {
    return std::vector<float>(buffers_->chunk(chunk).size(), static_cast<float>(rank * 100 + chunk));
  }
  wire::Header contribution(std::uint16_t rank, std::uint32_t round, std::uint32_t chunk) const {
    wire::Header header = edge_.make_header(wire::Type::kContribution, static_cast<std::uint16_t>(chunk % 2));
    header.rank = rank;
    header.tree = rank == 1 ? 3 : 6;
    header.epoch = 1;
    header.round = round;
    header.chunk = chunk;
    header.specific = 32 * 4 + 2;
    header.format = static_cast<std::uint8_t>(wire::Format::kFp32);
    header.operation = static_cast<std::uint8_t>(wire::Operation::kMean);
    return header;
  }
  void contribute(std::uint16_t rank, std::uint32_t round = 0) {
    for (std::uint32_t chunk = 0; chunk < 5; ++chunk)
      edge_.send_numbered(contribution(rank, round, chunk), ScriptedEdge::as_bytes(values(rank, chunk)));
  }
  void expect_mean() const {
    for (std::size_t i = 0; i < buffers_->output.size(); ++i) {
      const auto chunk = static_cast<float>(i / 32);
      const float own = static_cast<float>(i) + 0.25F;
      const float sum = (100.0F + chunk) + own + (500.0F + chunk);
      ASSERT_EQ(buffers_->output[i], sum / 3.0F) << i;
    }
  }
  std::vector<Sent> ends(std::uint16_t tree, std::uint32_t round = 0) const {
    std::vector<Sent> ends;
    for (const Sent& sent : edge_.sent(wire::Type::kRoundEnd))
      if (sent.header.tree == tree && sent.header.round == round) ends.push_back(sent);
    return ends;
  }

  ScriptedEdge edge_;
  std::unique_ptr<Buffers> buffers_;
};

TEST_F(EndpointFold, GrantsTwoRoundsToEachSourceBeforeItBeginsItself) {
  edge_.join({folding_clique(8)});
  std::map<std::pair<std::uint32_t, std::uint16_t>, std::vector<std::uint32_t>> grants;
  for (const Sent& sent : edge_.sent(wire::Type::kGrant)) {
    grants[{sent.header.round, sent.header.tree}].push_back(sent.header.chunk);
    EXPECT_EQ(sent.header.rank, sent.header.tree == 3 ? 1 : 5);
  }
  // A window of 8 chunks is 4 in each of two lanes: lane l may go up to chunk 8 + l.
  const std::vector<std::uint32_t> by_lane = {8, 9};
  ASSERT_EQ(grants.size(), 4U);
  for (const auto& [key, up_to] : grants) EXPECT_EQ(up_to, by_lane);
}

TEST_F(EndpointFold, FoldsInRankOrderWhateverTheOrderOfArrival) {
  edge_.join({folding_clique()});
  contribute(5);
  edge_.run(kMillisecond);
  const Handle handle = start();
  grant_own();
  edge_.run(kMillisecond);
  EXPECT_EQ(edge_.island->poll(handle)->stage, Stage::kRunning);
  contribute(1);
  edge_.run(kMillisecond);
  EXPECT_EQ(edge_.island->poll(handle)->stage, Stage::kReady);
  EXPECT_EQ(edge_.island->poll(handle)->contributors, (std::vector<std::uint16_t>{1, 2, 5}));
  expect_mean();
  // A copy to each destination, the sources are told, and the operation ends when both destinations did.
  EXPECT_EQ(edge_.chunks_sent(0).size(), 10U);
  for (const std::uint16_t tree : kReceiveTrees) {
    ASSERT_EQ(ends(tree).size(), 2U);
    for (const Sent& end : ends(tree))
      EXPECT_EQ(end.header.chunk, static_cast<std::uint32_t>(RoundOutcome::kComplete));
  }
  edge_.release(0, 4);
  edge_.run(kMillisecond);
  EXPECT_EQ(edge_.island->poll(handle)->stage, Stage::kReady);
  edge_.release(0, 5);
  edge_.run(kMillisecond);
  EXPECT_EQ(edge_.island->poll(handle)->stage, Stage::kReleased);
  EXPECT_EQ(edge_.pool->in_use(), 0U);
}

TEST_F(EndpointFold, SendsItsUpdateEvenIfItsOwnResultIsThereFirst) {
  edge_.join({folding_clique()});
  contribute(1);
  contribute(5);
  grant_own();
  edge_.run(kMillisecond);
  const Handle handle = start();
  edge_.run(10 * kMillisecond);
  EXPECT_EQ(edge_.island->poll(handle)->stage, Stage::kReady);
  EXPECT_EQ(edge_.chunks_sent(0).size(), 10U);
  expect_mean();
}

TEST_F(EndpointFold, EndsCompleteWhenItWasReleasedBeforeItsOwnResult) {
  edge_.join({folding_clique()});
  const Handle handle = start();
  grant_own();
  edge_.run(kMillisecond);
  edge_.release(0, 4);
  edge_.release(0, 5);
  contribute(1);
  contribute(5);
  edge_.run(kMillisecond);
  EXPECT_EQ(edge_.island->poll(handle)->stage, Stage::kReleased);
  for (const std::uint16_t tree : kReceiveTrees) {
    ASSERT_EQ(ends(tree).size(), 2U);
    for (const Sent& end : ends(tree))
      EXPECT_EQ(end.header.chunk, static_cast<std::uint32_t>(RoundOutcome::kComplete));
  }
}

TEST_F(EndpointFold, FoldsInPlace) {
  edge_.join({folding_clique()});
  Allreduce request = buffers_->request(0);
  request.output = const_cast<std::byte*>(request.input);
  const Handle handle = *edge_.island->allreduce_async(request, edge_.now_ns);
  grant_own();
  contribute(1);
  edge_.run(kMillisecond);
  contribute(5);
  edge_.run(kMillisecond);
  EXPECT_EQ(edge_.island->poll(handle)->stage, Stage::kReady);
  buffers_->output = buffers_->input;
  expect_mean();
}

TEST_F(EndpointFold, GrantsGrowWithWhatIsFolded) {
  edge_.join({folding_clique(4)});  // Two slots in each lane; the update has five chunks.
  start();
  grant_own();
  edge_.run(kMillisecond);
  for (const std::uint32_t chunk : {0U, 2U})
    for (const std::uint16_t rank : kOthers)
      edge_.send_numbered(contribution(rank, 0, chunk), ScriptedEdge::as_bytes(values(rank, chunk)));
  edge_.run(kMillisecond);
  std::uint32_t last = 0;
  for (const Sent& sent : edge_.sent(wire::Type::kGrant))
    if (sent.header.round == 0 && sent.header.lane == 0) last = sent.header.chunk;
  EXPECT_EQ(last, kAll);  // Lane 0 has the chunks 0, 2 and 4, and a slot for each.
}

TEST_F(EndpointFold, TakesEachContributionOnceAndFromMembersOnly) {
  edge_.join({folding_clique()});
  const auto send = [this](const std::function<void(wire::Header&)>& change) {
    wire::Header header = contribution(1, 0, 0);
    change(header);
    edge_.send_numbered(header, ScriptedEdge::as_bytes(values(1, 0)));
    edge_.run(kMillisecond);
  };
  send([](auto&) {});
  EXPECT_EQ(edge_.all_drops(), 0U);
  send([](auto&) {});
  EXPECT_EQ(edge_.drops(DropReason::kDuplicateContribution), 1U);
  send([](auto& header) { header.rank = 2; });
  send([](auto& header) { header.rank = 4; });
  EXPECT_EQ(edge_.drops(DropReason::kWrongRank), 2U);
  send([](auto& header) { header.tree = 6; });
  EXPECT_EQ(edge_.drops(DropReason::kUnknownTree), 1U);
  send([](auto& header) { header.round = 2; });
  EXPECT_EQ(edge_.drops(DropReason::kRoundNotOpen), 1U);
  send([](auto& header) { header.chunk = 1; });
  EXPECT_EQ(edge_.drops(DropReason::kWrongLane), 1U);
  send([](auto& header) { header.epoch = 3; });
  EXPECT_EQ(edge_.drops(DropReason::kUnknownEpoch), 1U);
  EXPECT_EQ(edge_.all_drops(), 7U);
  EXPECT_EQ(edge_.pool->in_use(), 1U);
}

TEST_F(EndpointFold, NamesWhoIsMissingAtTheDeadlineAndTellsTheSources) {
  edge_.join({folding_clique()});
  const Handle handle = start();
  grant_own();
  contribute(5);
  edge_.run(kSecond + 10 * kMillisecond);
  const Outcome& outcome = *edge_.island->poll(handle);
  EXPECT_EQ(outcome.stage, Stage::kFailed);
  EXPECT_EQ(outcome.error.message, "round 0: the deadline passed; missing rank 1");
  buffers_.reset();
  for (const std::uint16_t tree : kReceiveTrees) EXPECT_EQ(ends(tree).size(), 2U);
  EXPECT_EQ(ends(3)[0].header.chunk, static_cast<std::uint32_t>(RoundOutcome::kDeadline));
  EXPECT_EQ(ends(3)[0].header.specific, 0b001U);
  edge_.run(10 * kMillisecond);
  EXPECT_EQ(edge_.pool->in_use(), 0U);
}

TEST_F(EndpointFold, ACallsOwnDeadlineNamesWhoIsMissingToo) {
  edge_.join({folding_clique()});
  Allreduce request = buffers_->request(0);
  request.deadline_ns = 20 * kMillisecond;
  const Handle handle = *edge_.island->allreduce_async(request, edge_.now_ns);
  contribute(1);
  edge_.run(20 * kMillisecond + 1);
  EXPECT_EQ(edge_.island->poll(handle)->error.message, "round 0: the deadline passed; missing rank 5");
}

TEST_F(EndpointFold, CancelFreesSlotsAndBuffersAtOnce) {
  edge_.join({folding_clique()});
  const Handle handle = start();
  contribute(1);
  edge_.run(kMillisecond);
  EXPECT_GT(edge_.pool->in_use(), 0U);
  ASSERT_TRUE(edge_.island->cancel(handle, edge_.now_ns));
  buffers_.reset();
  EXPECT_EQ(edge_.pool->in_use(), 0U);
  edge_.run(kMillisecond);
  ASSERT_EQ(ends(6).size(), 2U);
  EXPECT_EQ(ends(6)[0].header.chunk, static_cast<std::uint32_t>(RoundOutcome::kAbandoned));
}

TEST_F(EndpointFold, ANewEpochSupersedesItsOpenRounds) {
  edge_.join({folding_clique()});
  contribute(1);
  edge_.run(kMillisecond);
  wire::Config later = folding_clique();
  later.first_round = 1;
  edge_.join({later}, 2);
  ASSERT_EQ(ends(3, 1).size(), 2U);  // Round 1 was open already and belongs to the new epoch now.
  EXPECT_EQ(ends(3, 1)[0].header.chunk, static_cast<std::uint32_t>(RoundOutcome::kSuperseded));
  EXPECT_EQ(ends(3, 1)[0].header.epoch, 1U);
  EXPECT_TRUE(ends(3, 0).empty());
}

/// The ends of a big clique are more than the room that data leaves for control.
TEST_F(EndpointFold, LosesNoRoundEndWhenTheLinkIsFull) {
  EndpointConfig island = ScriptedEdge::island_config();
  island.window_packets = 64;
  ScriptedEdge edge(island);
  wire::Config config = folding_clique(4);
  config.members = 50;
  config.self = 0;
  for (std::uint16_t i = 0; i < 50; ++i) {
    config.rank[i] = static_cast<std::uint16_t>(2 + i);
    config.receive_tree[i] = static_cast<std::uint16_t>(i == 0 ? wire::kNoTree : 100 + i);
  }
  edge.join({config});
  Buffers buffers(32 * 200);
  const Handle handle = *edge.island->allreduce_async(buffers.request(0), edge.now_ns);
  edge.acknowledges = false;
  edge.grant(0, kAll, 4);
  edge.run(20 * kMillisecond);  // Data fills the window up to what is kept for control.
  ASSERT_TRUE(edge.island->cancel(handle, edge.now_ns));
  edge.run(kMillisecond);
  edge.acknowledges = true;
  for (const std::uint16_t lane : {std::uint16_t{0}, std::uint16_t{1}}) edge.acknowledge(lane);
  edge.run(kSecond);
  std::map<std::uint16_t, std::size_t> ended;
  for (const Sent& sent : edge.sent(wire::Type::kRoundEnd))
    if (sent.header.round == 0 && sent.header.flags == 0 && sent.header.tree != wire::kNoTree)
      ++ended[sent.header.tree];
  EXPECT_EQ(ended.size(), 49U);
  for (const auto& [tree, lanes] : ended) EXPECT_EQ(lanes, 2U) << tree;
}

}  // namespace
}  // namespace tombolo::island
