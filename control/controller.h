#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "control/messages.h"
#include "schedule/epoch_plan.h"

namespace tombolo::control {

struct ControllerOptions {
  /// A new epoch begins this many rounds after the highest opened one; at least 1. Rounds that islands open
  /// between their edge's ACK and the COMMIT use it up.
  std::uint32_t activation_margin = 2;
  Nanoseconds stage_timeout_ns = 10 * kSecond;   ///< From the proposal to the last ACK.
  Nanoseconds commit_timeout_ns = 10 * kSecond;  ///< From the decision to the last confirmation.
  Nanoseconds resend_interval_ns = kSecond / 2;  ///< For whatever got no answer.
};

/// What a controller keeps on disk. A restart begins with it.
struct ControllerState {
  Term term = 0;
  std::uint32_t newest_epoch = 0;                   ///< The highest number ever used, aborted ones included.
  std::shared_ptr<const schedule::EpochPlan> plan;  ///< The committed one; nullptr before the first.
  std::uint32_t activating_round = 0;
  std::string order{};  ///< What the operator ordered that led to `plan`, in the caller's words.

  std::uint32_t committed_epoch() const { return plan ? plan->epoch : 0; }
};

struct EdgeName {
  schedule::SiteId site = 0;
  std::string name;
};

/// The controller's picture of one edge.
struct EdgeView {
  EdgeName id;
  bool connected = false;                  ///< Its hello has come and its stream has not ended since.
  std::optional<std::uint32_t> session;    ///< The newest one heard of.
  std::uint32_t running_epoch = 0;         ///< The newest epoch that it confirmed.
  std::uint32_t staged_epoch = 0;          ///< Acknowledged and not yet confirmed as running.
  std::uint32_t unwanted_epoch = 0;        ///< It may hold this aborted one until it says that it does not.
  std::uint32_t highest_opened_round = 0;  ///< The highest of its ACKs to the change in progress.
  std::string refusal;  ///< Why it last refused the committed epoch; empty once it took it.
  bool dead = false;    ///< So the survivors say; its next hello says otherwise.
  std::vector<schedule::SiteId> multicast_sites{};  ///< As it said in its hello.
  Nanoseconds resend_at_ns = kNever;
};

/// Why an edge stands in the way of a change.
struct EdgeProblem {
  EdgeName edge;
  std::string reason;
  bool draining = false;  ///< StageNack's.
};

/// How a proposed change ended.
struct ChangeOutcome {
  enum class Kind {
    kInstalled,    ///< Every edge runs the new epoch.
    kUnconfirmed,  ///< Committed; the named edges have not confirmed in time. They are still being told.
    kAborted,      ///< The old epoch stays, everywhere, because of the named edges.
    kSuperseded,   ///< A newer controller rules; it decides.
  };
  Kind kind = Kind::kAborted;
  std::uint32_t epoch = 0;
  std::uint32_t activating_round = 0;  ///< 0 unless committed.
  std::vector<EdgeProblem> problems;
};

/// "epoch 7 aborted: LON: arena too small; TYO: no answer in time".
std::string to_string(const ChangeOutcome& outcome);

/// Messages that changed nothing.
struct ControllerCounters {
  std::uint64_t unknown_edge =
      0;  ///< From a site that is not in the set, or a hello that contradicts its stream.
  std::uint64_t old_session = 0;  ///< From a life of the edge that is over, or before its hello.
  std::uint64_t unexpected = 0;   ///< About an epoch that is no longer of interest.
};

struct ControllerAction {
  schedule::SiteId site = 0;
  ToEdge message;
};

/// Installs epochs on a set of edges, all or none, one change at a time. A pure state machine: each call
/// takes an event and the time, and returns what to send. It keeps a picture of every edge and sends what
/// that edge needs next, again and again, until the edge says that it has it: a new epoch, a COMMIT that got
/// lost and an edge that comes back after a week are one mechanism.
///
/// The caller stores state() (when revision() has changed) BEFORE it sends the actions: a decision to commit,
/// or an epoch number, that an edge has heard of is then never forgotten. Storing must fail once a later term
/// has been stored, and the actions are then dropped: that is what keeps two controllers from deciding
/// differently.
class Controller {
 public:
  using Actions = std::vector<ControllerAction>;
  enum class Phase { kIdle, kStaging, kCommitting };

  /// Rules under the term after `stored.term`. Errors: kInvalidInput for an unusable option, a site or name
  /// that appears twice.
  static Result<Controller> create(std::vector<EdgeName> edges, const ControllerOptions& options,
                                   ControllerState stored = {});

  /// Starts the change to `plan`; `activation_margin` 0: that of the options. Errors: kUnavailable while a
  /// change is in progress, or when a newer controller rules; kInvalidInput for an epoch that is not newer
  /// than every one used, or sites other than the edges'. `order` is kept with the plan once it is committed.
  Result<Actions> propose(std::shared_ptr<const schedule::EpochPlan> plan, Nanoseconds now_ns,
                          std::uint32_t activation_margin = 0, std::string order = {});

  Actions receive(EdgeIdentity from, const ToController& message, Nanoseconds now_ns);

  /// The stream of this life of an edge ended. Its part in a change stays open until the deadline: it may be
  /// back.
  void disconnected(EdgeIdentity edge);

  /// The edge is known to be dead: a change does not wait for its answer any longer. One that is not decided
  /// is aborted, one that is ends without its confirmation.
  Actions died(schedule::SiteId site, Nanoseconds now_ns);

  /// To be called at next_timer_ns() or soon after.
  Actions on_timer(Nanoseconds now_ns);
  Nanoseconds next_timer_ns() const;

  /// The set of edges changes between changes of epoch only: an edge that is lost for long is removed, so
  /// that the next epoch does not wait for it, and added again when it is back. Errors: kUnavailable during
  /// a change, kInvalidInput for a site or name that is there already, kNotFound.
  Status add_edge(EdgeName edge);
  Status remove_edge(schedule::SiteId site);

  Phase phase() const { return phase_; }
  bool superseded() const { return superseded_; }
  /// The lowest number that a new plan may have.
  std::uint32_t next_epoch() const { return state_.newest_epoch + 1; }
  const ControllerState& state() const { return state_; }
  std::uint64_t revision() const { return revision_; }
  const std::vector<EdgeView>& edges() const { return edges_; }
  /// Of the last change, once it has ended.
  const std::optional<ChangeOutcome>& outcome() const { return outcome_; }
  const ControllerCounters& counters() const { return counters_; }

 private:
  Controller(const ControllerOptions& options, ControllerState stored);

  void on_message(EdgeView& edge, const StageAck& ack, Nanoseconds now_ns, Actions& actions);
  void on_message(EdgeView& edge, const StageNack& nack, Nanoseconds now_ns, Actions& actions);
  void on_message(EdgeView& edge, const CommitAck& ack, Nanoseconds now_ns, Actions& actions);
  void on_message(EdgeView& edge, const AbortAck& ack, Nanoseconds now_ns, Actions& actions);
  void on_hello(EdgeIdentity from, EdgeView& edge, const EdgeHello& hello, Nanoseconds now_ns,
                Actions& actions);

  Status check_proposal(const schedule::EpochPlan* plan) const;
  void expire(Nanoseconds now_ns, Actions& actions);
  void decide(Nanoseconds now_ns, Actions& actions);
  void abort_change(std::vector<EdgeProblem> problems, Nanoseconds now_ns, Actions& actions);
  void supersede(const EdgeView& edge, Term term);
  void finish(ChangeOutcome::Kind kind, std::vector<EdgeProblem> problems);
  void finish_if_installed();
  void set_running(EdgeView& edge, std::uint32_t epoch);
  std::vector<EdgeProblem> silent_edges() const;

  bool answered(const EdgeView& edge) const;
  std::optional<ToEdge> next_message(const EdgeView& edge) const;
  void send(EdgeView& edge, Nanoseconds now_ns, Actions& actions);
  void send_all(Nanoseconds now_ns, Actions& actions);
  EdgeView* find(schedule::SiteId site);

  ControllerOptions options_;
  ControllerState state_;
  std::uint64_t revision_ = 1;
  std::vector<EdgeView> edges_;
  Phase phase_ = Phase::kIdle;
  std::shared_ptr<const schedule::EpochPlan> proposed_;  ///< While staging.
  std::string proposed_order_;                           ///< Likewise.
  std::uint32_t activation_margin_ = 0;                  ///< Of the change in progress.
  Nanoseconds deadline_ns_ = kNever;
  bool superseded_ = false;
  std::optional<ChangeOutcome> outcome_;
  ControllerCounters counters_;
};

}  // namespace tombolo::control
