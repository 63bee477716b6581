#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "control/messages.h"
#include "schedule/epoch_plan.h"

namespace tombolo::control {

/// What the agent needs of the dataplane it serves. Called off the hot path, from the agent's thread only.
class EdgeDataplane {
 public:
  virtual ~EdgeDataplane() = default;
  /// False while two epochs are live: the older one still has open rounds, so there is no room for a third.
  virtual bool can_stage() const = 0;
  /// Checks the plan (schedule::check_plan) and builds this edge's tables beside the running ones. An error
  /// leaves nothing behind; its text becomes the reason of the NACK.
  virtual Status stage(const schedule::EpochPlan& plan) = 0;
  /// The highest round that any epoch has opened here; 0 if none is.
  virtual std::uint32_t highest_opened_round() const = 0;
  /// Puts the staged tables into force for the rounds from `activating_round` on; cannot fail.
  virtual void commit(std::uint32_t epoch, std::uint32_t activating_round) = 0;
  /// Frees the staged tables.
  virtual void abort(std::uint32_t epoch) = 0;
};

/// What an edge keeps on disk, so that it goes on without its controller and is not fooled by a former one.
struct AgentSnapshot {
  Term term = 0;
  std::uint32_t newest_epoch = 0;
  std::shared_ptr<const schedule::EpochPlan> plan;  ///< The newest committed one; nullptr before the first.
  std::uint32_t activating_round = 0;

  std::uint32_t committed_epoch() const { return plan ? plan->epoch : 0; }
};

/// An edge's side of a change of epoch. Has no timer: it answers, and the controller repeats what got no
/// answer. The caller stores snapshot() before it sends what a call returned.
class Agent {
 public:
  using Answers = std::vector<ToController>;

  /// `dataplane` outlives the agent. `session` is later than that of the site's former life.
  /// `multicast_sites`: see EdgeHello.
  Agent(EdgeIdentity self, EdgeDataplane& dataplane, std::vector<schedule::SiteId> multicast_sites = {});

  /// After a restart, before anything else: puts the stored epoch back into force.
  /// Errors: those of EdgeDataplane::stage; the agent then starts with nothing but the term and the epoch
  /// numbers.
  Status restore(const AgentSnapshot& snapshot);

  /// To be sent when a stream opens and as its heartbeat.
  EdgeHello hello() const;

  Answers receive(const ToEdge& message);

  /// A known peer (authenticated by the caller) runs `epoch`. It can only do so once the controller has
  /// decided to commit, so a staged edge need not wait for its own COMMIT. An epoch that is not here yet is
  /// asked for.
  Answers on_peer_commit(std::uint32_t epoch, std::uint32_t activating_round);

  EdgeIdentity self() const { return self_; }
  const AgentSnapshot& snapshot() const { return snapshot_; }
  std::uint32_t staged_epoch() const { return staged_plan_ ? staged_plan_->epoch : 0; }

 private:
  /// False if the message is from a controller that has been replaced.
  bool accept_term(Term term);
  Answers on_stage(const Stage& stage);
  Answers on_commit(const Commit& commit);
  Answers on_abort(const Abort& abort);
  Answers build(const Stage& stage);
  void put_into_force(std::uint32_t activating_round);
  void drop_staged();
  StageAck stage_ack() const;

  EdgeIdentity self_;
  EdgeDataplane& dataplane_;
  const std::vector<schedule::SiteId> multicast_sites_;
  AgentSnapshot snapshot_;
  std::shared_ptr<const schedule::EpochPlan> staged_plan_;
  Term staged_term_ = 0;  ///< Who staged it: another controller's plan of the same number is built anew.
  std::uint32_t aborted_epoch_ = 0;  ///< The last one aborted, so that a late STAGE does not bring it back.
  Term aborted_term_ = 0;
};

}  // namespace tombolo::control
