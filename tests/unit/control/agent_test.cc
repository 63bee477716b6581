#include "control/agent.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "tests/unit/control/fake_edge.h"

namespace tombolo::control {
namespace {

using Texts = std::vector<std::string>;

class AgentTest : public testing::Test {
 protected:
  static constexpr Term kTerm = 5;

  Texts texts(const Agent::Answers& answers) {
    Texts result;
    for (const ToController& answer : answers) result.push_back(to_text(answer));
    return result;
  }
  Texts stage(std::uint32_t epoch, Term term = kTerm) {
    return texts(agent_.receive(Stage{term, epoch, make_plan(epoch, {"AMS", "FRA", "LON"})}));
  }
  Texts commit(std::uint32_t epoch, std::uint32_t round, Term term = kTerm) {
    return texts(agent_.receive(Commit{term, epoch, round}));
  }
  Texts abort(std::uint32_t epoch, Term term = kTerm) { return texts(agent_.receive(Abort{term, epoch})); }
  void run(std::uint32_t epoch, std::uint32_t round) {
    stage(epoch);
    commit(epoch, round);
    dataplane_.drain_before(epoch);
    dataplane_.log.clear();
  }

  FakeDataplane dataplane_;
  Agent agent_{EdgeIdentity{1, 40}, dataplane_};
};

TEST_F(AgentTest, StagesAndCommitsInOrder) {
  dataplane_.highest_round = 17;
  EXPECT_EQ(stage(1), Texts{"STAGE-ACK 1 opened 17"});
  EXPECT_EQ(agent_.hello().staged_epoch, 1u);
  EXPECT_EQ(agent_.hello().committed_epoch, 0u);
  EXPECT_EQ(commit(1, 19), Texts{"COMMIT-ACK 1"});
  EXPECT_EQ(dataplane_.log, (Texts{"stage 1", "commit 1 from 19"}));
  const EdgeHello hello = agent_.hello();
  EXPECT_EQ(hello.site, 1u);
  EXPECT_EQ(hello.session, 40u);
  EXPECT_EQ(hello.term, kTerm);
  EXPECT_EQ(hello.committed_epoch, 1u);
  EXPECT_EQ(hello.staged_epoch, 0u);
  EXPECT_EQ(hello.newest_epoch, 1u);
  EXPECT_EQ(agent_.snapshot().activating_round, 19u);
}

TEST_F(AgentTest, RepetitionsAreAnsweredAgainAndDoneOnce) {
  stage(1);
  dataplane_.highest_round = 3;
  EXPECT_EQ(stage(1), Texts{"STAGE-ACK 1 opened 3"}) << "with the rounds opened by now";
  commit(1, 5);
  EXPECT_EQ(commit(1, 5), Texts{"COMMIT-ACK 1"});
  EXPECT_EQ(stage(1), Texts{"COMMIT-ACK 1"}) << "a STAGE of what runs";
  EXPECT_EQ(dataplane_.log, (Texts{"stage 1", "commit 1 from 5"}));
}

TEST_F(AgentTest, AbortForgetsTheStagedEpochOnly) {
  run(1, 2);
  stage(2);
  EXPECT_EQ(abort(2), Texts{"ABORT-ACK 2"});
  EXPECT_EQ(abort(2), Texts{"ABORT-ACK 2"});
  EXPECT_EQ(dataplane_.log, (Texts{"stage 2", "abort 2"}));
  EXPECT_EQ(agent_.hello().committed_epoch, 1u);
  EXPECT_EQ(agent_.hello().newest_epoch, 2u) << "an aborted number stays used";
}

TEST_F(AgentTest, AbortOfWhatRunsOrIsOlderIsRefused) {
  run(1, 2);
  run(2, 4);
  EXPECT_EQ(abort(2), Texts{"HELLO term 5 committed 2 staged 0"});
  EXPECT_EQ(abort(1), Texts{"HELLO term 5 committed 2 staged 0"});
  EXPECT_EQ(dataplane_.log, Texts{});
}

TEST_F(AgentTest, AbortBeforeItsStageKeepsItOut) {
  EXPECT_EQ(abort(2), Texts{"ABORT-ACK 2"});
  EXPECT_EQ(stage(2), Texts{"ABORT-ACK 2"});
  EXPECT_EQ(dataplane_.log, Texts{});
  EXPECT_EQ(stage(3), Texts{"STAGE-ACK 3 opened 0"});
}

TEST_F(AgentTest, CommitWithoutAStageAsksForIt) {
  run(1, 2);
  EXPECT_EQ(commit(2, 9), Texts{"HELLO term 5 committed 1 staged 0"});
  EXPECT_EQ(commit(0, 9), Texts{"HELLO term 5 committed 1 staged 0"});
  stage(3);
  EXPECT_EQ(commit(2, 9), Texts{"HELLO term 5 committed 1 staged 3"}) << "another epoch than the staged one";
  EXPECT_EQ(dataplane_.log, Texts{"stage 3"});
}

TEST_F(AgentTest, OlderEpochIsRefused) {
  run(4, 2);
  EXPECT_EQ(stage(3), Texts{"NACK 3: epoch 3 is older than 4, which runs"});
  EXPECT_EQ(commit(3, 8), Texts{"HELLO term 5 committed 4 staged 0"});
  EXPECT_EQ(dataplane_.log, Texts{});
}

TEST_F(AgentTest, OlderTermIsRefusedWhateverItSays) {
  run(1, 2);
  stage(2);
  dataplane_.log.clear();
  const Texts refusal{"HELLO term 5 committed 1 staged 2"};
  EXPECT_EQ(stage(3, kTerm - 1), refusal);
  EXPECT_EQ(commit(2, 9, kTerm - 1), refusal);
  EXPECT_EQ(abort(2, kTerm - 1), refusal);
  EXPECT_EQ(dataplane_.log, Texts{});
  EXPECT_EQ(abort(2, kTerm + 1), Texts{"ABORT-ACK 2"});
  EXPECT_EQ(agent_.hello().term, kTerm + 1);
}

TEST_F(AgentTest, TheSameEpochFromANewTermIsBuiltAnew) {
  stage(2);
  EXPECT_EQ(stage(2, kTerm + 1), Texts{"STAGE-ACK 2 opened 0"});
  EXPECT_EQ(dataplane_.log, (Texts{"stage 2", "abort 2", "stage 2"}));
  EXPECT_EQ(dataplane_.live(), 1u);
}

TEST_F(AgentTest, ThirdLiveEpochIsRefusedUntilTheOldestHasDrained) {
  run(1, 2);
  stage(2);
  EXPECT_EQ(stage(3),
            (Texts{"NACK 3: two epochs are live: 1 runs, 2 is staged", "HELLO term 5 committed 1 staged 2"}));
  commit(2, 6);
  EXPECT_EQ(stage(3), Texts{"NACK 3: two epochs are live: the one before 2 has open rounds"});
  dataplane_.drain_before(2);
  EXPECT_EQ(stage(3), Texts{"STAGE-ACK 3 opened 0"});
}

TEST_F(AgentTest, RefusalOfTheDataplaneIsPassedOnAndLeavesNothing) {
  dataplane_.refusal = "arena of 8 MB is too small";
  EXPECT_EQ(stage(1), Texts{"NACK 1: arena of 8 MB is too small"});
  EXPECT_EQ(agent_.staged_epoch(), 0u);
  dataplane_.refusal.reset();
  EXPECT_EQ(stage(1), Texts{"STAGE-ACK 1 opened 0"}) << "it may be offered again";
}

TEST_F(AgentTest, MalformedStageIsRefused) {
  const std::string reason = "the message has no plan of its epoch";
  const std::vector<std::string> sites{"AMS", "FRA"};
  EXPECT_EQ(texts(agent_.receive(Stage{kTerm, 2, nullptr})), Texts{"NACK 2: " + reason});
  EXPECT_EQ(texts(agent_.receive(Stage{kTerm, 2, make_plan(3, sites)})), Texts{"NACK 2: " + reason});
  EXPECT_EQ(texts(agent_.receive(Stage{kTerm, 0, make_plan(0, sites)})), Texts{"NACK 0: " + reason});
  EXPECT_EQ(texts(agent_.receive(Stage{kTerm, 2, make_plan(2, {"AMS"})})),
            Texts{"NACK 2: the plan has no site 1"});
  EXPECT_EQ(dataplane_.log, Texts{});
}

TEST_F(AgentTest, PeerOnTheNewEpochCommitsIt) {
  run(1, 2);
  stage(2);
  EXPECT_EQ(texts(agent_.on_peer_commit(2, 11)), Texts{"COMMIT-ACK 2"});
  EXPECT_EQ(dataplane_.log, (Texts{"stage 2", "commit 2 from 11"}));
  EXPECT_EQ(commit(2, 11), Texts{"COMMIT-ACK 2"});
  EXPECT_EQ(dataplane_.log.size(), 2u);
}

TEST_F(AgentTest, PeerOnAnotherEpochChangesNothing) {
  run(2, 2);
  EXPECT_EQ(texts(agent_.on_peer_commit(1, 1)), Texts{}) << "a peer that is behind";
  EXPECT_EQ(texts(agent_.on_peer_commit(2, 2)), Texts{}) << "a peer on the same epoch";
  EXPECT_EQ(texts(agent_.on_peer_commit(3, 9)), Texts{"HELLO term 5 committed 2 staged 0"}) << "asks for it";
  stage(4);
  EXPECT_EQ(texts(agent_.on_peer_commit(3, 9)), Texts{"HELLO term 5 committed 2 staged 4"})
      << "not the staged one";
  EXPECT_EQ(dataplane_.log, Texts{"stage 4"});
}

TEST_F(AgentTest, RestartGoesOnWithTheStoredEpoch) {
  run(3, 12);
  stage(4);
  const AgentSnapshot stored = agent_.snapshot();
  FakeDataplane dataplane;
  Agent agent({1, 41}, dataplane);
  ASSERT_TRUE(agent.restore(stored).ok());
  EXPECT_EQ(dataplane.log, (Texts{"stage 3", "commit 3 from 12"}));
  const EdgeHello hello = agent.hello();
  EXPECT_EQ(hello.session, 41u);
  EXPECT_EQ(hello.term, kTerm);
  EXPECT_EQ(hello.committed_epoch, 3u);
  EXPECT_EQ(hello.staged_epoch, 0u) << "what was staged is gone";
  EXPECT_EQ(hello.newest_epoch, 4u);
}

TEST_F(AgentTest, RestartWithoutRoomForTheStoredEpochStartsEmpty) {
  run(3, 12);
  FakeDataplane dataplane;
  dataplane.refusal = "no memory";
  Agent agent({1, 41}, dataplane);
  const Status restored = agent.restore(agent_.snapshot());
  ASSERT_FALSE(restored.ok());
  EXPECT_EQ(restored.error().message, "stored epoch 3: no memory");
  EXPECT_EQ(agent.hello().committed_epoch, 0u);
  EXPECT_EQ(agent.hello().term, kTerm);
  EXPECT_EQ(agent.hello().newest_epoch, 3u);
}

}  // namespace
}  // namespace tombolo::control
