#include <gtest/gtest.h>

#include <numeric>

#include "tests/unit/island/scripted_edge.h"

namespace tombolo::island {
namespace {

constexpr std::uint32_t kAll = 0xffffffff;
/// A full chunk on the wire: framing, header, 32 fp32 elements.
constexpr std::uint64_t kChunkWireBytes = 42 + 64 + 32 * 4;

std::vector<std::uint32_t> first_chunks(std::uint32_t count) {
  std::vector<std::uint32_t> chunks(count);
  std::iota(chunks.begin(), chunks.end(), 0);
  return chunks;
}

class EndpointSend : public testing::Test {
 protected:
  Handle start(std::uint32_t round, Buffers& buffers) {
    return *edge_.island->allreduce_async(buffers.request(round), edge_.now_ns);
  }

  ScriptedEdge edge_;
};

TEST_F(EndpointSend, SendsEachChunkOnceInOrderWithWhatItNeedsToSay) {
  edge_.join({ScriptedEdge::clique()});
  Buffers buffers(32 * 20 + 3);
  start(0, buffers);
  edge_.grant(0, kAll);
  edge_.run(10 * kMillisecond);
  const std::vector<Sent> sent = edge_.sent(wire::Type::kContribution);
  EXPECT_EQ(edge_.chunks_sent(0), first_chunks(21));
  for (const Sent& packet : sent) {
    const wire::Header& header = packet.header;
    EXPECT_EQ(header.job, ScriptedEdge::kJob);
    EXPECT_EQ(header.rank, ScriptedEdge::kRank);
    EXPECT_EQ(header.session, ScriptedEdge::kIslandSession);
    EXPECT_EQ(header.tree, 4);
    EXPECT_EQ(header.epoch, 1U);
    EXPECT_EQ(header.flags, 0);
    EXPECT_EQ(header.lane, header.chunk % 2);
    EXPECT_EQ(header.specific, buffers.input.size());
    EXPECT_EQ(header.operation, static_cast<std::uint8_t>(wire::Operation::kMean));
    EXPECT_EQ(packet.payload, ScriptedEdge::as_bytes(buffers.chunk(header.chunk)));
  }
  EXPECT_EQ(sent.back().payload.size(), 3 * sizeof(float));  // The short one.
}

TEST_F(EndpointSend, SendsNothingWithoutAGrantAndNothingBeyondIt) {
  edge_.join({ScriptedEdge::clique()});
  Buffers buffers(32 * 20);
  start(0, buffers);
  edge_.run(10 * kMillisecond);
  EXPECT_TRUE(edge_.chunks_sent(0).empty());
  edge_.grant(0, 6);
  edge_.run(10 * kMillisecond);
  EXPECT_EQ(edge_.chunks_sent(0), first_chunks(6));
  edge_.grant(0, 4);  // An older one, overtaken: changes nothing.
  edge_.grant_lane(1, 0, 10);
  edge_.run(10 * kMillisecond);
  std::vector<std::uint32_t> expected = first_chunks(6);
  expected.insert(expected.end(), {7, 9});
  EXPECT_EQ(edge_.chunks_sent(0), expected);
  edge_.grant_lane(0, 0, kAll);
  edge_.run(10 * kMillisecond);
  expected.insert(expected.end(), {6, 8, 10, 12, 14, 16, 18});
  EXPECT_EQ(edge_.chunks_sent(0), expected);
}

TEST_F(EndpointSend, KeepsItsRateAndNeverBurstsMoreThanEight) {
  wire::Config config = ScriptedEdge::clique();
  config.stream_rate_bps = 10'000'000;
  edge_.join({config});
  constexpr std::uint32_t kChunks = 100;
  Buffers buffers(32 * kChunks);
  start(0, buffers);
  edge_.grant(0, kAll);
  edge_.run(kSecond / 2);
  const std::vector<Sent> sent = edge_.sent(wire::Type::kContribution);
  ASSERT_EQ(sent.size(), kChunks);
  const double interval_ns = kChunkWireBytes * 8 * 1e9 / 10e6;
  for (std::size_t i = 0; i < sent.size(); ++i)
    for (std::size_t j = i + 1; j < sent.size(); ++j) {
      const double packets_allowed = 8 + static_cast<double>(sent[j].at_ns - sent[i].at_ns) / interval_ns;
      ASSERT_LE(static_cast<double>(j - i + 1), packets_allowed + 1e-3) << i << " to " << j;
    }
  // After the first burst there is a packet every interval: not slower either.
  const auto took_ns = static_cast<double>(sent.back().at_ns - sent.front().at_ns);
  EXPECT_NEAR(took_ns, (kChunks - 8) * interval_ns, interval_ns + 1e3);
}

TEST_F(EndpointSend, SharesTheRateOfAllItsStreamsAmongCopies) {
  wire::Config config = ScriptedEdge::clique();
  config.stream_rate_bps = 10'000'000;
  config.send_tree_count = 2;
  config.send_tree = {4, 5};
  edge_.join({config});
  Buffers buffers(32 * 50);
  start(0, buffers);
  edge_.grant(0, kAll, 4);
  edge_.grant(0, kAll, 5);
  edge_.run(kSecond / 2);
  const std::vector<Sent> sent = edge_.sent(wire::Type::kContribution);
  ASSERT_EQ(sent.size(), 100U);
  const double interval_ns = kChunkWireBytes * 8 * 1e9 / 20e6;
  EXPECT_NEAR(static_cast<double>(sent.back().at_ns - sent.front().at_ns), 92 * interval_ns,
              interval_ns + 1e3);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i].header.chunk, i / 2);
    EXPECT_EQ(sent[i].header.tree, i % 2 == 0 ? 4 : 5);
  }
}

TEST_F(EndpointSend, ASlowDestinationHoldsUpNoOther) {
  wire::Config config = ScriptedEdge::clique();
  config.send_tree_count = 2;
  config.send_tree = {4, 5};
  edge_.join({config});
  Buffers buffers(32 * 10);
  start(0, buffers);
  edge_.grant(0, kAll, 4);
  edge_.grant(0, 2, 5);
  edge_.run(10 * kMillisecond);
  std::map<std::uint16_t, std::uint32_t> by_tree;
  for (const Sent& packet : edge_.sent(wire::Type::kContribution)) ++by_tree[packet.header.tree];
  EXPECT_EQ(by_tree, (std::map<std::uint16_t, std::uint32_t>{{4, 10}, {5, 2}}));
  edge_.grant(0, kAll, 5);
  edge_.run(10 * kMillisecond);
  EXPECT_EQ(edge_.sent(wire::Type::kContribution).size(), 20U);
}

TEST_F(EndpointSend, TheOlderRoundGoesFirst) {
  wire::Config config = ScriptedEdge::clique();
  config.stream_rate_bps = 10'000'000;
  edge_.join({config});
  Buffers older(32 * 40);
  Buffers newer(32 * 40);
  start(0, older);
  start(1, newer);
  edge_.grant(1, kAll);
  edge_.grant(0, 20);
  edge_.run(2 * kMillisecond);
  edge_.grant(0, kAll);
  edge_.run(100 * kMillisecond);
  const std::vector<Sent> sent = edge_.sent(wire::Type::kContribution);
  ASSERT_EQ(sent.size(), 80U);
  // The older runs until its grant ends, then the newer fills in, then the older takes over again.
  std::vector<std::uint32_t> turns;
  for (const Sent& packet : sent)
    if (turns.empty() || turns.back() != packet.header.round) turns.push_back(packet.header.round);
  EXPECT_EQ(sent[0].header.round, 0U);
  EXPECT_TRUE(turns == (std::vector<std::uint32_t>{0, 1}) ||
              turns == (std::vector<std::uint32_t>{0, 1, 0, 1}))
      << testing::PrintToString(turns);
}

TEST_F(EndpointSend, LanesThatAnUpdateDoesNotReachCarryAnEmptyChunk) {
  EndpointConfig island = ScriptedEdge::island_config();
  island.lane_count = 4;
  ScriptedEdge edge(island);
  wire::Config config = ScriptedEdge::clique();
  config.lane_count = 4;
  edge.join({config});
  Buffers buffers(32 + 7);
  const Handle handle = *edge.island->allreduce_async(buffers.request(0), edge.now_ns);
  edge.grant(0, kAll);
  edge.run(kMillisecond);
  const std::vector<Sent> sent = edge.sent(wire::Type::kContribution);
  ASSERT_EQ(edge.chunks_sent(0), first_chunks(4));
  EXPECT_EQ(sent[1].payload.size(), 7 * sizeof(float));
  EXPECT_TRUE(sent[2].payload.empty());
  EXPECT_TRUE(sent[3].payload.empty());
  edge.result(0, 0, std::vector<float>(32, 1.0F));
  edge.result(0, 1, std::vector<float>(7, 1.0F));
  edge.result(0, 2, {});
  edge.run(kMillisecond);
  EXPECT_EQ(edge.island->poll(handle)->stage, Stage::kRunning);
  edge.result(0, 3, {});
  edge.run(kMillisecond);
  EXPECT_EQ(edge.island->poll(handle)->stage, Stage::kReady);
}

TEST_F(EndpointSend, RepairsFromTheInputWhileTheResultArrivesElsewhere) {
  edge_.join({ScriptedEdge::clique()});
  edge_.acknowledges = false;
  Buffers buffers(32 * 4);
  start(0, buffers);
  edge_.grant(0, kAll);
  edge_.run(5 * kMillisecond);
  edge_.feedback(0, 0, 2, {{1, 1}});  // Lane 0 carried chunks 0 and 2; the second is missing.
  edge_.run(kMillisecond);
  const std::vector<Sent> sent = edge_.sent(wire::Type::kContribution);
  ASSERT_EQ(sent.size(), 5U);
  EXPECT_EQ(sent.back().header.flags, wire::kFlagRepair);
  EXPECT_EQ(sent.back().header.chunk, 2U);
  EXPECT_EQ(sent.back().header.link_sequence, 1U);
  EXPECT_EQ(sent.back().payload, ScriptedEdge::as_bytes(buffers.chunk(2)));
  EXPECT_EQ(edge_.island->counters().repairs_sent.get(), 1U);
}

TEST_F(EndpointSend, InPlaceIsRepairedFromACopyAfterTheResultHasOverwrittenIt) {
  edge_.join({ScriptedEdge::clique()});
  edge_.acknowledges = false;
  Buffers buffers(32 * 2);
  const Buffers before = buffers;
  Allreduce request = buffers.request(0);
  request.output = reinterpret_cast<std::byte*>(buffers.input.data());
  const Handle handle = *edge_.island->allreduce_async(request, edge_.now_ns);
  edge_.grant(0, kAll);
  edge_.run(5 * kMillisecond);
  edge_.result(0, 0, std::vector<float>(32, 7.0F));
  edge_.result(0, 1, std::vector<float>(32, 8.0F));
  edge_.run(kMillisecond);
  EXPECT_EQ(edge_.island->poll(handle)->stage, Stage::kReady);
  EXPECT_EQ(buffers.input[0], 7.0F);
  EXPECT_EQ(buffers.input[63], 8.0F);
  edge_.feedback(1, 0, 1, {{0, 1}});
  edge_.run(kMillisecond);
  const Sent repaired = edge_.sent(wire::Type::kContribution).back();
  EXPECT_EQ(repaired.header.flags, wire::kFlagRepair);
  EXPECT_EQ(repaired.payload, ScriptedEdge::as_bytes(before.chunk(1)));
}

TEST_F(EndpointSend, AFullLinkWindowHoldsDataBackAndLosesNone) {
  EndpointConfig island = ScriptedEdge::island_config();
  island.window_packets = 64;
  ScriptedEdge edge(island);
  edge.join({ScriptedEdge::clique()});
  edge.acknowledges = false;
  Buffers buffers(32 * 200);
  ASSERT_TRUE(edge.island->allreduce_async(buffers.request(0), edge.now_ns).ok());
  edge.grant(0, kAll);
  edge.run(20 * kMillisecond);
  // 64 less the 32 that are kept free for control, in each lane.
  EXPECT_EQ(edge.chunks_sent(0).size(), 64U);
  edge.acknowledges = true;
  edge.feedback(0, 32, 32);
  edge.feedback(1, 32, 32);
  edge.run(20 * kMillisecond);
  EXPECT_EQ(edge.chunks_sent(0), first_chunks(200));
  EXPECT_EQ(edge.all_drops(), 0U);
}

}  // namespace
}  // namespace tombolo::island
