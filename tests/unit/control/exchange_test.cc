// Controller and agents over a network that loses, repeats and reorders, with restarts, refusals and silent
// edges: whatever happens, an epoch is installed everywhere or nowhere.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.h"
#include "control/agent.h"
#include "control/controller.h"
#include "tests/unit/control/fake_edge.h"

namespace tombolo::control {
namespace {

using Kind = ChangeOutcome::Kind;

/// How unkind the world is; probabilities per message or per millisecond.
struct Noise {
  double loss = 0;
  double duplicate = 0;
  Nanoseconds max_delay_ms = 1;
  double edge_restart = 0;
  double controller_restart = 0;
  double refusal = 0;
  double drained = 1;
  double proposal = 0;
  double gossip = 0;
};

/// What happened over all seeds: a test in which nothing happens would prove nothing.
struct Tally {
  std::map<Kind, int> outcomes;
  int peer_commits = 0;
  int edge_restarts = 0;
  int controller_restarts = 0;
  int old_terms = 0;
};

class Exchange {
 public:
  Exchange(std::uint64_t seed, Tally& tally) : random_(seed), tally_(tally) {
    const std::size_t edges = 2 + random_.below(5);
    for (std::size_t site = 0; site < edges; ++site) site_names_.push_back(fmt::format("S{}", site));
    edges_.resize(edges);
    for (std::size_t site = 0; site < edges; ++site) start_edge(static_cast<schedule::SiteId>(site));
    start_controller();
  }

  void run(const Noise& noise, int milliseconds) {
    noise_ = noise;
    for (int i = 0; i < milliseconds && !testing::Test::HasFailure(); ++i) step();
  }

  /// In a kind world a proposal must succeed, and every edge runs it.
  void install_one() {
    auto proposed = controller_->propose(make_plan(controller_->next_epoch(), site_names_), now());
    ASSERT_TRUE(proposed.ok()) << proposed.error().message;
    const std::uint32_t epoch = controller_->next_epoch() - 1;
    after_controller(std::move(*proposed));
    run(Noise{}, 400);
    ASSERT_TRUE(controller_->outcome().has_value());
    EXPECT_EQ(controller_->outcome()->kind, Kind::kInstalled) << to_string(*controller_->outcome());
    for (const Edge& edge : edges_) EXPECT_EQ(edge.agent->snapshot().committed_epoch(), epoch);
  }

  void expect_all_alike() const {
    for (const Edge& edge : edges_) {
      EXPECT_EQ(edge.agent->snapshot().committed_epoch(), controller_->state().committed_epoch());
      EXPECT_EQ(edge.agent->snapshot().activating_round, controller_->state().activating_round);
      EXPECT_EQ(edge.agent->snapshot().plan, controller_->state().plan) << "the very plan";
      EXPECT_EQ(edge.agent->staged_epoch(), 0u) << "no remnant";
      EXPECT_EQ(edge.dataplane->live(), edge.agent->snapshot().plan ? 1u : 0u);
    }
  }

 private:
  struct Edge {
    std::unique_ptr<FakeDataplane> dataplane;
    std::unique_ptr<Agent> agent;
    std::uint32_t session = 0xfffffffe;  // So that sessions wrap.
    AgentSnapshot disk;
  };
  struct Flight {
    Nanoseconds at_ms = 0;
    EdgeIdentity edge;
    std::variant<ToEdge, ToController> message;
  };

  Nanoseconds now() const { return now_ms_ * kMillisecond; }

  void start_edge(schedule::SiteId site) {
    Edge& edge = edges_[site];
    const std::uint32_t highest_round = edge.dataplane ? edge.dataplane->highest_round : 0;
    edge.dataplane = std::make_unique<FakeDataplane>();
    edge.dataplane->highest_round = highest_round;
    edge.agent = std::make_unique<Agent>(EdgeIdentity{site, ++edge.session}, *edge.dataplane);
    ASSERT_TRUE(edge.agent->restore(edge.disk).ok());
  }

  void start_controller() {
    std::vector<EdgeName> names;
    for (std::size_t site = 0; site < edges_.size(); ++site) {
      names.push_back({static_cast<schedule::SiteId>(site), site_names_[site]});
    }
    auto created = Controller::create(names,
                                      {.activation_margin = 2,
                                       .stage_timeout_ns = 300 * kMillisecond,
                                       .commit_timeout_ns = 100 * kMillisecond,
                                       .resend_interval_ns = 30 * kMillisecond},
                                      controller_disk_);
    ASSERT_TRUE(created.ok());
    controller_ = std::make_unique<Controller>(std::move(created).value());
    controller_disk_ = controller_->state();
    outcome_noted_ = true;
  }

  void step() {
    ++now_ms_;
    deliver_due();
    if (controller_->next_timer_ns() <= now()) after_controller(controller_->on_timer(now()));
    if (random_.chance(noise_.proposal)) {
      auto proposed = controller_->propose(make_plan(controller_->next_epoch(), site_names_), now());
      if (proposed.ok()) after_controller(std::move(*proposed));
    }
    for (std::size_t site = 0; site < edges_.size(); ++site) step_edge(static_cast<schedule::SiteId>(site));
    if (random_.chance(noise_.controller_restart)) restart_controller();
  }

  void step_edge(schedule::SiteId site) {
    Edge& edge = edges_[site];
    if (random_.chance(0.05)) ++edge.dataplane->highest_round;
    if (random_.chance(noise_.drained))
      edge.dataplane->drain_before(edge.agent->snapshot().committed_epoch());
    edge.dataplane->refusal.reset();
    if (random_.chance(noise_.refusal)) edge.dataplane->refusal = "refused by the test";
    if (random_.chance(noise_.gossip)) {
      const AgentSnapshot& peer = edges_[random_.below(edges_.size())].agent->snapshot();
      const std::uint32_t before = edge.agent->snapshot().committed_epoch();
      after_edge(site, edge.agent->on_peer_commit(peer.committed_epoch(), peer.activating_round));
      if (edge.agent->snapshot().committed_epoch() != before) ++tally_.peer_commits;
    }
    if (random_.chance(noise_.edge_restart)) {
      ++tally_.edge_restarts;
      edge.dataplane->refusal.reset();
      start_edge(site);
    }
    if ((now_ms_ + site) % 40 == 0) after_edge(site, {edge.agent->hello()});
  }

  void restart_controller() {
    ++tally_.controller_restarts;
    start_controller();
  }

  template <typename Message>
  void send(EdgeIdentity edge, const Message& message) {
    if (random_.chance(noise_.loss)) return;
    const int copies = random_.chance(noise_.duplicate) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      flights_.push_back({now_ms_ + 1 + random_.below(noise_.max_delay_ms), edge, message});
    }
  }

  void deliver_due() {
    std::vector<Flight> due;
    std::erase_if(flights_, [&](Flight& flight) {
      if (flight.at_ms > now_ms_) return false;
      due.push_back(std::move(flight));
      return true;
    });
    for (const Flight& flight : due) {
      if (const auto* to_edge = std::get_if<ToEdge>(&flight.message)) {
        // Not fenced by session: harsher than a stream, which ends with the life of its edge.
        Edge& edge = edges_[flight.edge.site];
        if (std::visit([](const auto& body) { return body.term; }, *to_edge) < edge.agent->snapshot().term) {
          ++tally_.old_terms;
        }
        after_edge(flight.edge.site, edge.agent->receive(*to_edge));
      } else {
        const auto& message = std::get<ToController>(flight.message);
        note_reported_round(flight.edge, message);
        after_controller(controller_->receive(flight.edge, message, now()));
      }
    }
  }

  /// Which rounds the controller has been told of, in the life of an edge that it knows.
  void note_reported_round(EdgeIdentity from, const ToController& message) {
    const auto* ack = std::get_if<StageAck>(&message);
    const EdgeView& view = controller_->edges()[from.site];
    if (ack == nullptr || !view.connected || view.session != from.session) return;
    if (controller_->state().committed_epoch() >= ack->epoch) return;
    auto& reported = reported_round_[ack->epoch];
    reported = std::max(reported, ack->highest_opened_round);
  }

  /// Stores, checks, then sends: or dies in between.
  void after_controller(Controller::Actions actions) {
    const ControllerState& state = controller_->state();
    ASSERT_GE(state.committed_epoch(), controller_disk_.committed_epoch());
    if (state.committed_epoch() != controller_disk_.committed_epoch()) {
      EXPECT_GT(state.activating_round, reported_round_[state.committed_epoch()]);
      EXPECT_GT(state.activating_round, controller_disk_.activating_round);
      decided_[state.committed_epoch()] = state.activating_round;
    }
    controller_disk_ = state;
    note_outcome();
    if (random_.chance(noise_.controller_restart)) return restart_controller();
    for (ControllerAction& action : actions) send(EdgeIdentity{action.site, 0}, action.message);
  }

  void note_outcome() {
    if (!controller_->outcome()) {
      outcome_noted_ = false;
      return;
    }
    if (std::exchange(outcome_noted_, true)) return;
    const ChangeOutcome& outcome = *controller_->outcome();
    ++tally_.outcomes[outcome.kind];
    if (outcome.kind == Kind::kInstalled) {
      EXPECT_TRUE(outcome.problems.empty());
      for (const Edge& edge : edges_) EXPECT_GE(edge.agent->snapshot().committed_epoch(), outcome.epoch);
      return;
    }
    EXPECT_FALSE(outcome.problems.empty()) << "somebody is named";
    EXPECT_EQ(decided_.count(outcome.epoch), outcome.kind == Kind::kUnconfirmed ? 1u : 0u);
  }

  void after_edge(schedule::SiteId site, Agent::Answers answers) {
    Edge& edge = edges_[site];
    const AgentSnapshot& snapshot = edge.agent->snapshot();
    EXPECT_GE(snapshot.committed_epoch(), edge.disk.committed_epoch()) << "epochs of an edge only grow";
    EXPECT_GE(snapshot.term, edge.disk.term);
    if (snapshot.plan) {
      const auto decided = decided_.find(snapshot.committed_epoch());
      ASSERT_NE(decided, decided_.end()) << "epoch " << snapshot.committed_epoch() << " was never decided";
      EXPECT_EQ(snapshot.activating_round, decided->second);
    }
    edge.disk = snapshot;
    for (const ToController& answer : answers) send(edge.agent->self(), answer);
  }

  Random random_;
  Tally& tally_;
  Noise noise_;
  Nanoseconds now_ms_ = 0;
  std::vector<std::string> site_names_;
  std::vector<Edge> edges_;
  ControllerState controller_disk_;
  std::unique_ptr<Controller> controller_;
  std::vector<Flight> flights_;
  std::map<std::uint32_t, std::uint32_t> decided_;         ///< Activating round by epoch.
  std::map<std::uint32_t, std::uint32_t> reported_round_;  ///< By epoch.
  bool outcome_noted_ = true;
};

TEST(ExchangeTest, InstalledEverywhereOrNowhere) {
  Tally tally;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random choice(seed);
    const double restart = choice.chance(0.6) ? 0.003 * choice.unit() : 0;
    const Noise noise{.loss = 0.5 * choice.unit(),
                      .duplicate = 0.3 * choice.unit(),
                      .max_delay_ms = 1 + choice.below(60),
                      .edge_restart = restart,
                      .controller_restart = restart,
                      .refusal = choice.chance(0.5) ? 0.05 : 0,
                      .drained = choice.chance(0.5) ? 0.01 : 1,
                      .proposal = 0.02,
                      .gossip = choice.chance(0.5) ? 0.02 : 0};
    Exchange exchange(seed, tally);
    exchange.run(noise, 2500);
    // The world becomes kind: what is in the air lands, and everybody ends up alike.
    exchange.run(Noise{}, 900);
    exchange.expect_all_alike();
    exchange.install_one();
    exchange.expect_all_alike();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(tally.outcomes[Kind::kInstalled], 200);
  EXPECT_GT(tally.outcomes[Kind::kAborted], 200);
  EXPECT_GT(tally.outcomes[Kind::kUnconfirmed], 50);
  EXPECT_GT(tally.peer_commits, 50);
  EXPECT_GT(tally.edge_restarts, 50);
  EXPECT_GT(tally.controller_restarts, 50);
  EXPECT_GT(tally.old_terms, 50);
}

}  // namespace
}  // namespace tombolo::control
