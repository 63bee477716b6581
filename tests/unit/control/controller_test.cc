#include "control/controller.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/control/fake_edge.h"

namespace tombolo::control {
namespace {

using Texts = std::vector<std::string>;
using Kind = ChangeOutcome::Kind;
using Phase = Controller::Phase;

constexpr std::uint32_t kSession = 100;
constexpr std::array<schedule::SiteId, 3> kSites{0, 1, 2};

/// Three edges; times in milliseconds.
class ControllerTest : public testing::Test {
 protected:
  ControllerTest() { start({}); }

  static ControllerOptions options() {
    return {.activation_margin = 3,
            .stage_timeout_ns = 1000 * kMillisecond,
            .commit_timeout_ns = 2000 * kMillisecond,
            .resend_interval_ns = 100 * kMillisecond};
  }
  void start(ControllerState stored) {
    auto created = Controller::create({{0, "AMS"}, {1, "FRA"}, {2, "LON"}}, options(), std::move(stored));
    ASSERT_TRUE(created.ok());
    controller_ = std::make_unique<Controller>(std::move(created).value());
  }
  static Texts texts(const Controller::Actions& actions) {
    Texts result;
    for (const auto& action : actions)
      result.push_back(fmt::format("{}: {}", action.site, to_text(action.message)));
    return result;
  }
  static std::shared_ptr<const schedule::EpochPlan> plan(std::uint32_t epoch) {
    return make_plan(epoch, {"AMS", "FRA", "LON"});
  }
  Texts hello(schedule::SiteId site, EdgeHello hello = {}, std::uint32_t session = kSession) {
    hello.site = site;
    hello.session = session;
    return texts(controller_->receive({site, session}, hello, now_ms_ * kMillisecond));
  }
  void connect() {
    for (const schedule::SiteId site : kSites) EXPECT_EQ(hello(site), Texts{});
  }
  Texts propose(std::uint32_t epoch) {
    auto proposed = controller_->propose(plan(epoch), now_ms_ * kMillisecond);
    if (!proposed.ok()) return {proposed.error().message};
    return texts(*proposed);
  }
  Texts receive(schedule::SiteId site, const ToController& message, std::uint32_t session = kSession) {
    return texts(controller_->receive({site, session}, message, now_ms_ * kMillisecond));
  }
  Texts timer() { return texts(controller_->on_timer(now_ms_ * kMillisecond)); }
  std::string outcome() { return controller_->outcome() ? to_string(*controller_->outcome()) : "none"; }
  /// Brings every edge to `epoch` with no round opened.
  void install(std::uint32_t epoch) {
    propose(epoch);
    for (const schedule::SiteId site : kSites) receive(site, StageAck{epoch, 0});
    for (const schedule::SiteId site : kSites) receive(site, CommitAck{epoch});
    ASSERT_EQ(controller_->outcome()->kind, Kind::kInstalled);
  }

  std::unique_ptr<Controller> controller_;
  Nanoseconds now_ms_ = 0;
};

TEST_F(ControllerTest, InstallsAnEpochWhenAllHaveStagedIt) {
  connect();
  EXPECT_EQ(propose(1), (Texts{"0: STAGE 1", "1: STAGE 1", "2: STAGE 1"}));
  EXPECT_EQ(receive(0, StageAck{1, 10}), Texts{});
  EXPECT_EQ(receive(1, StageAck{1, 42}), Texts{});
  EXPECT_EQ(controller_->state().committed_epoch(), 0u);
  // Highest opened round 42 plus margin 3.
  EXPECT_EQ(receive(2, StageAck{1, 7}),
            (Texts{"0: COMMIT 1 from 45", "1: COMMIT 1 from 45", "2: COMMIT 1 from 45"}));
  EXPECT_EQ(controller_->phase(), Phase::kCommitting);
  EXPECT_EQ(controller_->state().committed_epoch(), 1u);
  EXPECT_EQ(controller_->state().activating_round, 45u);
  EXPECT_EQ(receive(0, CommitAck{1}), Texts{});
  EXPECT_EQ(receive(1, CommitAck{1}), Texts{});
  EXPECT_EQ(outcome(), "none");
  EXPECT_EQ(receive(2, CommitAck{1}), Texts{});
  EXPECT_EQ(outcome(), "epoch 1 runs from round 45");
  EXPECT_EQ(controller_->phase(), Phase::kIdle);
  EXPECT_EQ(controller_->next_timer_ns(), kNever);
  EXPECT_EQ(controller_->edges()[0].running_epoch, 1u);
  EXPECT_EQ(controller_->edges()[0].staged_epoch, 0u);
}

TEST_F(ControllerTest, EpochsActivateOneAfterTheOtherEvenWhenNothingRuns) {
  connect();
  install(1);
  EXPECT_EQ(controller_->state().activating_round, 0u);
  install(2);
  EXPECT_EQ(controller_->state().activating_round, 3u);
}

TEST_F(ControllerTest, AProposalMayHaveAMarginOfItsOwn) {
  connect();
  install(1);
  ASSERT_TRUE(controller_->propose(plan(2), now_ms_ * kMillisecond, 1).ok());
  for (const schedule::SiteId site : kSites) receive(site, StageAck{2, 42});
  EXPECT_EQ(controller_->state().activating_round, 43u);
  for (const schedule::SiteId site : kSites) receive(site, CommitAck{2});
  install(3);
  EXPECT_EQ(controller_->state().activating_round, 46u) << "the next one has that of the options again";
}

TEST_F(ControllerTest, AChangeDoesNotWaitForTheDead) {
  connect();
  install(1);
  propose(2);
  receive(0, StageAck{2, 5});
  receive(1, StageAck{2, 5});
  EXPECT_EQ(texts(controller_->died(2, now_ms_ * kMillisecond)), Texts{}) << "its stream says that it lives";
  EXPECT_EQ(texts(controller_->died(9, now_ms_ * kMillisecond)), Texts{}) << "nobody's";
  controller_->disconnected({2, kSession});
  EXPECT_EQ(texts(controller_->died(2, now_ms_ * kMillisecond)), (Texts{"0: ABORT 2", "1: ABORT 2"}));
  EXPECT_EQ(outcome(), "epoch 2 aborted: LON: died");

  hello(2);
  for (const schedule::SiteId site : kSites) receive(site, AbortAck{2});
  propose(3);
  for (const schedule::SiteId site : kSites) receive(site, StageAck{3, 5});
  controller_->disconnected({2, kSession});
  EXPECT_EQ(texts(controller_->died(2, now_ms_ * kMillisecond)), Texts{});
  EXPECT_EQ(controller_->phase(), Controller::Phase::kCommitting) << "the living have not confirmed yet";
  receive(0, CommitAck{3});
  receive(1, CommitAck{3});
  controller_->died(2, now_ms_ * kMillisecond);
  EXPECT_EQ(controller_->phase(), Controller::Phase::kIdle);
  EXPECT_EQ(controller_->outcome()->kind, Kind::kUnconfirmed);
  EXPECT_NE(outcome().find("LON: died"), std::string::npos) << outcome();
}

TEST_F(ControllerTest, OneRefusalAbortsForAllAndNamesIt) {
  connect();
  install(1);
  propose(2);
  receive(0, StageAck{2, 5});
  EXPECT_EQ(receive(2, StageNack{2, "arena too small"}), (Texts{"0: ABORT 2", "1: ABORT 2", "2: ABORT 2"}));
  EXPECT_EQ(outcome(), "epoch 2 aborted: LON: arena too small");
  EXPECT_EQ(controller_->state().committed_epoch(), 1u);
  // A second refusal on its way adds its reason, once; a late ACK gets its ABORT again.
  EXPECT_EQ(receive(1, StageNack{2, "no huge pages"}), Texts{});
  EXPECT_EQ(receive(1, StageNack{2, "no huge pages"}), Texts{});
  EXPECT_EQ(outcome(), "epoch 2 aborted: LON: arena too small; FRA: no huge pages");
  EXPECT_EQ(receive(0, StageAck{2, 5}), Texts{"0: ABORT 2"});
}

TEST_F(ControllerTest, AbortIsRepeatedUntilAcknowledgedAndTheNumberStaysUsed) {
  connect();
  propose(1);
  receive(0, StageNack{1, "no"});
  EXPECT_EQ(receive(1, AbortAck{1}), Texts{});
  now_ms_ = 100;
  EXPECT_EQ(timer(), (Texts{"0: ABORT 1", "2: ABORT 1"}));
  EXPECT_EQ(propose(1), Texts{"epoch 1: numbers up to 1 have been used"});
  EXPECT_EQ(controller_->next_epoch(), 2u);
  // The next proposal waits behind the ABORT of each edge.
  EXPECT_EQ(propose(2), (Texts{"0: ABORT 1", "1: STAGE 2", "2: ABORT 1"}));
  EXPECT_EQ(receive(0, AbortAck{1}), Texts{"0: STAGE 2"});
  EXPECT_EQ(receive(2, AbortAck{1}), Texts{"2: STAGE 2"});
  for (const schedule::SiteId site : {kSites[0], kSites[1]})
    EXPECT_EQ(receive(site, StageAck{2, 0}), Texts{});
  EXPECT_EQ(receive(2, StageAck{2, 0}).size(), 3u);
}

TEST_F(ControllerTest, StageThatArrivesAfterItsAbortIsAbortedAgain) {
  connect();
  propose(1);
  receive(0, StageNack{1, "no"});
  for (const schedule::SiteId site : kSites) receive(site, AbortAck{1});
  EXPECT_EQ(receive(1, StageAck{1, 0}), Texts{"1: ABORT 1"});
  now_ms_ = 100;
  EXPECT_EQ(timer(), Texts{"1: ABORT 1"});
  EXPECT_EQ(receive(1, AbortAck{1}), Texts{});
}

TEST_F(ControllerTest, AnOlderRemnantIsNotForgottenForANewerOne) {
  connect();
  propose(1);
  receive(0, StageAck{1, 0});
  receive(1, StageNack{1, "no"});
  EXPECT_EQ(controller_->edges()[0].staged_epoch, 0u);
  receive(1, AbortAck{1});
  propose(2);
  // Edge 0 has not answered the ABORT of 1, so it has never heard of 2.
  EXPECT_EQ(receive(1, StageNack{2, "no"}), (Texts{"0: ABORT 1", "1: ABORT 2", "2: ABORT 1"}));
}

TEST_F(ControllerTest, WhatAnEdgeRunsIsNotAbortedAnyMore) {
  connect();
  propose(1);
  EXPECT_EQ(receive(0, StageNack{1, "no"}).size(), 3u);
  // Committed by a former controller whose state is lost: the edge goes on with it.
  EXPECT_EQ(hello(2, {.committed_epoch = 1, .newest_epoch = 1}), Texts{});
}

TEST_F(ControllerTest, LostMessagesAreRepeatedToThoseThatHaveNotAnswered) {
  connect();
  propose(1);
  EXPECT_EQ(controller_->next_timer_ns(), 100 * kMillisecond);
  receive(1, StageAck{1, 0});
  now_ms_ = 99;
  EXPECT_EQ(timer(), Texts{});
  now_ms_ = 100;
  EXPECT_EQ(timer(), (Texts{"0: STAGE 1", "2: STAGE 1"}));
  EXPECT_EQ(timer(), Texts{}) << "not twice at once";
  receive(0, StageAck{1, 0});
  EXPECT_EQ(receive(0, StageAck{1, 0}), Texts{}) << "a repeated ACK is no second edge";
  EXPECT_EQ(receive(2, StageAck{1, 0}).size(), 3u);
  receive(0, CommitAck{1});
  now_ms_ = 200;
  EXPECT_EQ(timer(), (Texts{"1: COMMIT 1 from 0", "2: COMMIT 1 from 0"}));
}

TEST_F(ControllerTest, RepeatedAckRaisesTheActivatingRound) {
  connect();
  propose(1);
  receive(0, StageAck{1, 20});
  receive(0, StageAck{1, 30});
  receive(0, StageAck{1, 25});
  receive(1, StageAck{1, 0});
  EXPECT_EQ(receive(2, StageAck{1, 0})[0], "0: COMMIT 1 from 33");
}

TEST_F(ControllerTest, SilenceUntilTheDeadlineAborts) {
  connect();
  controller_->disconnected({2, kSession});
  propose(1);
  receive(0, StageAck{1, 0});
  now_ms_ = 999;
  timer();
  EXPECT_EQ(controller_->phase(), Phase::kStaging);
  now_ms_ = 1000;
  EXPECT_EQ(timer(), (Texts{"0: ABORT 1", "1: ABORT 1"}));
  EXPECT_EQ(outcome(), "epoch 1 aborted: FRA: no answer in time; LON: not connected");
}

TEST_F(ControllerTest, AckAfterTheDeadlineIsTooLateEvenIfTheTimerIsLater) {
  connect();
  propose(1);
  receive(0, StageAck{1, 0});
  receive(1, StageAck{1, 0});
  now_ms_ = 1000;
  const Texts actions = receive(2, StageAck{1, 0});
  EXPECT_EQ(outcome(), "epoch 1 aborted: LON: no answer in time");
  EXPECT_EQ(controller_->state().committed_epoch(), 0u);
  for (const std::string& action : actions) EXPECT_NE(action.find("ABORT 1"), std::string::npos) << action;
}

TEST_F(ControllerTest, CommittedStaysCommittedWhenAnEdgeDoesNotConfirm) {
  connect();
  propose(1);
  for (const schedule::SiteId site : kSites) receive(site, StageAck{1, 0});
  receive(0, CommitAck{1});
  receive(1, CommitAck{1});
  now_ms_ = 2000;
  EXPECT_EQ(timer(), Texts{"2: COMMIT 1 from 0"});
  EXPECT_EQ(outcome(), "epoch 1 committed from round 0, not confirmed: LON: no answer in time");
  EXPECT_EQ(controller_->phase(), Phase::kIdle);
  // Whatever comes next, that edge gets epoch 1 first.
  EXPECT_EQ(propose(2), (Texts{"0: STAGE 2", "1: STAGE 2", "2: COMMIT 1 from 0"}));
  EXPECT_EQ(receive(2, CommitAck{1}), Texts{"2: STAGE 2"});
}

TEST_F(ControllerTest, OneChangeAtATime) {
  connect();
  propose(1);
  EXPECT_EQ(propose(2), Texts{"epoch 2: the change to epoch 1 is in progress"});
  for (const schedule::SiteId site : kSites) receive(site, StageAck{1, 0});
  EXPECT_EQ(propose(2), Texts{"epoch 2: the change to epoch 1 is in progress"});
  EXPECT_EQ(controller_->add_edge({3, "NYC"}).error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(controller_->remove_edge(2).error().code, ErrorCode::kUnavailable);
}

TEST_F(ControllerTest, UnusableProposalsAreRefused) {
  EXPECT_EQ(controller_->propose(nullptr, 0).error().message, "there is no plan to propose");
  EXPECT_EQ(propose(0), Texts{"epoch 0: numbers up to 0 have been used"});
  EXPECT_EQ(controller_->propose(make_plan(1, {"AMS", "FRA", "NYC"}), 0).error().message,
            "epoch 1: edge LON is not site 2 of the plan");
  EXPECT_EQ(controller_->propose(make_plan(1, {"AMS", "FRA"}), 0).error().message,
            "epoch 1: edge LON is not site 2 of the plan");
  EXPECT_EQ(controller_->next_epoch(), 1u) << "a refused proposal uses no number";
  auto empty = Controller::create({}, options());
  EXPECT_EQ(empty->propose(plan(1), 0).error().message, "epoch 1: there is no edge to install it on");
}

TEST_F(ControllerTest, StrangersAndFormerSessionsChangeNothing) {
  connect();
  propose(1);
  receive(0, StageAck{1, 0});
  receive(1, StageAck{1, 0});
  EXPECT_EQ(receive(9, StageAck{1, 0}), Texts{});
  EXPECT_EQ(hello(9), Texts{});
  // A hello on the stream of another identity.
  EXPECT_EQ(receive(2, EdgeHello{.site = 1, .session = kSession}), Texts{});
  EXPECT_EQ(controller_->counters().unknown_edge, 3u);
  EXPECT_EQ(receive(2, StageAck{1, 0}, kSession - 1), Texts{});
  EXPECT_EQ(receive(2, StageAck{1, 0}, kSession + 1), Texts{}) << "a new session begins with its hello";
  EXPECT_EQ(hello(2, {}, kSession - 1), Texts{});
  EXPECT_EQ(controller_->counters().old_session, 3u);
  EXPECT_EQ(controller_->phase(), Phase::kStaging);
}

TEST_F(ControllerTest, AnswersAboutForgottenEpochsChangeNothing) {
  connect();
  install(1);
  install(2);
  EXPECT_EQ(receive(0, StageAck{1, 0}), Texts{});
  EXPECT_EQ(receive(0, StageNack{1, "late"}), Texts{});
  EXPECT_EQ(receive(0, CommitAck{1}), Texts{});
  EXPECT_EQ(receive(0, AbortAck{1}), Texts{});
  EXPECT_EQ(controller_->counters().unexpected, 3u) << "a late COMMIT-ACK is true, so it is not counted";
  EXPECT_EQ(hello(0, {.committed_epoch = 1}), Texts{}) << "an overtaken hello of the same life";
  EXPECT_EQ(controller_->edges()[0].running_epoch, 2u);
  EXPECT_EQ(controller_->edges()[0].staged_epoch, 0u);
}

TEST_F(ControllerTest, RestartedEdgeHasToStageAgain) {
  connect();
  propose(1);
  receive(0, StageAck{1, 0});
  receive(1, StageAck{1, 0});
  EXPECT_EQ(hello(0, {}, kSession + 1), Texts{"0: STAGE 1"}) << "its ACK went with its former life";
  EXPECT_EQ(receive(2, StageAck{1, 0}), Texts{});
  EXPECT_EQ(receive(0, StageAck{1, 0}, kSession + 1).size(), 3u);
}

TEST_F(ControllerTest, EdgeThatReturnsWithAnOlderEpochGetsTheCurrentOne) {
  connect();
  install(1);
  install(2);
  controller_->disconnected({1, kSession});
  EXPECT_EQ(hello(1, {.committed_epoch = 1}, kSession + 1), Texts{"1: STAGE 2"});
  EXPECT_EQ(receive(1, StageAck{2, 99}, kSession + 1), Texts{"1: COMMIT 2 from 3"})
      << "the round of all the others";
  EXPECT_EQ(receive(1, CommitAck{2}, kSession + 1), Texts{});
  EXPECT_EQ(controller_->edges()[1].running_epoch, 2u);
  // One that had staged it and missed the COMMIT needs only that.
  EXPECT_EQ(hello(2, {.committed_epoch = 1, .staged_epoch = 2}, kSession + 1), Texts{"2: COMMIT 2 from 3"});
}

TEST_F(ControllerTest, EdgeThatRefusesTheCurrentEpochIsAskedAgainLater) {
  connect();
  install(1);
  hello(1, {}, kSession + 1);
  now_ms_ = 60;
  EXPECT_EQ(receive(1, StageNack{1, "arena too small"}, kSession + 1), Texts{});
  EXPECT_EQ(controller_->edges()[1].refusal, "arena too small");
  now_ms_ = 159;
  EXPECT_EQ(timer(), Texts{}) << "a whole interval after the refusal";
  now_ms_ = 160;
  EXPECT_EQ(timer(), Texts{"1: STAGE 1"});
  receive(1, StageAck{1, 0}, kSession + 1);
  EXPECT_EQ(controller_->edges()[1].refusal, "");
}

TEST_F(ControllerTest, DisconnectedEdgeIsNotSentTo) {
  connect();
  controller_->disconnected({1, kSession});
  controller_->disconnected({2, kSession - 1});  // The end of a stream that has been replaced.
  controller_->disconnected({9, kSession});
  EXPECT_EQ(propose(1), (Texts{"0: STAGE 1", "2: STAGE 1"}));
  now_ms_ = 50;
  EXPECT_EQ(hello(1), Texts{"1: STAGE 1"}) << "back before the deadline";
}

TEST_F(ControllerTest, RestartKeepsTheDecisionAndTakesANewTerm) {
  connect();
  install(1);
  propose(2);
  receive(0, StageAck{2, 8});
  receive(1, StageAck{2, 8});
  receive(2, StageAck{2, 8});  // Decided; no COMMIT arrives before the controller dies.
  const Term term = controller_->state().term;
  start(controller_->state());
  EXPECT_EQ(controller_->state().term, term + 1);
  EXPECT_EQ(hello(0, {.term = term, .committed_epoch = 1, .staged_epoch = 2}), Texts{"0: COMMIT 2 from 11"});
  EXPECT_EQ(hello(1, {.term = term, .committed_epoch = 2}), Texts{});
  EXPECT_EQ(hello(2, {.term = term, .committed_epoch = 1}), Texts{"2: STAGE 2"});
}

TEST_F(ControllerTest, RestartBeforeTheDecisionAborts) {
  connect();
  install(1);
  propose(2);
  receive(0, StageAck{2, 8});
  start(controller_->state());
  EXPECT_EQ(hello(0, {.term = 1, .committed_epoch = 1, .staged_epoch = 2}), Texts{"0: ABORT 2"});
  EXPECT_EQ(propose(2), Texts{"epoch 2: numbers up to 2 have been used"});
  EXPECT_EQ(receive(0, AbortAck{2}), Texts{});
}

TEST_F(ControllerTest, RevisionMarksEveryChangeOfTheStoredState) {
  connect();
  std::uint64_t before = controller_->revision();
  propose(1);
  EXPECT_GT(controller_->revision(), std::exchange(before, controller_->revision())) << "the number is used";
  receive(0, StageAck{1, 0});
  receive(1, StageAck{1, 0});
  EXPECT_EQ(controller_->revision(), before);
  receive(2, StageAck{1, 0});
  EXPECT_GT(controller_->revision(), std::exchange(before, controller_->revision())) << "the decision";
  receive(0, CommitAck{1});
  EXPECT_EQ(controller_->revision(), before);
  hello(0, {.committed_epoch = 1, .newest_epoch = 8});
  EXPECT_GT(controller_->revision(), before) << "numbers that an edge has seen";
  EXPECT_EQ(controller_->next_epoch(), 9u);
}

TEST_F(ControllerTest, ControllerOfAnOldTermStops) {
  connect();
  propose(1);
  EXPECT_EQ(hello(1, {.term = 2}), Texts{});
  EXPECT_TRUE(controller_->superseded());
  EXPECT_EQ(outcome(), "epoch 1 left to a newer controller: FRA: obeys term 2, this is 1");
  EXPECT_EQ(controller_->next_timer_ns(), kNever);
  for (const schedule::SiteId site : kSites) EXPECT_EQ(receive(site, StageAck{1, 0}), Texts{});
  now_ms_ = 5000;
  EXPECT_EQ(timer(), Texts{});
  EXPECT_EQ(propose(2), Texts{"epoch 2: a newer controller than term 1 rules"});
}

TEST_F(ControllerTest, RoundNumbersDoNotWrap) {
  connect();
  propose(1);
  receive(0, StageAck{1, 0});
  receive(1, StageAck{1, 0xffffffff});
  EXPECT_EQ(receive(2, StageAck{1, 0}), (Texts{"0: ABORT 1", "1: ABORT 1", "2: ABORT 1"}));
  EXPECT_EQ(outcome(), "epoch 1 aborted: FRA: round 4294967295 is open: no round number is left");
  // The claim of that edge does not outlive the change.
  for (const schedule::SiteId site : kSites) receive(site, AbortAck{1});
  install(2);
  EXPECT_EQ(controller_->state().activating_round, 0u);
}

TEST_F(ControllerTest, EdgesComeAndGoBetweenChanges) {
  connect();
  install(1);
  ASSERT_TRUE(controller_->remove_edge(2).ok());
  EXPECT_EQ(controller_->remove_edge(2).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(propose(2), (Texts{"0: STAGE 2", "1: STAGE 2"}));
  receive(0, StageAck{2, 0});
  EXPECT_EQ(receive(2, StageAck{2, 0}), Texts{}) << "a stranger now";
  EXPECT_EQ(receive(1, StageAck{2, 0}), (Texts{"0: COMMIT 2 from 3", "1: COMMIT 2 from 3"}));
  receive(0, CommitAck{2});
  receive(1, CommitAck{2});
  EXPECT_EQ(outcome(), "epoch 2 runs from round 3");
  EXPECT_EQ(controller_->add_edge({1, "LON"}).error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(controller_->add_edge({2, "FRA"}).error().code, ErrorCode::kInvalidInput);
  ASSERT_TRUE(controller_->add_edge({2, "LON"}).ok());
  EXPECT_EQ(hello(2, {.committed_epoch = 1}), Texts{"2: STAGE 2"});
}

TEST(ControllerCreateTest, RefusesUnusableOptionsAndNames) {
  const std::vector<EdgeName> edges{{0, "AMS"}, {1, "FRA"}};
  EXPECT_TRUE(Controller::create(edges, {}).ok());
  EXPECT_FALSE(Controller::create(edges, {.activation_margin = 0}).ok());
  EXPECT_FALSE(Controller::create(edges, {.stage_timeout_ns = 0}).ok());
  EXPECT_FALSE(Controller::create(edges, {.commit_timeout_ns = 0}).ok());
  EXPECT_FALSE(Controller::create(edges, {.resend_interval_ns = 0}).ok());
  EXPECT_EQ(Controller::create({{0, "AMS"}, {0, "FRA"}}, {}).error().message,
            "edge FRA (site 0) is there already as AMS (site 0)");
  EXPECT_FALSE(Controller::create({{0, "AMS"}, {1, "AMS"}}, {}).ok());
}

}  // namespace
}  // namespace tombolo::control
