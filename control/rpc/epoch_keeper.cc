#include "control/rpc/epoch_keeper.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tombolo::control {
namespace {

/// After a loss the rounds that need what is lost fail: the sooner the new epoch begins, the better.
constexpr std::uint32_t kMarginAfterLoss = 1;

bool is_committed(const ChangeOutcome& outcome) {
  return outcome.kind == ChangeOutcome::Kind::kInstalled || outcome.kind == ChangeOutcome::Kind::kUnconfirmed;
}

bool only_draining(const ChangeOutcome& outcome) {
  return outcome.kind == ChangeOutcome::Kind::kAborted &&
         std::all_of(outcome.problems.begin(), outcome.problems.end(),
                     [](const EdgeProblem& problem) { return problem.draining; });
}

}  // namespace

EpochKeeper::EpochKeeper(const schedule::Network& network, Nominal nominal, const KeeperOptions& options,
                         Controller& controller, const SurvivorPolicy& policy, LogSink log)
    : network_(network),
      nominal_(std::move(nominal)),
      options_(options),
      controller_(controller),
      policy_(policy),
      log_(std::move(log)),
      pause_ns_(options.least_pause_ns) {}

void EpochKeeper::order(Nominal nominal, Nanoseconds now_ns, Done done) {
  if (order_) return done(Error{ErrorCode::kUnavailable, "another installation is in progress"});
  if (!controller_.state().plan && !all_connected()) return done(Error{ErrorCode::kUnavailable, trouble_});
  order_ = Order{std::move(nominal), now_ns, now_ns + options_.drain_patience_ns, std::move(done)};
}

void EpochKeeper::refuse_order(Error error) {
  if (!order_) return;
  const Done done = std::move(order_->done);
  order_.reset();
  order_under_way_ = false;
  done(std::move(error));
}

Nanoseconds EpochKeeper::next_timer_ns() const {
  if (controller_.phase() != Controller::Phase::kIdle) return kNever;
  return order_ ? std::min(order_->due_ns, retry_at_ns_) : retry_at_ns_;
}

Controller::Actions EpochKeeper::step(Nanoseconds now_ns) {
  if (controller_.phase() != Controller::Phase::kIdle) return let_go_of_the_dead(now_ns);
  if (std::exchange(under_way_, false) && controller_.outcome()) on_ended(*controller_.outcome(), now_ns);
  if (controller_.superseded()) {
    retry_at_ns_ = kNever;
    set_trouble("a newer controller rules");
    refuse_order({ErrorCode::kUnavailable, trouble_});
    return {};
  }
  if (!controller_.state().plan && !all_connected()) return {};
  listen_to_hellos();
  const Circumstances now = circumstances();
  sync_edges(now.survivors);
  if (order_) return order_->due_ns <= now_ns ? propose(order_->nominal, now_ns) : Controller::Actions{};
  if (installed_for_ == now) {
    // Perhaps because what was lost came back before anything could be done about it.
    retry_at_ns_ = kNever;
    set_trouble("");
    return {};
  }
  if (impossible_for_ == now) {
    retry_at_ns_ = kNever;
    return {};
  }
  // What has changed since the last attempt need not wait for its pause.
  if (proposed_for_ == now && retry_at_ns_ != kNever && now_ns < retry_at_ns_) return {};
  return propose(nominal_, now_ns);
}

void EpochKeeper::listen_to_hellos() {
  for (const EdgeView& edge : controller_.edges())
    if (edge.connected) multicast_sites_[edge.id.site] = edge.multicast_sites;
}

EpochKeeper::Circumstances EpochKeeper::circumstances() const {
  Circumstances now{policy_.survivors(), {}};
  if (nominal_.native_multicast.count != 0)
    now.native = native_links(network_, multicast_sites_, controller_.state().plan.get());
  return now;
}

/// A change in progress does not wait for those who cannot answer; what follows it is the next turn's.
Controller::Actions EpochKeeper::let_go_of_the_dead(Nanoseconds now_ns) {
  Controller::Actions actions;
  for (const schedule::SiteId site : policy_.survivors().dead_sites)
    for (ControllerAction& action : controller_.died(site, now_ns)) actions.push_back(std::move(action));
  return actions;
}

/// The first epoch needs every edge that is configured: none has been seen yet that could be called dead.
bool EpochKeeper::all_connected() {
  std::vector<std::string> missing;
  for (const EdgeView& edge : controller_.edges())
    if (!edge.connected) missing.push_back(edge.id.name);
  if (missing.empty()) return true;
  set_trouble(fmt::format("waiting for the edges {} before the first epoch", fmt::join(missing, ", ")));
  return false;
}

void EpochKeeper::set_trouble(std::string trouble) {
  if (trouble == trouble_) return;
  trouble_ = std::move(trouble);
  if (!trouble_.empty()) log(log_, LogLevel::kWarning, "wanted epoch not installed", {{"reason", trouble_}});
}

Controller::Actions EpochKeeper::propose(const Nominal& nominal, Nanoseconds now_ns) {
  const Circumstances now = circumstances();
  const Survivors& survivors = now.survivors;
  retry_at_ns_ = kNever;
  auto plan = make_wanted_plan(network_, nominal, survivors, controller_.next_epoch(), now.native);
  if (!plan) {
    if (order_) {
      refuse_order(plan.error());
      retry_at_ns_ = now_ns;  // For what was put off in favour of the order.
      return {};
    }
    impossible_for_ = now;
    set_trouble(plan.error().message);
    return {};
  }
  const auto& running = controller_.state().plan;
  if (!order_ && running && same_but_epoch(*plan, *running)) {
    installed_for_ = now;
    set_trouble("");
    return {};
  }
  const bool lost_something = running && (running->lost_links.size() < plan->lost_links.size() ||
                                          running->lost_ranks.size() < plan->lost_ranks.size());
  auto actions = controller_.propose(std::make_shared<const schedule::EpochPlan>(std::move(plan).value()),
                                     now_ns, lost_something ? kMarginAfterLoss : 0, nominal.order);
  if (!actions) {
    if (order_) refuse_order(actions.error());
    set_trouble(actions.error().message);
    retry_later(now_ns);
    return {};
  }
  log(log_, LogLevel::kInfo, "epoch proposed",
      {{"epoch", controller_.next_epoch() - 1},
       {"schedule", nominal.schedule.name},
       {"dead_sites", survivors.dead_sites.size()},
       {"lost_links", survivors.lost_links.size()},
       {"lost_islands", survivors.lost_islands.size()}});
  under_way_ = true;
  order_under_way_ = order_.has_value();
  proposed_for_ = now;
  return std::move(actions).value();
}

void EpochKeeper::sync_edges(const Survivors& survivors) {
  std::vector<bool> present(network_.site_names.size(), false);
  for (const EdgeView& edge : controller_.edges()) present[edge.id.site] = true;
  for (std::size_t i = 0; i < present.size(); ++i) {
    const auto site = static_cast<schedule::SiteId>(i);
    const bool dead = survivors.dead_sites.contains(site);
    if (present[i] != dead) continue;
    // Between changes neither can fail.
    const Status changed =
        dead ? controller_.remove_edge(site) : controller_.add_edge(EdgeName{site, network_.site_names[i]});
    CHECK(changed.ok());
    log(log_, LogLevel::kWarning, dead ? "edge taken out" : "edge put back",
        {{"edge", network_.site_names[i]}});
  }
}

void EpochKeeper::on_ended(const ChangeOutcome& outcome, Nanoseconds now_ns) {
  const bool committed = is_committed(outcome);
  log(log_, outcome.kind == ChangeOutcome::Kind::kInstalled ? LogLevel::kInfo : LogLevel::kWarning,
      committed ? "epoch installed" : "epoch not installed",
      {{"epoch", outcome.epoch}, {"round", outcome.activating_round}, {"outcome", to_string(outcome)}});
  if (committed) {
    pause_ns_ = options_.least_pause_ns;
    retry_at_ns_ = kNever;
    installed_for_ = proposed_for_;
    impossible_for_.reset();
    set_trouble("");
  } else {
    set_trouble(to_string(outcome));
    retry_later(now_ns);
  }
  if (!std::exchange(order_under_way_, false) || !order_) return;
  if (only_draining(outcome) && now_ns < order_->give_up_ns) {
    order_->due_ns = now_ns + options_.least_pause_ns;
    return;
  }
  Order ended = std::move(*order_);
  order_.reset();
  if (committed) {
    nominal_ = std::move(ended.nominal);
  } else {
    // What was wanted before is what runs, and the trouble was the order's.
    pause_ns_ = options_.least_pause_ns;
    set_trouble("");
  }
  ended.done(outcome);
}

void EpochKeeper::retry_later(Nanoseconds now_ns) {
  retry_at_ns_ = now_ns + pause_ns_;
  pause_ns_ = std::min(2 * pause_ns_, options_.most_pause_ns);
}

}  // namespace tombolo::control
