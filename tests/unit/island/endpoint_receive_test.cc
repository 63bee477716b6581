#include <gtest/gtest.h>

#include <array>

#include "base/random.h"
#include "tests/unit/island/scripted_edge.h"

namespace tombolo::island {
namespace {

/// A schedule of that many entries; in every third the island rests.
std::vector<wire::Config> schedule(std::uint32_t entries) {
  std::vector<wire::Config> all;
  for (std::uint32_t i = 0; i < entries; ++i) {
    wire::Config config = ScriptedEdge::clique();
    config.entry = i;
    config.entries = entries;
    if (i % 3 == 2) {
      config.members = config.self = config.send_tree_count = 0;
      config.stream_rate_bps = 0;
      config.window_chunks = 0;
    } else {
      config.send_tree[0] = static_cast<std::uint16_t>(i);
    }
    all.push_back(config);
  }
  return all;
}

TEST(EndpointJoin, TakesALongScheduleOverSeveralAnswers) {
  ScriptedEdge edge;
  edge.join(schedule(40));
  const std::vector<Sent> joins = edge.sent(wire::Type::kJoin);
  std::vector<std::uint32_t> wanted;
  for (const Sent& join : joins) {
    wanted.push_back(join.header.chunk);
    EXPECT_EQ(join.header.rank, ScriptedEdge::kRank);
    EXPECT_EQ(join.header.epoch, 0U);
  }
  EXPECT_EQ(wanted, (std::vector<std::uint32_t>{0, 16, 32}));
  EXPECT_EQ(edge.all_drops(), 0U);
}

TEST(EndpointJoin, AsksAgainFromTheFirstEntryThatWasLost) {
  ScriptedEdge edge;
  edge.epoch = 1;
  const std::vector<wire::Config> entries = schedule(10);
  edge.hello(0);
  edge.hello(1);
  edge.run(10 * kMillisecond);
  ASSERT_EQ(edge.sent(wire::Type::kJoin).size(), 1U);
  for (const std::uint32_t i : {0U, 1U, 2U, 5U, 6U}) edge.config(entries[i]);
  edge.run(200 * kMillisecond);
  EXPECT_EQ(edge.island->epoch(), 0U);
  EXPECT_EQ(edge.sent(wire::Type::kJoin).back().header.chunk, 3U);
  for (const std::uint32_t i : {3U, 4U, 4U, 5U, 7U, 9U, 8U}) edge.config(entries[i]);
  edge.run(kMillisecond);
  EXPECT_EQ(edge.island->epoch(), 1U);
}

TEST(EndpointJoin, RefusesAnotherLaneCount) {
  ScriptedEdge edge;
  wire::Config config = ScriptedEdge::clique();
  config.lane_count = 4;
  edge.configs = {config};
  edge.epoch = 1;
  edge.hello(0);
  edge.hello(1);
  edge.run(10 * kMillisecond);
  EXPECT_EQ(edge.island->epoch(), 0U);
  EXPECT_EQ(edge.drops(DropReason::kMismatch), 1U);
}

TEST(EndpointJoin, RefusesAPeriodOrWindowsThatNoMemoryHolds) {
  EndpointConfig island = ScriptedEdge::island_config();
  island.max_fold_bytes = 1U << 20;
  ScriptedEdge edge(island);
  edge.epoch = 1;
  edge.hello(0);
  edge.hello(1);
  wire::Config endless = ScriptedEdge::clique();
  endless.entries = 0xffffffff;
  edge.config(endless);
  edge.run(kMillisecond);
  EXPECT_EQ(edge.drops(DropReason::kMismatch), 1U);
  wire::Config wide = ScriptedEdge::clique();
  wide.edge_aggregation = false;
  wide.receive_tree[1] = wire::kNoTree;
  wide.window_chunks = 0xfffffffe;
  edge.config(wide);
  edge.run(kMillisecond);
  EXPECT_EQ(edge.drops(DropReason::kMismatch), 2U);
  EXPECT_EQ(edge.island->epoch(), 0U);
  edge.config(ScriptedEdge::clique());
  edge.run(kMillisecond);
  EXPECT_EQ(edge.island->epoch(), 1U);
}

TEST(EndpointJoin, RefusesEntriesThatContradictEachOther) {
  ScriptedEdge edge;
  edge.epoch = 1;
  std::vector<wire::Config> entries = schedule(2);
  entries[1].chunk_elements = 64;
  edge.hello(0);
  edge.hello(1);
  edge.run(kMillisecond);
  edge.config(entries[0]);
  edge.config(entries[1]);
  edge.config(entries[1], 5);
  edge.run(kMillisecond);
  EXPECT_EQ(edge.drops(DropReason::kMismatch), 1U);
  EXPECT_EQ(edge.drops(DropReason::kWrongRank), 1U);
  EXPECT_EQ(edge.island->epoch(), 0U);
}

TEST(EndpointJoin, LearnsOfANewEpochAndForgetsNoneTooEarly) {
  ScriptedEdge edge;
  edge.join({ScriptedEdge::clique()}, 1);
  wire::Config next = ScriptedEdge::clique();
  next.first_round = 20;
  edge.join({next}, 4);
  EXPECT_EQ(edge.island->first_round(), 20U);
  EXPECT_EQ(edge.sent(wire::Type::kJoin).back().header.epoch, 1U);
  // The older epoch is live still: its grants count.
  edge.epoch = 1;
  edge.grant(3, 8);
  edge.config(ScriptedEdge::clique());  // And its configuration is old news.
  edge.run(kMillisecond);
  EXPECT_TRUE(edge.island->can_start(3));
  EXPECT_EQ(edge.island->epoch(), 4U);
  EXPECT_EQ(edge.drops(DropReason::kUnknownEpoch), 1U);
}

/// One packet on its way in, and the one counter that it moves.
struct Refused {
  DropReason reason;
  std::function<void(ScriptedEdge&)> send;
};

TEST(EndpointReceive, CountsWhatItRefusesByReasonAndChangesNothing) {
  const auto grant = [](ScriptedEdge& edge, const std::function<void(wire::Header&)>& change) {
    wire::Header header = edge.make_header(wire::Type::kGrant, 0);
    header.rank = ScriptedEdge::kRank;
    header.tree = 4;
    header.epoch = 1;
    header.chunk = 50;
    header.link_sequence = 1000;
    change(header);
    edge.send(header, {});
  };
  const std::vector<Refused> table = {
      {DropReason::kUnknownJob, [&](auto& edge) { grant(edge, [](auto& h) { h.job = 8; }); }},
      {DropReason::kWrongLane, [&](auto& edge) { grant(edge, [](auto& h) { h.lane = 2; }); }},
      {DropReason::kOldSession, [&](auto& edge) { grant(edge, [](auto& h) { h.session = 99; }); }},
      {DropReason::kUnknownSession, [&](auto& edge) { grant(edge, [](auto& h) { h.session = 101; }); }},
      {DropReason::kUnknownEpoch, [&](auto& edge) { grant(edge, [](auto& h) { h.epoch = 9; }); }},
      {DropReason::kUnknownTree, [&](auto& edge) { grant(edge, [](auto& h) { h.tree = 3; }); }},
      {DropReason::kDuplicateSequence,
       [&](auto& edge) { grant(edge, [](auto& h) { h.link_sequence = 999; }); }},
      {DropReason::kSequenceTooFar,
       [&](auto& edge) { grant(edge, [](auto& h) { h.link_sequence = 1256; }); }},
      {DropReason::kUnknownSender,
       [&](auto& edge) {
         grant(edge, [](auto&) {});
         ++edge.port.arrivals.back().from.base_port;
       }},
      {DropReason::kUnsupportedType,
       [](auto& edge) {
         wire::Header header = edge.make_header(wire::Type::kJoin, 0);
         header.rank = 1;
         edge.send(header, {});
       }},
      {DropReason::kRoundClosed, [](auto& edge) { edge.result(0, 0, std::vector<float>(32)); }},
      {DropReason::kTruncated,
       [&](auto& edge) {
         grant(edge, [](auto&) {});
         edge.port.arrivals.back().bytes.resize(63);
       }},
  };
  for (const Refused& refused : table) {
    SCOPED_TRACE(name(refused.reason));
    ScriptedEdge edge;
    edge.join({ScriptedEdge::clique()});
    refused.send(edge);
    edge.run(kMillisecond);
    EXPECT_EQ(edge.drops(refused.reason), 1U);
    EXPECT_EQ(edge.all_drops(), 1U);
    EXPECT_FALSE(edge.island->can_start(0));
  }
}

TEST(EndpointReceive, TakesAgainWhatCameBeforeItsEpoch) {
  ScriptedEdge edge;
  edge.join({ScriptedEdge::clique()});
  edge.epoch = 2;
  edge.configs[0].first_round = 5;
  const Sent* last = nullptr;
  edge.grant_lane(0, 5, 40);
  edge.run(5 * kMillisecond);
  EXPECT_EQ(edge.drops(DropReason::kUnknownEpoch), 1U);
  // The feedback shows a gap where the grant was: this is how it comes again.
  const std::vector<Sent> feedbacks = edge.sent(wire::Type::kFeedback);
  for (const Sent& sent : feedbacks)
    if (sent.header.lane == 0) last = &sent;
  ASSERT_NE(last, nullptr);
  wire::Feedback feedback;
  ASSERT_TRUE(wire::parse(last->payload, feedback));
  ASSERT_EQ(feedback.range_count, 1U);
  EXPECT_EQ(feedback.ranges[0], (wire::SequenceRange{1000, 1}));
}

class EndpointResults : public testing::Test {
 protected:
  EndpointResults() : buffers_(32 * 3 + 5) {  // Four chunks; the last one has five elements.
    edge_.join({ScriptedEdge::clique()});
    handle_ = *edge_.island->allreduce_async(buffers_.request(0), edge_.now_ns);
    edge_.grant(0, 0xffffffff);
    edge_.run(kMillisecond);
  }
  std::vector<float> values(std::uint32_t chunk) const {
    return std::vector<float>(chunk == 3 ? 5 : 32, 10.0F * static_cast<float>(chunk + 1));
  }
  const Outcome& outcome() const { return *edge_.island->poll(handle_); }

  ScriptedEdge edge_;
  Buffers buffers_;
  Handle handle_ = 0;
};

TEST_F(EndpointResults, MayComeInAnyOrder) {
  for (const std::uint32_t chunk : {3U, 1U, 0U}) edge_.result(0, chunk, values(chunk));
  edge_.run(kMillisecond);
  EXPECT_EQ(outcome().stage, Stage::kRunning);
  edge_.result(0, 2, values(2));
  edge_.run(kMillisecond);
  EXPECT_EQ(outcome().stage, Stage::kReady);
  for (std::size_t i = 0; i < buffers_.output.size(); ++i)
    ASSERT_EQ(buffers_.output[i], 10.0F * static_cast<float>(i / 32 + 1)) << i;
  EXPECT_EQ(outcome().contributors, (std::vector<std::uint16_t>{1, 2, 5}));
  EXPECT_EQ(outcome().payload_bytes_received, buffers_.output.size() * sizeof(float));
  EXPECT_EQ(edge_.all_drops(), 0U);
}

TEST_F(EndpointResults, CountOnceAndNeverOverwrite) {
  edge_.result(0, 1, values(1));
  edge_.result(0, 1, values(2));
  edge_.run(kMillisecond);
  EXPECT_EQ(buffers_.output[32], 20.0F);
  EXPECT_EQ(edge_.drops(DropReason::kDuplicateContribution), 1U);
  EXPECT_EQ(edge_.island->counters().results.get(), 1U);
}

TEST_F(EndpointResults, OfAnotherRoundRankSizeOrKindAreRefused) {
  const auto crafted = [this](const std::function<void(wire::Header&)>& change, std::size_t elements) {
    wire::Header header = edge_.make_header(wire::Type::kResult, 1);
    header.rank = ScriptedEdge::kRank;
    header.epoch = 1;
    header.chunk = 1;
    header.specific = 0b111;
    header.format = static_cast<std::uint8_t>(wire::Format::kFp32);
    header.operation = static_cast<std::uint8_t>(wire::Operation::kMean);
    change(header);
    edge_.send_numbered(header, ScriptedEdge::as_bytes(std::vector<float>(elements, 3.0F)));
  };
  crafted([](auto& h) { h.round = 1; }, 32);
  crafted([](auto& h) { h.epoch = 2; }, 32);
  crafted([](auto& h) { h.rank = 1; }, 32);
  crafted([](auto& h) { h.chunk = 5; }, 32);
  crafted([](auto& h) { h.chunk = 2; }, 32);  // Not this lane's.
  crafted([](auto& h) { h.operation = static_cast<std::uint8_t>(wire::Operation::kSum); }, 32);
  crafted([](auto& h) { h.format = static_cast<std::uint8_t>(wire::Format::kInt32); }, 32);
  crafted([](auto&) {}, 31);
  crafted([](auto&) {}, 0);
  edge_.run(kMillisecond);
  EXPECT_EQ(edge_.drops(DropReason::kRoundClosed), 2U);
  EXPECT_EQ(edge_.drops(DropReason::kWrongRank), 1U);
  EXPECT_EQ(edge_.drops(DropReason::kMismatch), 6U);
  EXPECT_EQ(edge_.all_drops(), 9U);
  EXPECT_EQ(edge_.island->counters().results.get(), 0U);
  for (const float value : buffers_.output) ASSERT_EQ(value, -1.0F);
}

TEST(EndpointRestart, AnEdgeThatRestartsIsTakenUpAgain) {
  ScriptedEdge edge;
  edge.join({ScriptedEdge::clique()});
  edge.session = 101;
  edge.run(kSecond);  // The next HELLOs bring the new session up, both ways.
  EXPECT_TRUE(edge.island->connected());
  Buffers buffers(64);
  const Handle handle = *edge.island->allreduce_async(buffers.request(0), edge.now_ns);
  edge.grant(0, 0xffffffff);
  edge.run(kMillisecond);
  EXPECT_EQ(edge.chunks_sent(0), (std::vector<std::uint32_t>{0, 1}));
  edge.result(0, 0, std::vector<float>(32, 1.0F));
  edge.result(0, 1, std::vector<float>(32, 2.0F));
  edge.release(0);
  edge.run(kMillisecond);
  EXPECT_EQ(edge.island->poll(handle)->stage, Stage::kReleased);
  // What the former life still sends is refused.
  edge.session = 100;
  edge.grant_lane(0, 1, 7);
  edge.run(kMillisecond);
  EXPECT_EQ(edge.drops(DropReason::kOldSession), 1U);
}

TEST(EndpointRestart, RoundsUnderWayFailAndTheNewEdgeIsToldWhereToGoOn) {
  ScriptedEdge edge;
  edge.join({ScriptedEdge::clique()});
  Buffers buffers(64);
  const Handle handle = *edge.island->allreduce_async(buffers.request(7), edge.now_ns);
  edge.grant(7, 0xffffffff);
  edge.run(kMillisecond);
  edge.log.clear();
  edge.session = 101;
  edge.run(kSecond);
  EXPECT_EQ(edge.island->poll(handle)->stage, Stage::kFailed);
  EXPECT_EQ(edge.island->poll(handle)->error.message, "round 7: the edge restarted");
  EXPECT_FALSE(edge.island->can_start(7)) << "the new edge granted nothing";
  std::size_t told = 0;
  for (const Sent& sent : edge.sent(wire::Type::kRoundEnd)) {
    EXPECT_EQ(sent.header.round, 7U);
    EXPECT_EQ(sent.header.specific, 7U) << "and the seven rounds before it";
    ++told;
  }
  EXPECT_EQ(told, ScriptedEdge::kLanes);
}

/// Takes real packets of every kind, breaks them, and sometimes makes the CRCs good again, so that they get
/// as far in as they can.
TEST(EndpointHostile, ThousandsOfMutatedPacketsAreCountedAndNeverHarm) {
  constexpr std::uint64_t kSeed = 20260712;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  for (const bool edge_aggregation : {true, false}) {
    ScriptedEdge source;
    source.join(schedule(3));
    source.port.arrivals.clear();
    source.hello(0);
    source.config(ScriptedEdge::clique());
    source.grant_lane(0, 0, 9);
    source.result(0, 0, std::vector<float>(32, 1.0F));
    source.round_end(0, 0, 4, wire::RoundOutcome::kComplete);
    source.round_end(0, 0, wire::kNoTree, wire::RoundOutcome::kDeadline, 1);
    source.feedback(0, 0, 0);
    wire::Header contribution = source.make_header(wire::Type::kContribution, 0);
    contribution.rank = 1;
    contribution.tree = 3;
    contribution.epoch = 1;
    contribution.specific = 96;
    contribution.format = contribution.operation = 1;
    source.send_numbered(contribution, ScriptedEdge::as_bytes(std::vector<float>(32, 1.0F)));
    const std::vector<FakePort::Arrival> samples(source.port.arrivals.begin(), source.port.arrivals.end());

    EndpointConfig island = ScriptedEdge::island_config();
    island.max_fold_bytes = 1U << 20;
    ScriptedEdge edge(island);
    wire::Config config = ScriptedEdge::clique();
    config.edge_aggregation = edge_aggregation;
    if (!edge_aggregation) config.receive_tree[1] = wire::kNoTree;
    edge.join({config});
    Buffers buffers(96);
    ASSERT_TRUE(edge.island->allreduce_async(buffers.request(0), edge.now_ns).ok());
    const std::uint64_t before = edge.island->counters().packets_in.get();
    constexpr std::uint64_t kPackets = 4000;
    for (std::uint64_t i = 0; i < kPackets; ++i) {
      FakePort::Arrival arrival = samples[random.below(samples.size())];
      std::vector<std::byte>& bytes = arrival.bytes;
      for (std::uint64_t flips = 1 + random.below(3); flips > 0; --flips)
        bytes[random.below(bytes.size())] ^= static_cast<std::byte>(1U << random.below(8));
      if (random.chance(0.1)) bytes.resize(random.below(bytes.size()));
      if (bytes.size() >= kHeaderBytes && random.chance(0.7)) {
        wire::Header header = wire::read_header(bytes);
        const std::span<const std::byte> payload = wire::payload_of(bytes);
        if (header.job == ScriptedEdge::kJob && header.epoch < 1000 && header.session == edge.session) {
          wire::set_payload(header, payload);
          wire::seal(header);
          std::memcpy(bytes.data(), &header, kHeaderBytes);
        }
      }
      edge.port.arrivals.push_back(std::move(arrival));
      if (i % 20 == 0) edge.run(100 * kMicrosecond);
    }
    edge.run(10 * kMillisecond);
    // Every packet that came in was looked at; what was refused has a reason.
    EXPECT_GE(edge.island->counters().packets_in.get() - before, kPackets);
    EXPECT_GT(edge.all_drops(), kPackets / 2);
    EXPECT_LE(edge.all_drops(), edge.island->counters().packets_in.get());
    EXPECT_LT(edge.pool->in_use(), 300U);
  }
}

}  // namespace
}  // namespace tombolo::island
