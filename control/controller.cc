#include "control/controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/serial.h"

namespace tombolo::control {

Result<Controller> Controller::create(std::vector<EdgeName> edges, const ControllerOptions& options,
                                      ControllerState stored) {
  if (options.activation_margin == 0) return invalid_input("activation_margin must be at least 1");
  if (options.resend_interval_ns == 0) return invalid_input("resend_interval_ns must not be 0");
  if (options.stage_timeout_ns == 0) return invalid_input("stage_timeout_ns must not be 0");
  if (options.commit_timeout_ns == 0) return invalid_input("commit_timeout_ns must not be 0");
  Controller controller(options, std::move(stored));
  for (EdgeName& edge : edges) {
    if (Status added = controller.add_edge(std::move(edge)); !added.ok()) return std::move(added).error();
  }
  return controller;
}

Controller::Controller(const ControllerOptions& options, ControllerState stored)
    : options_(options), state_(std::move(stored)) {
  ++state_.term;
  state_.newest_epoch = std::max(state_.newest_epoch, state_.committed_epoch());
}

Status Controller::add_edge(EdgeName edge) {
  if (phase_ != Phase::kIdle) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("edge {}: a change of epoch is in progress", edge.name)};
  }
  for (const EdgeView& other : edges_) {
    if (other.id.site == edge.site || other.id.name == edge.name) {
      return invalid_input(fmt::format("edge {} (site {}) is there already as {} (site {})", edge.name,
                                       edge.site, other.id.name, other.id.site));
    }
  }
  EdgeView view;
  view.id = std::move(edge);
  edges_.push_back(std::move(view));
  return ok_status();
}

Status Controller::remove_edge(schedule::SiteId site) {
  if (phase_ != Phase::kIdle) {
    return Error{ErrorCode::kUnavailable, fmt::format("site {}: a change of epoch is in progress", site)};
  }
  const auto is_site = [site](const EdgeView& edge) { return edge.id.site == site; };
  if (std::erase_if(edges_, is_site) == 0) {
    return Error{ErrorCode::kNotFound, fmt::format("site {} has no edge", site)};
  }
  return ok_status();
}

Status Controller::check_proposal(const schedule::EpochPlan* plan) const {
  if (plan == nullptr) return invalid_input("there is no plan to propose");
  const std::string where = fmt::format("epoch {}", plan->epoch);
  if (superseded_) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("{}: a newer controller than term {} rules", where, state_.term)};
  }
  if (phase_ != Phase::kIdle) {
    return Error{ErrorCode::kUnavailable,
                 fmt::format("{}: the change to epoch {} is in progress", where,
                             proposed_ ? proposed_->epoch : state_.committed_epoch())};
  }
  if (plan->epoch <= state_.newest_epoch) {
    return invalid_input(fmt::format("{}: numbers up to {} have been used", where, state_.newest_epoch));
  }
  if (edges_.empty()) return invalid_input(where + ": there is no edge to install it on");
  for (const EdgeView& edge : edges_) {
    const auto& names = plan->site_names;
    if (edge.id.site >= names.size() || names[edge.id.site] != edge.id.name) {
      return invalid_input(
          fmt::format("{}: edge {} is not site {} of the plan", where, edge.id.name, edge.id.site));
    }
  }
  return ok_status();
}

Result<Controller::Actions> Controller::propose(std::shared_ptr<const schedule::EpochPlan> plan,
                                                Nanoseconds now_ns, std::uint32_t activation_margin,
                                                std::string order) {
  if (Status valid = check_proposal(plan.get()); !valid.ok()) return std::move(valid).error();
  state_.newest_epoch = plan->epoch;
  ++revision_;
  proposed_ = std::move(plan);
  proposed_order_ = std::move(order);
  phase_ = Phase::kStaging;
  deadline_ns_ = now_ns + options_.stage_timeout_ns;
  activation_margin_ = activation_margin != 0 ? activation_margin : options_.activation_margin;
  outcome_.reset();
  for (EdgeView& edge : edges_) edge.highest_opened_round = 0;
  Actions actions;
  send_all(now_ns, actions);
  return actions;
}

Controller::Actions Controller::receive(EdgeIdentity from, const ToController& message, Nanoseconds now_ns) {
  Actions actions;
  if (superseded_) return actions;
  // A deadline holds even when the timer is late.
  expire(now_ns, actions);
  EdgeView* edge = find(from.site);
  if (edge == nullptr) {
    ++counters_.unknown_edge;
  } else if (const auto* hello = std::get_if<EdgeHello>(&message)) {
    on_hello(from, *edge, *hello, now_ns, actions);
  } else if (!edge->connected || edge->session != from.session) {
    ++counters_.old_session;
  } else if (const auto* stage_ack = std::get_if<StageAck>(&message)) {
    on_message(*edge, *stage_ack, now_ns, actions);
  } else if (const auto* nack = std::get_if<StageNack>(&message)) {
    on_message(*edge, *nack, now_ns, actions);
  } else if (const auto* commit_ack = std::get_if<CommitAck>(&message)) {
    on_message(*edge, *commit_ack, now_ns, actions);
  } else {
    on_message(*edge, std::get<AbortAck>(message), now_ns, actions);
  }
  return actions;
}

void Controller::on_hello(EdgeIdentity from, EdgeView& edge, const EdgeHello& hello, Nanoseconds now_ns,
                          Actions& actions) {
  if (from != EdgeIdentity{hello.site, hello.session}) {
    ++counters_.unknown_edge;
    return;
  }
  if (edge.session && serial_before(hello.session, *edge.session)) {
    ++counters_.old_session;
    return;
  }
  if (hello.term > state_.term) return supersede(edge, hello.term);
  if (edge.session != hello.session) {
    // A new life has what it says that it has, and nothing of what its former life acknowledged.
    EdgeName id = std::move(edge.id);
    edge = EdgeView{};
    edge.id = std::move(id);
    edge.session = hello.session;
  }
  edge.connected = true;
  edge.dead = false;
  edge.multicast_sites = hello.multicast_sites;
  if (hello.newest_epoch > state_.newest_epoch) {
    state_.newest_epoch = hello.newest_epoch;
    ++revision_;
  }
  set_running(edge, std::max(edge.running_epoch, hello.committed_epoch));
  // The committed epoch may be committed at once. A proposed one needs its ACK, which names the opened
  // rounds, so a hello can withdraw it but not give it. Anything else that the edge holds is a remnant of an
  // aborted change.
  if (hello.staged_epoch != edge.staged_epoch) edge.staged_epoch = 0;
  if (hello.staged_epoch > edge.running_epoch) {
    if (hello.staged_epoch == state_.committed_epoch()) {
      edge.staged_epoch = hello.staged_epoch;
    } else if (!proposed_ || hello.staged_epoch != proposed_->epoch) {
      edge.unwanted_epoch = hello.staged_epoch;
    }
  }
  finish_if_installed();
  send(edge, now_ns, actions);
}

void Controller::on_message(EdgeView& edge, const StageAck& ack, Nanoseconds now_ns, Actions& actions) {
  if (ack.epoch <= edge.running_epoch) {
    ++counters_.unexpected;
    return;
  }
  if (proposed_ && ack.epoch == proposed_->epoch) {
    edge.staged_epoch = ack.epoch;
    edge.highest_opened_round = std::max(edge.highest_opened_round, ack.highest_opened_round);
    edge.resend_at_ns = kNever;
    if (std::all_of(edges_.begin(), edges_.end(), [this](const EdgeView& each) { return answered(each); })) {
      decide(now_ns, actions);
    }
    return;
  }
  if (ack.epoch == state_.committed_epoch()) {
    edge.staged_epoch = ack.epoch;
    edge.refusal.clear();
  } else {
    // It holds an epoch that has been aborted: the STAGE came late.
    ++counters_.unexpected;
    edge.unwanted_epoch = ack.epoch;
  }
  send(edge, now_ns, actions);
}

void Controller::on_message(EdgeView& edge, const StageNack& nack, Nanoseconds now_ns, Actions& actions) {
  if (proposed_ && nack.epoch == proposed_->epoch) {
    abort_change({EdgeProblem{edge.id, nack.reason, nack.draining}}, now_ns, actions);
  } else if (nack.epoch == state_.committed_epoch() && edge.running_epoch < nack.epoch) {
    // The others run it, so it stays on offer; the pause lets the edge drain or be repaired.
    edge.refusal = nack.reason;
    edge.resend_at_ns = now_ns + options_.resend_interval_ns;
  } else if (outcome_ && outcome_->kind == ChangeOutcome::Kind::kAborted && outcome_->epoch == nack.epoch) {
    const auto names_edge = [&edge](const EdgeProblem& each) { return each.edge.site == edge.id.site; };
    auto& problems = outcome_->problems;
    if (std::none_of(problems.begin(), problems.end(), names_edge))
      problems.push_back({edge.id, nack.reason, nack.draining});
  } else {
    ++counters_.unexpected;
  }
}

void Controller::on_message(EdgeView& edge, const CommitAck& ack, Nanoseconds now_ns, Actions& actions) {
  set_running(edge, std::max(edge.running_epoch, ack.epoch));
  finish_if_installed();
  send(edge, now_ns, actions);
}

void Controller::on_message(EdgeView& edge, const AbortAck& ack, Nanoseconds now_ns, Actions& actions) {
  if (edge.unwanted_epoch != ack.epoch) {
    ++counters_.unexpected;
    return;
  }
  edge.unwanted_epoch = 0;
  send(edge, now_ns, actions);
}

void Controller::disconnected(EdgeIdentity identity) {
  EdgeView* edge = find(identity.site);
  if (edge == nullptr || edge->session != identity.session) return;
  edge->connected = false;
  edge->resend_at_ns = kNever;
}

Controller::Actions Controller::died(schedule::SiteId site, Nanoseconds now_ns) {
  Actions actions;
  EdgeView* edge = find(site);
  if (edge == nullptr || edge->connected || phase_ == Phase::kIdle || answered(*edge)) return actions;
  edge->dead = true;
  const bool only_dead_are_silent = std::all_of(
      edges_.begin(), edges_.end(), [this](const EdgeView& each) { return each.dead || answered(each); });
  if (phase_ == Phase::kStaging)
    abort_change({EdgeProblem{edge->id, "died"}}, now_ns, actions);
  else if (only_dead_are_silent)
    finish(ChangeOutcome::Kind::kUnconfirmed, silent_edges());
  return actions;
}

Controller::Actions Controller::on_timer(Nanoseconds now_ns) {
  Actions actions;
  expire(now_ns, actions);
  for (EdgeView& edge : edges_) {
    if (edge.resend_at_ns <= now_ns) send(edge, now_ns, actions);
  }
  return actions;
}

Nanoseconds Controller::next_timer_ns() const {
  Nanoseconds next_ns = deadline_ns_;
  for (const EdgeView& edge : edges_) next_ns = std::min(next_ns, edge.resend_at_ns);
  return next_ns;
}

void Controller::expire(Nanoseconds now_ns, Actions& actions) {
  if (now_ns < deadline_ns_) return;
  if (phase_ == Phase::kStaging) {
    abort_change(silent_edges(), now_ns, actions);
  } else {
    finish(ChangeOutcome::Kind::kUnconfirmed, silent_edges());
  }
}

/// Every edge has staged the proposed epoch: from here on it is the committed one.
void Controller::decide(Nanoseconds now_ns, Actions& actions) {
  // The last activating round counts as opened: epochs begin one after the other, even if nothing ran
  // between. The very first epoch begins with round 0.
  const bool first = !state_.plan && std::all_of(edges_.begin(), edges_.end(), [](const EdgeView& edge) {
    return edge.running_epoch == 0 && edge.highest_opened_round == 0;
  });
  std::uint64_t highest = state_.activating_round;
  for (const EdgeView& edge : edges_) highest = std::max<std::uint64_t>(highest, edge.highest_opened_round);
  const std::uint64_t activating = first ? 0 : highest + activation_margin_;
  if (activating > std::numeric_limits<std::uint32_t>::max()) {
    std::vector<EdgeProblem> problems;
    for (const EdgeView& edge : edges_) {
      if (edge.highest_opened_round != highest) continue;
      problems.push_back({edge.id, fmt::format("round {} is open: no round number is left", highest)});
    }
    return abort_change(std::move(problems), now_ns, actions);
  }
  state_.plan = std::exchange(proposed_, nullptr);
  state_.order = std::move(proposed_order_);
  state_.activating_round = static_cast<std::uint32_t>(activating);
  ++revision_;
  phase_ = Phase::kCommitting;
  deadline_ns_ = now_ns + options_.commit_timeout_ns;
  send_all(now_ns, actions);
}

void Controller::abort_change(std::vector<EdgeProblem> problems, Nanoseconds now_ns, Actions& actions) {
  const std::uint32_t epoch = proposed_->epoch;
  finish(ChangeOutcome::Kind::kAborted, std::move(problems));
  for (EdgeView& edge : edges_) {
    if (edge.staged_epoch == epoch) edge.staged_epoch = 0;
    // An edge without a stream has nothing in this life that its next hello will not show.
    if (edge.connected && edge.unwanted_epoch == 0) edge.unwanted_epoch = epoch;
  }
  send_all(now_ns, actions);
}

/// The edge obeys a newer controller, so this one must not touch anything any more.
void Controller::supersede(const EdgeView& edge, Term term) {
  superseded_ = true;
  for (EdgeView& each : edges_) each.resend_at_ns = kNever;
  if (phase_ == Phase::kIdle) return;
  finish(ChangeOutcome::Kind::kSuperseded,
         {EdgeProblem{edge.id, fmt::format("obeys term {}, this is {}", term, state_.term)}});
}

void Controller::finish(ChangeOutcome::Kind kind, std::vector<EdgeProblem> problems) {
  outcome_ = ChangeOutcome{.kind = kind, .epoch = 0, .activating_round = 0, .problems = std::move(problems)};
  if (phase_ == Phase::kStaging) {
    outcome_->epoch = proposed_->epoch;
  } else {
    outcome_->epoch = state_.committed_epoch();
    outcome_->activating_round = state_.activating_round;
  }
  proposed_.reset();
  phase_ = Phase::kIdle;
  deadline_ns_ = kNever;
}

void Controller::finish_if_installed() {
  if (phase_ != Phase::kCommitting) return;
  if (!std::all_of(edges_.begin(), edges_.end(), [this](const EdgeView& each) { return answered(each); }))
    return;
  finish(ChangeOutcome::Kind::kInstalled, {});
}

void Controller::set_running(EdgeView& edge, std::uint32_t epoch) {
  edge.running_epoch = epoch;
  if (edge.staged_epoch <= epoch) edge.staged_epoch = 0;
  if (edge.unwanted_epoch <= epoch) edge.unwanted_epoch = 0;
  if (epoch >= state_.committed_epoch()) edge.refusal.clear();
}

std::vector<EdgeProblem> Controller::silent_edges() const {
  std::vector<EdgeProblem> problems;
  for (const EdgeView& edge : edges_) {
    if (answered(edge)) continue;
    std::string reason = "no answer in time";
    if (!edge.connected) reason = edge.dead ? "died" : "not connected";
    if (!edge.refusal.empty()) reason = edge.refusal;
    problems.push_back({edge.id, std::move(reason)});
  }
  return problems;
}

/// Whether the change in progress still waits for this edge.
bool Controller::answered(const EdgeView& edge) const {
  if (phase_ == Phase::kStaging) return edge.staged_epoch == proposed_->epoch;
  return edge.running_epoch >= state_.committed_epoch();
}

/// What the edge needs next. The order is what makes epochs of an edge follow one another: remnants go first,
/// then it catches up with the committed epoch, and only then does it hear of a proposed one.
std::optional<ToEdge> Controller::next_message(const EdgeView& edge) const {
  if (superseded_ || !edge.connected) return std::nullopt;
  if (edge.unwanted_epoch != 0) return Abort{state_.term, edge.unwanted_epoch};
  const std::uint32_t committed = state_.committed_epoch();
  if (edge.running_epoch < committed) {
    if (edge.staged_epoch == committed) return Commit{state_.term, committed, state_.activating_round};
    return Stage{state_.term, committed, state_.plan};
  }
  if (proposed_ && edge.staged_epoch != proposed_->epoch)
    return Stage{state_.term, proposed_->epoch, proposed_};
  return std::nullopt;
}

void Controller::send(EdgeView& edge, Nanoseconds now_ns, Actions& actions) {
  std::optional<ToEdge> message = next_message(edge);
  edge.resend_at_ns = message ? now_ns + options_.resend_interval_ns : kNever;
  if (message) actions.push_back({edge.id.site, std::move(*message)});
}

void Controller::send_all(Nanoseconds now_ns, Actions& actions) {
  for (EdgeView& edge : edges_) send(edge, now_ns, actions);
}

EdgeView* Controller::find(schedule::SiteId site) {
  const auto found = std::find_if(edges_.begin(), edges_.end(),
                                  [site](const EdgeView& edge) { return edge.id.site == site; });
  return found == edges_.end() ? nullptr : &*found;
}

std::string to_string(const ChangeOutcome& outcome) {
  std::string text = fmt::format("epoch {} ", outcome.epoch);
  switch (outcome.kind) {
    case ChangeOutcome::Kind::kInstalled:
      text += fmt::format("runs from round {}", outcome.activating_round);
      break;
    case ChangeOutcome::Kind::kUnconfirmed:
      text += fmt::format("committed from round {}, not confirmed", outcome.activating_round);
      break;
    case ChangeOutcome::Kind::kAborted:
      text += "aborted";
      break;
    case ChangeOutcome::Kind::kSuperseded:
      text += "left to a newer controller";
      break;
  }
  const char* separator = ": ";
  for (const EdgeProblem& problem : outcome.problems) {
    text += fmt::format("{}{}: {}", separator, problem.edge.name, problem.reason);
    separator = "; ";
  }
  return text;
}

}  // namespace tombolo::control
