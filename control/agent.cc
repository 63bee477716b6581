#include "control/agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"

namespace tombolo::control {

Agent::Agent(EdgeIdentity self, EdgeDataplane& dataplane, std::vector<schedule::SiteId> multicast_sites)
    : self_(self), dataplane_(dataplane), multicast_sites_(std::move(multicast_sites)) {}

Status Agent::restore(const AgentSnapshot& snapshot) {
  CHECK(!snapshot_.plan && !staged_plan_);
  snapshot_.term = snapshot.term;
  snapshot_.newest_epoch = std::max(snapshot.newest_epoch, snapshot.committed_epoch());
  if (!snapshot.plan) return ok_status();
  if (Status staged = dataplane_.stage(*snapshot.plan); !staged.ok()) {
    return std::move(staged).error().within(fmt::format("stored epoch {}", snapshot.committed_epoch()));
  }
  dataplane_.commit(snapshot.committed_epoch(), snapshot.activating_round);
  snapshot_.plan = snapshot.plan;
  snapshot_.activating_round = snapshot.activating_round;
  return ok_status();
}

EdgeHello Agent::hello() const {
  return EdgeHello{.site = self_.site,
                   .session = self_.session,
                   .term = snapshot_.term,
                   .committed_epoch = snapshot_.committed_epoch(),
                   .staged_epoch = staged_epoch(),
                   .newest_epoch = snapshot_.newest_epoch,
                   .multicast_sites = multicast_sites_};
}

Agent::Answers Agent::receive(const ToEdge& message) {
  const Term term = std::visit([](const auto& body) { return body.term; }, message);
  if (!accept_term(term)) return {hello()};
  if (const auto* stage = std::get_if<Stage>(&message)) return on_stage(*stage);
  if (const auto* commit = std::get_if<Commit>(&message)) return on_commit(*commit);
  return on_abort(std::get<Abort>(message));
}

Agent::Answers Agent::on_peer_commit(std::uint32_t epoch, std::uint32_t activating_round) {
  if (epoch <= snapshot_.committed_epoch()) return {};
  if (epoch != staged_epoch()) return {hello()};
  put_into_force(activating_round);
  return {CommitAck{epoch}};
}

bool Agent::accept_term(Term term) {
  if (term < snapshot_.term) return false;
  snapshot_.term = term;
  return true;
}

Agent::Answers Agent::on_stage(const Stage& stage) {
  const std::uint32_t running = snapshot_.committed_epoch();
  if (!stage.plan || stage.epoch == 0 || stage.plan->epoch != stage.epoch) {
    return {StageNack{stage.epoch, "the message has no plan of its epoch"}};
  }
  if (stage.epoch == running) return {CommitAck{running}};
  if (stage.epoch < running) {
    return {
        StageNack{stage.epoch, fmt::format("epoch {} is older than {}, which runs", stage.epoch, running)}};
  }
  if (stage.epoch == aborted_epoch_ && stage.term == aborted_term_) return {AbortAck{stage.epoch}};

  snapshot_.newest_epoch = std::max(snapshot_.newest_epoch, stage.epoch);
  if (stage.epoch == staged_epoch()) {
    if (stage.term == staged_term_) return {stage_ack()};
    drop_staged();
  }
  if (staged_plan_) {
    // The hello tells a controller that has forgotten the staged epoch what to commit or abort first.
    return {
        StageNack{stage.epoch,
                  fmt::format("two epochs are live: {} runs, {} is staged", running, staged_epoch()), true},
        hello()};
  }
  return build(stage);
}

Agent::Answers Agent::build(const Stage& stage) {
  if (self_.site >= stage.plan->site_names.size()) {
    return {StageNack{stage.epoch, fmt::format("the plan has no site {}", self_.site)}};
  }
  if (!dataplane_.can_stage()) {
    return {StageNack{
        stage.epoch,
        fmt::format("two epochs are live: the one before {} has open rounds", snapshot_.committed_epoch()),
        true}};
  }
  if (Status staged = dataplane_.stage(*stage.plan); !staged.ok()) {
    return {StageNack{stage.epoch, staged.error().message}};
  }
  staged_plan_ = stage.plan;
  staged_term_ = stage.term;
  return {stage_ack()};
}

Agent::Answers Agent::on_commit(const Commit& commit) {
  if (commit.epoch == snapshot_.committed_epoch()) return {CommitAck{commit.epoch}};
  // Nothing to commit: an old repetition, or this edge has restarted since it staged. The hello has it staged
  // again.
  if (commit.epoch == 0 || commit.epoch != staged_epoch()) return {hello()};
  put_into_force(commit.activating_round);
  return {CommitAck{commit.epoch}};
}

Agent::Answers Agent::on_abort(const Abort& abort) {
  // What runs is never taken back.
  if (abort.epoch <= snapshot_.committed_epoch()) return {hello()};
  if (abort.epoch == staged_epoch()) drop_staged();
  aborted_epoch_ = abort.epoch;
  aborted_term_ = abort.term;
  return {AbortAck{abort.epoch}};
}

void Agent::put_into_force(std::uint32_t activating_round) {
  dataplane_.commit(staged_epoch(), activating_round);
  snapshot_.plan = std::exchange(staged_plan_, nullptr);
  snapshot_.activating_round = activating_round;
}

void Agent::drop_staged() {
  dataplane_.abort(staged_epoch());
  staged_plan_.reset();
}

StageAck Agent::stage_ack() const { return StageAck{staged_epoch(), dataplane_.highest_opened_round()}; }

}  // namespace tombolo::control
