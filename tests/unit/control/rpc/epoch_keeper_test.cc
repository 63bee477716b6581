#include "control/rpc/epoch_keeper.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/agent.h"
#include "tests/unit/control/fake_edge.h"
#include "tests/unit/control/plans.h"
#include "tests/unit/control/rpc/log_book.h"

namespace tombolo::control {
namespace {

using Kind = ChangeOutcome::Kind;

constexpr KeeperOptions kOptions{
    .least_pause_ns = 200 * kMillisecond, .most_pause_ns = kSecond, .drain_patience_ns = 20 * kSecond};

/// Keeper, controller and nine agents in virtual time; messages arrive at once.
class KeeperTest : public testing::Test {
 protected:
  struct Edge {
    FakeDataplane dataplane;
    std::unique_ptr<Agent> agent;
    bool connected = true;
  };

  void SetUp() override {
    std::vector<EdgeName> names;
    for (std::size_t i = 0; i < network_.site_names.size(); ++i) {
      const auto site = static_cast<schedule::SiteId>(i);
      names.push_back({site, network_.site_names[i]});
      auto edge = std::make_unique<Edge>();
      edge->agent = std::make_unique<Agent>(EdgeIdentity{site, 1}, edge->dataplane);
      edges_.push_back(std::move(edge));
    }
    controller_.emplace(std::move(Controller::create(names, {})).value());
    keeper_.emplace(network_, nine_city_grid(), kOptions, *controller_, policy_, book_.sink());
  }

  void deliver(Controller::Actions actions) {
    for (const ControllerAction& action : actions) {
      Edge& edge = *edges_[action.site];
      if (!edge.connected) continue;
      for (const ToController& answer : edge.agent->receive(action.message))
        deliver(controller_->receive(edge.agent->self(), answer, now_ns_));
    }
  }
  /// Heartbeats, timers and the keeper, every 100 ms.
  void pass(Nanoseconds duration_ns) {
    for (const Nanoseconds end_ns = now_ns_ + duration_ns; now_ns_ < end_ns;) {
      now_ns_ += 100 * kMillisecond;
      for (const auto& edge : edges_) {
        if (edge->connected)
          deliver(controller_->receive(edge->agent->self(), edge->agent->hello(), now_ns_));
        if (drains_) edge->dataplane.drain_before(edge->agent->snapshot().committed_epoch());
      }
      deliver(controller_->on_timer(now_ns_));
      policy_.advance(now_ns_);
      deliver(keeper_->step(now_ns_));
    }
  }
  /// The edge of a site begins a new life, with what it stored and with ports that can do this.
  void restart(schedule::SiteId site, std::vector<schedule::SiteId> multicast_sites) {
    Edge& edge = *edges_[site];
    const AgentSnapshot stored = edge.agent->snapshot();
    const EdgeIdentity self{site, edge.agent->self().session + 1};
    edge.dataplane.drain_before(~std::uint32_t{0});
    edge.agent = std::make_unique<Agent>(self, edge.dataplane, std::move(multicast_sites));
    ASSERT_TRUE(edge.agent->restore(stored).ok());
  }
  /// The group of the committed epoch for a directed link; nothing without that link.
  std::optional<std::uint32_t> group(schedule::SiteId from, schedule::SiteId to) const {
    for (const schedule::PlannedLink& link : controller_->state().plan->links)
      if (link.from == from && link.to == to) return link.group;
    return std::nullopt;
  }
  void order(Nominal nominal) {
    outcome_.reset();
    keeper_->order(std::move(nominal), now_ns_,
                   [this](Result<ChangeOutcome> result) { outcome_.emplace(std::move(result)); });
  }
  Nominal full() {
    Nominal nominal = nine_city_grid();
    nominal.schedule = *schedule::full_schedule(network_.islands);
    return nominal;
  }
  void report_island(schedule::SiteId site, bool up) {
    policy_.report(site, std::vector<LinkState>{{true, site, up}}, now_ns_);
  }
  /// All other edges see that one, or do not.
  void report_edge(schedule::SiteId seen, bool up) {
    for (schedule::SiteId site = 0; site < 9; ++site)
      if (site != seen) policy_.report(site, std::vector<LinkState>{{false, seen, up}}, now_ns_);
  }
  bool has_link(schedule::SiteId from, schedule::SiteId to) const {
    return std::any_of(network_.links.begin(), network_.links.end(),
                       [&](const auto& link) { return link.from == from && link.to == to; });
  }
  std::uint32_t committed() const { return controller_->state().committed_epoch(); }

  schedule::Network network_ = nine_cities();
  LogBook book_;
  SurvivorPolicy policy_{network_, {}};
  std::vector<std::unique_ptr<Edge>> edges_;
  std::optional<Controller> controller_;
  std::optional<EpochKeeper> keeper_;
  std::optional<Result<ChangeOutcome>> outcome_;
  Nanoseconds now_ns_ = kSecond;
  bool drains_ = true;
};

TEST_F(KeeperTest, InstallsOnceAndThenRests) {
  pass(kSecond);
  EXPECT_EQ(committed(), 1u);
  pass(60 * kSecond);
  EXPECT_EQ(controller_->state().newest_epoch, 1u);
  EXPECT_EQ(keeper_->next_timer_ns(), kNever);
  EXPECT_EQ(keeper_->trouble(), "");
}

TEST_F(KeeperTest, WhatIsRefusedIsTriedAgainWithGrowingPauses) {
  edges_[2]->dataplane.refusal = "no memory";
  pass(10 * kSecond);
  EXPECT_EQ(committed(), 0u);
  EXPECT_NE(keeper_->trouble().find("FRA: no memory"), std::string::npos) << keeper_->trouble();
  // Pauses of 0.2, 0.4, 0.8 and then 1 s, rounded up to the steps of 100 ms: at most 1 + 3 + 9 attempts.
  EXPECT_GE(controller_->state().newest_epoch, 8u);
  EXPECT_LE(controller_->state().newest_epoch, 13u);
  edges_[2]->dataplane.refusal.reset();
  pass(2 * kSecond);
  EXPECT_EQ(committed(), controller_->state().newest_epoch);
  EXPECT_EQ(keeper_->trouble(), "");
}

TEST_F(KeeperTest, ALossDoesNotWaitForAPause) {
  pass(kSecond);
  for (schedule::SiteId site = 0; site < 9; ++site) report_island(site, true);
  report_island(5, false);
  edges_[0]->dataplane.refusal = "busy";
  pass(8 * kSecond);  // Aborted again and again: the pause is at its longest.
  edges_[0]->dataplane.refusal.reset();
  report_island(6, false);
  pass(500 * kMillisecond);  // 300 ms to settle.
  ASSERT_EQ(committed(), controller_->state().newest_epoch);
  EXPECT_EQ(controller_->state().plan->lost_ranks, (std::vector<schedule::Rank>{5, 6}));
}

/// Links of a pair of neighbours that both say that they can; a change of what an edge says is a new epoch.
TEST_F(KeeperTest, LinksWhoseEndsCanDoMulticastGetGroups) {
  constexpr schedule::SiteId kSin = 7, kTyo = 8;
  ASSERT_TRUE(has_link(kSin, kTyo));
  Nominal nominal = nine_city_grid();
  nominal.native_multicast = {0xefc00000, 65536};
  keeper_.emplace(network_, nominal, kOptions, *controller_, policy_, book_.sink());
  restart(kSin, {kTyo});
  pass(kSecond);
  ASSERT_EQ(committed(), 1u);
  EXPECT_EQ(group(kSin, kTyo), 0u) << "one end cannot";
  restart(kTyo, {kSin});
  pass(kSecond);
  ASSERT_EQ(committed(), 2u);
  const auto out = group(kSin, kTyo), back = group(kTyo, kSin);
  EXPECT_EQ(*out >> 16, 0xefc0u);
  EXPECT_EQ(*back >> 16, 0xefc0u);
  EXPECT_NE(*out, *back);
  const auto& links = controller_->state().plan->links;
  EXPECT_EQ(std::count_if(links.begin(), links.end(), [](const auto& link) { return link.group != 0; }), 2);
  pass(60 * kSecond);
  EXPECT_EQ(controller_->state().newest_epoch, 2u) << "nothing has changed";

  // The edge is configured for unicast and starts again.
  restart(kTyo, {});
  pass(2 * kSecond);
  EXPECT_EQ(committed(), 3u);
  EXPECT_EQ(group(kSin, kTyo), 0u);
}

TEST_F(KeeperTest, ARestartedControllerKeepsGroupsOfEdgesThatHaveNotCalledYet) {
  constexpr schedule::SiteId kSin = 7, kTyo = 8;
  Nominal nominal = nine_city_grid();
  nominal.native_multicast = {0xefc00000, 65536};
  keeper_.emplace(network_, nominal, kOptions, *controller_, policy_, book_.sink());
  restart(kSin, {kTyo});
  restart(kTyo, {kSin});
  pass(kSecond);
  ASSERT_EQ(committed(), 1u);
  ASSERT_NE(group(kSin, kTyo), 0u);

  std::vector<EdgeName> names;
  for (const EdgeView& edge : controller_->edges()) names.push_back(edge.id);
  const ControllerState stored = controller_->state();
  controller_.emplace(std::move(Controller::create(names, {}, stored)).value());
  keeper_.emplace(network_, nominal, kOptions, *controller_, policy_, book_.sink());
  for (const auto& edge : edges_) edge->connected = false;
  pass(kSecond);
  EXPECT_EQ(controller_->state().newest_epoch, 1u);
  for (const auto& edge : edges_) edge->connected = true;
  pass(5 * kSecond);
  EXPECT_EQ(controller_->state().newest_epoch, 1u);
}

TEST_F(KeeperTest, MarginOneOnlyAfterALoss) {
  pass(kSecond);
  for (schedule::SiteId site = 0; site < 9; ++site) report_island(site, true);
  for (const auto& edge : edges_) edge->dataplane.highest_round = 40;
  report_island(5, false);
  pass(kSecond);
  EXPECT_EQ(controller_->state().activating_round, 41u);
  report_island(5, true);
  pass(3 * kSecond);
  EXPECT_EQ(controller_->state().plan->lost_ranks.size(), 0u);
  EXPECT_EQ(controller_->state().activating_round, 43u) << "the activating round counts as opened";
}

TEST_F(KeeperTest, AnOrderIsAnsweredWhenItHasEnded) {
  pass(kSecond);
  order(full());
  EXPECT_FALSE(outcome_.has_value());
  pass(kSecond);
  ASSERT_TRUE(outcome_ && outcome_->ok());
  EXPECT_EQ((*outcome_)->kind, Kind::kInstalled);
  EXPECT_EQ(keeper_->nominal().schedule.name, "full");
}

TEST_F(KeeperTest, AnOrderWaitsForAChangeInProgress) {
  pass(kSecond);
  for (schedule::SiteId site = 0; site < 9; ++site) report_island(site, true);
  report_island(5, false);
  edges_[3]->connected = false;  // The change for island 5 cannot end.
  controller_->disconnected(edges_[3]->agent->self());
  pass(kSecond);
  ASSERT_EQ(controller_->phase(), Controller::Phase::kStaging);
  order(full());
  pass(kSecond);
  EXPECT_FALSE(outcome_.has_value());
  edges_[3]->connected = true;
  pass(2 * kSecond);
  ASSERT_TRUE(outcome_ && outcome_->ok());
  EXPECT_EQ((*outcome_)->kind, Kind::kInstalled);
  EXPECT_EQ(controller_->state().plan->lost_ranks, std::vector<schedule::Rank>{5}) << "for what survives";
}

TEST_F(KeeperTest, AnOrderThatIsRefusedLeavesWhatWasWanted) {
  pass(kSecond);
  edges_[2]->dataplane.refusal = "no memory";
  order(full());
  pass(kSecond);
  ASSERT_TRUE(outcome_ && outcome_->ok());
  EXPECT_EQ((*outcome_)->kind, Kind::kAborted);
  EXPECT_EQ(keeper_->nominal().schedule.name, "grid");
  pass(10 * kSecond);
  EXPECT_EQ(committed(), 1u);
  EXPECT_EQ(controller_->state().newest_epoch, 2u) << "the order is not tried again";
  EXPECT_EQ(keeper_->trouble(), "");
}

TEST_F(KeeperTest, AnOrderForWhichThereIsNoPlanIsRefusedAtOnce) {
  pass(kSecond);
  Nominal impossible = full();
  impossible.options.lane_count = 0;
  order(impossible);
  pass(kSecond);
  ASSERT_TRUE(outcome_.has_value());
  ASSERT_FALSE(outcome_->ok());
  EXPECT_NE(outcome_->error().message.find("lane_count"), std::string::npos);
  EXPECT_EQ(controller_->state().newest_epoch, 1u);
}

TEST_F(KeeperTest, AnOrderDoesNotWaitForADrainForEver) {
  pass(kSecond);
  drains_ = false;
  order(full());
  pass(kSecond);
  ASSERT_TRUE(outcome_ && outcome_->ok() && (*outcome_)->kind == Kind::kInstalled);
  order(nine_city_grid());
  pass(kOptions.drain_patience_ns - kSecond);
  EXPECT_FALSE(outcome_.has_value()) << "still draining";
  pass(3 * kSecond);
  ASSERT_TRUE(outcome_ && outcome_->ok());
  EXPECT_EQ((*outcome_)->kind, Kind::kAborted);
  EXPECT_NE(to_string(**outcome_).find("two epochs are live"), std::string::npos);
}

TEST_F(KeeperTest, ARefusalInTheWordsOfADrainIsNone) {
  pass(kSecond);
  edges_[2]->dataplane.refusal = "two epochs are live";
  order(full());
  pass(kSecond);
  ASSERT_TRUE(outcome_ && outcome_->ok());
  EXPECT_EQ((*outcome_)->kind, Kind::kAborted);
}

TEST_F(KeeperTest, AnEdgeThatDiesDuringAChangeDoesNotHoldTheNextOne) {
  constexpr schedule::SiteId kSeoul = 6;
  report_edge(kSeoul, true);
  pass(kSecond);
  // It gets no message any more and the stream ends; its neighbours notice a moment later.
  edges_[kSeoul]->connected = false;
  order(full());
  pass(100 * kMillisecond);
  EXPECT_EQ(controller_->phase(), Controller::Phase::kStaging);
  controller_->disconnected({kSeoul, 1});
  policy_.silent(kSeoul, now_ns_);
  report_edge(kSeoul, false);
  // Long before the change would time out.
  pass(3 * kSecond);
  EXPECT_EQ(controller_->phase(), Controller::Phase::kIdle);
  EXPECT_EQ(controller_->state().plan->lost_ranks, std::vector<schedule::Rank>{kSeoul});
}

TEST_F(KeeperTest, AnEdgeThatIsBackBeforeItsLossLedToAnEpochTakesPartAgain) {
  constexpr schedule::SiteId kSeoul = 6;
  report_edge(kSeoul, true);
  pass(kSecond);
  // The epoch without it is refused for as long as it is away.
  edges_[2]->dataplane.refusal = "no memory";
  edges_[kSeoul]->connected = false;
  controller_->disconnected({kSeoul, 1});
  policy_.silent(kSeoul, now_ns_);
  report_edge(kSeoul, false);
  pass(2 * kSecond);
  ASSERT_GT(controller_->state().newest_epoch, 1u);
  ASSERT_EQ(committed(), 1u);
  edges_[kSeoul]->connected = true;
  report_edge(kSeoul, true);
  pass(3 * kSecond);
  edges_[2]->dataplane.refusal.reset();
  pass(3 * kSecond);
  EXPECT_EQ(keeper_->trouble(), "");
  const auto& views = controller_->edges();
  const auto seoul =
      std::find_if(views.begin(), views.end(), [](const auto& view) { return view.id.site == kSeoul; });
  ASSERT_NE(seoul, views.end()) << "its hellos would be those of a stranger for ever";
  EXPECT_TRUE(seoul->connected);
}

TEST_F(KeeperTest, OneOrderAtATime) {
  pass(kSecond);
  order(full());
  std::optional<Result<ChangeOutcome>> second;
  keeper_->order(full(), now_ns_, [&](Result<ChangeOutcome> result) { second.emplace(std::move(result)); });
  ASSERT_TRUE(second && !second->ok());
  EXPECT_EQ(second->error().code, ErrorCode::kUnavailable);
  keeper_->refuse_order({ErrorCode::kUnavailable, "over"});
  ASSERT_TRUE(outcome_ && !outcome_->ok());
  EXPECT_EQ(outcome_->error().message, "over");
}

TEST_F(KeeperTest, ANewerControllerEndsIt) {
  pass(kSecond);
  order(full());
  EdgeHello hello = edges_[4]->agent->hello();
  hello.term = 99;
  deliver(controller_->receive(edges_[4]->agent->self(), hello, now_ns_));
  deliver(keeper_->step(now_ns_));
  ASSERT_TRUE(outcome_ && !outcome_->ok());
  EXPECT_EQ(outcome_->error().message, "a newer controller rules");
  EXPECT_EQ(keeper_->next_timer_ns(), kNever);
}

}  // namespace
}  // namespace tombolo::control
