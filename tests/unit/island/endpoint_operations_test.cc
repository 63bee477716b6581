#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>

#include "tests/unit/island/scripted_edge.h"

namespace tombolo::island {
namespace {

constexpr std::uint32_t kAll = 0xffffffff;
using wire::RoundOutcome;

class EndpointOperations : public testing::Test {
 protected:
  EndpointOperations() : buffers_(std::make_unique<Buffers>(64)) {}

  void begin(Nanoseconds deadline_ns = 0) {
    edge_.join({ScriptedEdge::clique()});
    Allreduce request = buffers_->request(0);
    request.deadline_ns = deadline_ns;
    began_ns_ = edge_.now_ns;
    handle_ = *edge_.island->allreduce_async(request, edge_.now_ns);
  }
  void send_all() {
    edge_.grant(0, kAll);
    edge_.run(kMillisecond);
    ASSERT_EQ(edge_.chunks_sent(0).size(), 2U);
  }
  void results(std::uint32_t round = 0) {
    edge_.result(round, 0, std::vector<float>(32, 3.0F));
    edge_.result(round, 1, std::vector<float>(32, 4.0F));
    edge_.run(kMillisecond);
  }
  const Outcome& outcome() const { return *edge_.island->poll(handle_); }
  /// ROUND_END (abandoned) on the access link, first transmissions.
  std::size_t abandonments() const {
    std::size_t count = 0;
    for (const Sent& sent : edge_.sent(wire::Type::kRoundEnd))
      if (sent.header.tree == wire::kNoTree && sent.header.flags == 0 &&
          sent.header.chunk == static_cast<std::uint32_t>(RoundOutcome::kAbandoned))
        ++count;
    return count;
  }

  ScriptedEdge edge_;
  std::unique_ptr<Buffers> buffers_;
  Handle handle_ = 0;
  Nanoseconds began_ns_ = 0;
};

TEST_F(EndpointOperations, IsReadyFirstAndThenReleased) {
  begin();
  send_all();
  results();
  EXPECT_EQ(outcome().stage, Stage::kReady);
  EXPECT_TRUE(outcome().ready());
  EXPECT_FALSE(outcome().finished());
  EXPECT_FALSE(edge_.island->drop(handle_));
  edge_.round_end(0, 0, 4, RoundOutcome::kComplete);
  edge_.run(kMillisecond);
  EXPECT_EQ(outcome().stage, Stage::kReady);  // The other lane is not done yet.
  edge_.round_end(1, 0, 4, RoundOutcome::kComplete);
  edge_.run(kMillisecond);
  EXPECT_EQ(outcome().stage, Stage::kReleased);
  EXPECT_FALSE(outcome().failed_elsewhere);
  EXPECT_EQ(outcome().epoch, 1U);
  EXPECT_EQ(outcome().payload_bytes_sent, 256U);
  EXPECT_EQ(outcome().called_ns, began_ns_);
  EXPECT_GE(outcome().first_send_ns, outcome().called_ns);
  EXPECT_GE(outcome().ready_ns, outcome().first_send_ns);
  EXPECT_GT(outcome().released_ns, outcome().ready_ns);
  EXPECT_TRUE(edge_.island->drop(handle_));
  EXPECT_EQ(edge_.island->poll(handle_), nullptr);
  EXPECT_FALSE(edge_.island->drop(handle_));
}

TEST_F(EndpointOperations, MayBeReleasedByOthersBeforeItIsReady) {
  begin();
  send_all();
  edge_.release(0);
  edge_.run(kMillisecond);
  EXPECT_EQ(outcome().stage, Stage::kRunning);
  results();
  EXPECT_EQ(outcome().stage, Stage::kReleased);
}

TEST_F(EndpointOperations, TheBuffersAreNotTouchedAfterTheEnd) {
  begin();
  edge_.acknowledges = false;  // Everything stays in the link's window.
  send_all();
  results();
  edge_.release(0);
  edge_.run(kMillisecond);
  ASSERT_EQ(outcome().stage, Stage::kReleased);
  buffers_.reset();  // A later use is the address sanitizer's to find.
  edge_.feedback(0, 0, 1, {{0, 1}});
  edge_.feedback(1, 0, 1, {{0, 1}});
  edge_.result(0, 1, std::vector<float>(32, 9.0F));
  edge_.run(10 * kMillisecond);
  // What the edge asks for again is answered under the same number, without the payload.
  const Sent repaired = edge_.sent(wire::Type::kRoundEnd).back();
  EXPECT_EQ(repaired.header.flags, wire::kFlagRepair);
  EXPECT_EQ(repaired.header.link_sequence, 0U);
  EXPECT_EQ(repaired.header.chunk, static_cast<std::uint32_t>(RoundOutcome::kAbandoned));
  EXPECT_EQ(edge_.drops(DropReason::kRoundClosed), 1U);
}

TEST_F(EndpointOperations, CancelTellsTheEdgeAndFreesTheBuffersAtOnce) {
  begin();
  edge_.acknowledges = false;
  send_all();
  EXPECT_TRUE(edge_.island->cancel(handle_, edge_.now_ns));
  buffers_.reset();
  EXPECT_EQ(outcome().stage, Stage::kFailed);
  EXPECT_EQ(outcome().error.code, ErrorCode::kFailed);
  EXPECT_NE(outcome().error.message.find("round 0: cancelled"), std::string::npos);
  EXPECT_FALSE(edge_.island->cancel(handle_, edge_.now_ns));
  edge_.feedback(0, 0, 1, {{0, 1}});
  edge_.grant(0, kAll);
  edge_.result(0, 0, std::vector<float>(32, 9.0F));
  edge_.run(10 * kMillisecond);
  EXPECT_EQ(abandonments(), 2U);  // One per lane.
  EXPECT_EQ(edge_.chunks_sent(0).size(), 2U);
  EXPECT_FALSE(edge_.island->cancel(handle_ + 1, edge_.now_ns));
}

TEST_F(EndpointOperations, AReadyResultOutlivesCancelAndDeadline) {
  for (const bool cancel : {true, false}) {
    ScriptedEdge edge;
    edge.join({ScriptedEdge::clique()});
    Buffers buffers(64);
    const Handle handle = *edge.island->allreduce_async(buffers.request(0), edge.now_ns);
    edge.grant(0, kAll);
    edge.run(kMillisecond);
    edge.result(0, 0, std::vector<float>(32, 3.0F));
    edge.result(0, 1, std::vector<float>(32, 4.0F));
    edge.run(kMillisecond);
    if (cancel) {
      EXPECT_TRUE(edge.island->cancel(handle, edge.now_ns));
    } else {
      edge.run(2 * kSecond);
    }
    const Outcome& outcome = *edge.island->poll(handle);
    EXPECT_EQ(outcome.stage, Stage::kReleased);
    EXPECT_TRUE(outcome.failed_elsewhere);
    EXPECT_TRUE(outcome.error.message.empty());
    EXPECT_EQ(buffers.output[63], 4.0F);
  }
}

TEST_F(EndpointOperations, TheEdgesWordEndsTheRoundAndNamesWhoIsMissing) {
  begin();
  send_all();
  edge_.round_end(1, 0, wire::kNoTree, RoundOutcome::kDeadline, 0b101);
  edge_.run(kMillisecond);
  EXPECT_EQ(outcome().stage, Stage::kFailed);
  EXPECT_EQ(outcome().error.code, ErrorCode::kDeadline);
  EXPECT_EQ(outcome().missing, (std::vector<std::uint16_t>{1, 5}));
  EXPECT_EQ(outcome().error.message, "round 0: the deadline passed at the edge; missing rank 1, 5");
  edge_.round_end(0, 0, wire::kNoTree, RoundOutcome::kDeadline, 0b101);
  edge_.run(kMillisecond);
  EXPECT_EQ(edge_.drops(DropReason::kRoundClosed), 1U);
}

TEST_F(EndpointOperations, TheEdgeNamesWhoIsOutOfReach) {
  begin();
  send_all();
  edge_.round_end(1, 0, wire::kNoTree, RoundOutcome::kLost, 0b100);
  edge_.run(kMillisecond);
  EXPECT_EQ(outcome().stage, Stage::kFailed);
  EXPECT_EQ(outcome().error.code, ErrorCode::kFailed);
  EXPECT_EQ(outcome().error.message, "round 0: a member is out of reach; missing rank 5");
}

TEST_F(EndpointOperations, TheEdgesWordComesTooLateForAReadyResult) {
  begin();
  send_all();
  results();
  edge_.round_end(1, 0, wire::kNoTree, RoundOutcome::kDeadline, 0b101);
  edge_.run(kMillisecond);
  EXPECT_EQ(outcome().stage, Stage::kReady);
  EXPECT_TRUE(outcome().missing.empty());
  EXPECT_EQ(edge_.drops(DropReason::kRoundClosed), 1U);
}

TEST_F(EndpointOperations, TheEpochsDeadlineLeavesTheEdgeTheFirstWord) {
  begin();
  send_all();
  edge_.run(kSecond + 50 * kMillisecond);  // The deadline is a second; the edge's ROUND_END is on its way.
  EXPECT_EQ(outcome().stage, Stage::kRunning);
  edge_.run(kSecond / 8);
  EXPECT_EQ(outcome().stage, Stage::kFailed);
  EXPECT_EQ(outcome().error.message, "round 0: the deadline passed");
  EXPECT_EQ(abandonments(), 2U);
}

TEST_F(EndpointOperations, ACallsOwnDeadlineHoldsToTheMoment) {
  begin(30 * kMillisecond);
  edge_.island->turn(edge_.now_ns);
  edge_.grant(0, kAll, 4, 0b110);  // The edge waits for this island itself and for rank 5.
  edge_.run(29 * kMillisecond);
  EXPECT_EQ(outcome().stage, Stage::kRunning);
  edge_.run(kMillisecond + 1);
  EXPECT_EQ(outcome().stage, Stage::kFailed);
  EXPECT_EQ(outcome().error.message, "round 0: the deadline passed; the edge last waited for rank 5");
  EXPECT_EQ(outcome().missing, (std::vector<std::uint16_t>{5}));
}

TEST_F(EndpointOperations, AnEdgeThatFallsSilentIsNamed) {
  begin(10 * kSecond);
  edge_.answers = false;  // Dead: three HELLO intervals of 200 ms without a word.
  edge_.run(kSecond);
  EXPECT_EQ(outcome().stage, Stage::kFailed);
  EXPECT_EQ(outcome().error.message,
            "round 0: no word from the edge at " + to_string(ScriptedEdge::kAddress) + " for 600 ms");
  EXPECT_EQ(outcome().error.code, ErrorCode::kUnavailable);
}

TEST_F(EndpointOperations, ADeadlineWhileTheEdgeIsAwaySaysSo) {
  edge_.join({ScriptedEdge::clique()});
  edge_.answers = false;
  edge_.run(kSecond);
  Allreduce request = buffers_->request(0);
  request.deadline_ns = 2 * kSecond;
  handle_ = *edge_.island->allreduce_async(request, edge_.now_ns);
  edge_.run(2 * kSecond + 1);
  EXPECT_EQ(outcome().error.message, "round 0: the deadline passed without word from the edge");
  EXPECT_EQ(outcome().error.code, ErrorCode::kDeadline);
}

TEST_F(EndpointOperations, ADeadlineBeforeAnyConfigurationSaysSo) {
  Allreduce request = buffers_->request(0);
  request.deadline_ns = 10 * kMillisecond;
  handle_ = *edge_.island->allreduce_async(request, edge_.now_ns);
  edge_.run(9 * kMillisecond);
  EXPECT_EQ(outcome().stage, Stage::kWaiting);
  edge_.run(kMillisecond + 1);
  EXPECT_EQ(outcome().error.message, "round 0: the deadline passed before an epoch was configured");
}

TEST_F(EndpointOperations, AnEndlessDeadlineDoesNotWrap) {
  begin(kNever);
  edge_.run(20 * kSecond);
  EXPECT_EQ(outcome().stage, Stage::kRunning);
}

TEST_F(EndpointOperations, DeadlinesOfRoundsThatCannotBeOpenYetDoNotCount) {
  edge_.join({ScriptedEdge::clique()});
  std::vector<std::unique_ptr<Buffers>> buffers;
  std::vector<Handle> handles;
  for (std::uint32_t round = 0; round < 3; ++round) {
    buffers.push_back(std::make_unique<Buffers>(64));
    handles.push_back(*edge_.island->allreduce_async(buffers.back()->request(round), edge_.now_ns));
  }
  edge_.run(1126 * kMillisecond);
  EXPECT_EQ(edge_.island->poll(handles[0])->stage, Stage::kFailed);
  EXPECT_EQ(edge_.island->poll(handles[1])->stage, Stage::kFailed);
  EXPECT_EQ(edge_.island->poll(handles[2])->stage, Stage::kRunning);
  edge_.run(1126 * kMillisecond);
  EXPECT_EQ(edge_.island->poll(handles[2])->stage, Stage::kFailed);
}

/// What a tree's ROUND_END does to an operation that is ready, by outcome.
TEST_F(EndpointOperations, ATreeThatEndedBadlyIsFailureElsewhere) {
  struct Row {
    RoundOutcome outcome;
    bool failed_elsewhere;
    std::vector<std::uint16_t> missing;
  };
  const std::vector<Row> table = {{RoundOutcome::kComplete, false, {}},
                                  {RoundOutcome::kDeadline, true, {5}},
                                  {RoundOutcome::kAbandoned, true, {}},
                                  {RoundOutcome::kSuperseded, true, {}}};
  for (const Row& row : table) {
    SCOPED_TRACE(static_cast<int>(row.outcome));
    ScriptedEdge edge;
    edge.join({ScriptedEdge::clique()});
    Buffers buffers(64);
    const Handle handle = *edge.island->allreduce_async(buffers.request(0), edge.now_ns);
    edge.grant(0, kAll);
    edge.run(kMillisecond);
    edge.result(0, 0, std::vector<float>(32, 3.0F));
    edge.result(0, 1, std::vector<float>(32, 4.0F));
    edge.round_end(0, 0, 4, row.outcome, row.outcome == RoundOutcome::kComplete ? 0 : 0b100);
    edge.round_end(1, 0, 4, RoundOutcome::kComplete);
    edge.run(kMillisecond);
    const Outcome& outcome = *edge.island->poll(handle);
    EXPECT_EQ(outcome.stage, Stage::kReleased);
    EXPECT_EQ(outcome.failed_elsewhere, row.failed_elsewhere);
    EXPECT_EQ(outcome.missing, row.missing);
  }
}

TEST_F(EndpointOperations, ARoundThatASuccessorTookOverNamesNobody) {
  begin();
  send_all();
  edge_.round_end(0, 0, wire::kNoTree, RoundOutcome::kSuperseded, 0b111);
  edge_.run(kMillisecond);
  EXPECT_EQ(outcome().error.message, "round 0: a new epoch took the round over");
  EXPECT_TRUE(outcome().missing.empty());
}

TEST_F(EndpointOperations, ARoundThatWasOverBeforeItBeganFailsAtOnce) {
  edge_.join({ScriptedEdge::clique()});
  edge_.grant(0, kAll);
  for (std::uint16_t lane = 0; lane < 2; ++lane) edge_.round_end(lane, 0, 4, RoundOutcome::kDeadline, 0b010);
  edge_.run(kMillisecond);
  handle_ = *edge_.island->allreduce_async(buffers_->request(0), edge_.now_ns);
  edge_.run(kMillisecond);
  EXPECT_EQ(outcome().stage, Stage::kFailed);
  EXPECT_EQ(outcome().error.message, "round 0: it was over before this island began it; missing rank 2");
  EXPECT_TRUE(edge_.chunks_sent(0).empty());
}

TEST_F(EndpointOperations, ARoundThatTheEdgeEndedBeforeItBeganFailsAtOnceWithTheEdgesReason) {
  edge_.join({ScriptedEdge::clique()});
  edge_.grant(0, kAll);
  edge_.round_end(0, 0, wire::kNoTree, RoundOutcome::kLost, 0b100);
  edge_.run(kMillisecond);
  EXPECT_EQ(edge_.all_drops(), 0U);
  handle_ = *edge_.island->allreduce_async(buffers_->request(0), edge_.now_ns);
  edge_.run(kMillisecond);
  EXPECT_EQ(outcome().stage, Stage::kFailed);
  EXPECT_EQ(outcome().error.message, "round 0: a member is out of reach; missing rank 5");
  EXPECT_EQ(abandonments(), 0U);  // The edge knows.
  EXPECT_TRUE(edge_.chunks_sent(0).empty());
}

TEST_F(EndpointOperations, ALaterEpochGivesUpTheRoundsOfTheOlderThatNeverBegan) {
  begin();
  edge_.run(kMillisecond);
  edge_.configs[0].first_round = 5;
  edge_.join(edge_.configs, 2);
  EXPECT_EQ(abandonments(), 0U);
  handle_ = *edge_.island->allreduce_async(buffers_->request(5), edge_.now_ns);
  edge_.run(kMillisecond);
  std::set<std::uint16_t> lanes;
  for (const Sent& sent : edge_.sent(wire::Type::kRoundEnd)) {
    EXPECT_EQ(sent.header.epoch, 1U);
    EXPECT_EQ(sent.header.round, 4U);
    EXPECT_EQ(sent.header.specific, 3U);  // Rounds 1 to 4; round 0 is under way.
    lanes.insert(sent.header.lane);
  }
  EXPECT_EQ(lanes.size(), 2U);
}

TEST_F(EndpointOperations, ANewEpochBeforeAnythingWasSentTakesTheOperationAlong) {
  begin();
  edge_.run(kMillisecond);
  EXPECT_EQ(outcome().epoch, 1U);
  edge_.join({ScriptedEdge::clique()}, 2);
  EXPECT_EQ(outcome().epoch, 2U);
  edge_.grant(0, kAll);
  edge_.run(kMillisecond);
  for (const Sent& sent : edge_.sent(wire::Type::kContribution)) EXPECT_EQ(sent.header.epoch, 2U);
  results();
  edge_.release(0);
  edge_.run(kMillisecond);
  EXPECT_EQ(outcome().stage, Stage::kReleased);
}

TEST_F(EndpointOperations, ANewEpochWhileSendingFailsTheRoundByName) {
  begin();
  edge_.grant(0, 1);
  edge_.run(kMillisecond);
  ASSERT_EQ(edge_.chunks_sent(0).size(), 1U);
  edge_.join({ScriptedEdge::clique()}, 2);
  EXPECT_EQ(outcome().stage, Stage::kFailed);
  EXPECT_EQ(outcome().error.message, "round 0: epoch 2 took the round over");
  edge_.grant(0, kAll);
  edge_.run(kMillisecond);
  EXPECT_EQ(edge_.chunks_sent(0).size(), 1U);  // Nothing mixed.
}

TEST_F(EndpointOperations, ANewEpochLeavesTheRoundsBeforeItAndReadyOnesAlone) {
  begin();
  send_all();
  wire::Config later = ScriptedEdge::clique();
  later.first_round = 1;
  edge_.join({later}, 2);
  EXPECT_EQ(outcome().stage, Stage::kRunning);
  edge_.epoch = 1;
  results();
  EXPECT_EQ(outcome().stage, Stage::kReady);
  later.first_round = 0;
  edge_.join({later}, 3);  // Takes over round 0 too, but its result is here.
  EXPECT_EQ(outcome().stage, Stage::kReleased);
  EXPECT_TRUE(outcome().failed_elsewhere);
  EXPECT_EQ(outcome().epoch, 1U);
}

TEST_F(EndpointOperations, ARoundOfAnEpochThatIsOverFails) {
  begin();
  send_all();
  wire::Config later = ScriptedEdge::clique();
  later.first_round = 10;
  edge_.join({later}, 2);
  EXPECT_EQ(outcome().stage, Stage::kRunning);
  edge_.join({later}, 3);
  EXPECT_EQ(outcome().error.message, "round 0: epoch 1 is over");
}

TEST_F(EndpointOperations, ARoundBeforeTheFirstEpochFails) {
  wire::Config config = ScriptedEdge::clique();
  config.first_round = 10;
  handle_ = *edge_.island->allreduce_async(buffers_->request(9), edge_.now_ns);
  edge_.join({config});
  EXPECT_EQ(outcome().error.code, ErrorCode::kInvalidInput);
  EXPECT_NE(outcome().error.message.find("epoch 1 begins with round 10"), std::string::npos);
}

TEST_F(EndpointOperations, ARestingIslandsResultIsItsInput) {
  wire::Config rest = ScriptedEdge::clique();
  rest.members = rest.self = rest.send_tree_count = 0;
  edge_.join({rest});
  handle_ = *edge_.island->allreduce_async(buffers_->request(0), edge_.now_ns);
  edge_.run(kMillisecond);
  EXPECT_EQ(outcome().stage, Stage::kReleased);
  EXPECT_EQ(buffers_->output, buffers_->input);
  EXPECT_EQ(outcome().contributors, (std::vector<std::uint16_t>{ScriptedEdge::kRank}));
  EXPECT_TRUE(edge_.sent(wire::Type::kContribution).empty());
}

TEST_F(EndpointOperations, TakesNoMoreThanItHasRoomFor) {
  edge_.join({ScriptedEdge::clique()});
  std::vector<Handle> handles;
  for (std::uint32_t round = 0; round < Endpoint::kMaxOperations; ++round)
    handles.push_back(*edge_.island->allreduce_async(buffers_->request(round), edge_.now_ns));
  auto refused = edge_.island->allreduce_async(buffers_->request(9), edge_.now_ns);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  edge_.island->cancel(handles[0], edge_.now_ns);
  EXPECT_FALSE(edge_.island->allreduce_async(buffers_->request(9), edge_.now_ns).ok());
  EXPECT_TRUE(edge_.island->drop(handles[0]));
  EXPECT_TRUE(edge_.island->allreduce_async(buffers_->request(9), edge_.now_ns).ok());
}

TEST_F(EndpointOperations, RefusesRequestsThatMakeNoSense) {
  using Change = void (*)(Allreduce&);
  const std::vector<Change> table = {
      [](Allreduce& request) { request.input = nullptr; },
      [](Allreduce& request) { request.output = nullptr; },
      [](Allreduce& request) { request.count = 0; },
      [](Allreduce& request) { request.count = std::numeric_limits<std::uint64_t>::max(); },
      [](Allreduce& request) { request.count = (std::uint64_t{1} << 62) + 1; },
      [](Allreduce& request) { request.format = wire::Format::kNone; },
      [](Allreduce& request) { request.operation = wire::Operation::kNone; },
      [](Allreduce& request) { request.result_format = wire::Format::kInt32; },
      [](Allreduce& request) { request.output = const_cast<std::byte*>(request.input) + 4; },
      [](Allreduce& request) { request.input = request.output + 252; },
  };
  edge_.join({ScriptedEdge::clique()});
  for (std::size_t i = 0; i < table.size(); ++i) {
    Allreduce request = buffers_->request(3);
    table[i](request);
    const auto refused = edge_.island->allreduce_async(request, edge_.now_ns);
    ASSERT_FALSE(refused.ok()) << i;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidInput) << i;
    EXPECT_EQ(refused.error().message.rfind("round 3: ", 0), 0U) << refused.error().message;
  }
  EXPECT_TRUE(edge_.island->allreduce_async(buffers_->request(3), edge_.now_ns).ok());
}

TEST_F(EndpointOperations, RoundsGrowEvenWhenOlderOnesAreForgotten) {
  begin();
  edge_.island->cancel(handle_, edge_.now_ns);
  ASSERT_TRUE(edge_.island->drop(handle_));
  const auto again = edge_.island->allreduce_async(buffers_->request(0), edge_.now_ns);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().message, "round 0: round 0 was started before it");
  EXPECT_TRUE(edge_.island->allreduce_async(buffers_->request(1), edge_.now_ns).ok());
}

TEST_F(EndpointOperations, MoreChunksThanTheWireCanNumberFailByName) {
  edge_.join({ScriptedEdge::clique()});
  Allreduce request = buffers_->request(0);
  request.count = (std::uint64_t{1} << 36) + 1;  // Of 32 elements: 2^31 + 1 chunks.
  request.output = const_cast<std::byte*>(request.input) + (std::uint64_t{1} << 39);
  handle_ = *edge_.island->allreduce_async(request, edge_.now_ns);
  edge_.run(kMillisecond);
  EXPECT_EQ(outcome().error.code, ErrorCode::kInvalidInput);
  EXPECT_NE(outcome().error.message.find("68719476737 elements are too many"), std::string::npos);
}

}  // namespace
}  // namespace tombolo::island
