#include "control/rpc/controller_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "control/rpc/control_server.h"
#include "control/store/state_store.h"

namespace tombolo::control {
namespace {

/// The loop looks round at least this often, so that a wake-up that was missed costs no more.
constexpr Nanoseconds kLongestWait = 200 * kMillisecond;

Status check_topology(const ControllerState& state, const schedule::Network& network) {
  if (!state.plan || state.plan->site_names == network.site_names) return ok_status();
  return invalid_input(
      fmt::format("the stored epoch {} is of another topology; give the controller and the edges new state "
                  "folders, or the old topology",
                  state.committed_epoch()));
}

std::vector<EdgeName> living_edges(const schedule::Network& network, const Survivors& survivors) {
  std::vector<EdgeName> edges;
  for (std::size_t i = 0; i < network.site_names.size(); ++i) {
    const auto site = static_cast<schedule::SiteId>(i);
    if (!survivors.dead_sites.contains(site)) edges.push_back({site, network.site_names[i]});
  }
  return edges;
}

}  // namespace

class ControllerService::Impl {
 public:
  Impl(ControllerServiceConfig config, StateFolder folder, LogSink log)
      : config_(std::move(config)),
        log_(std::move(log)),
        folder_(std::move(folder)),
        store_(folder_),
        policy_(config_.network, config_.survivors) {}
  ~Impl();

  Status start();
  int port() const { return server_->port(); }
  ControllerStatus status() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }
  Result<ChangeOutcome> install(const InstallOrder& order);

 private:
  struct Waiting {
    InstallOrder order;
    std::promise<Result<ChangeOutcome>> answer;
  };

  void run();
  void on_event(const ServerEvent& event, Nanoseconds now_ns);
  void take_orders(Nanoseconds now_ns);
  void after(const Controller::Actions& actions);
  bool store();
  Nanoseconds wait_ns(Nanoseconds now_ns) const;
  void publish();
  void add_edges(ControllerStatus& status) const;
  void count_outcome();
  void give_answers();
  std::string island_name(std::uint16_t rank) const;

  const ControllerServiceConfig config_;
  const LogSink log_;
  StateFolder folder_;
  ControllerStore store_;
  SurvivorPolicy policy_;
  std::optional<Controller> controller_;
  std::optional<EpochKeeper> keeper_;
  std::unique_ptr<ControlServer> server_;
  std::unique_ptr<LocalServer> door_;
  MonotonicClock clock_;
  std::uint64_t stored_revision_ = 0;
  bool fenced_ = false;  ///< A later term is on disk: this controller is over.
  bool store_failed_ = false;
  std::map<schedule::SiteId, std::vector<LinkState>> links_;
  std::optional<ChangeOutcome> counted_outcome_;
  ControllerStatus totals_;  ///< Its counts only.
  std::vector<std::function<void()>> answers_;
  std::thread thread_;
  std::atomic<bool> stop_{false};

  mutable std::mutex mutex_;  ///< Of what follows.
  ControllerStatus status_;
  std::vector<Waiting> waiting_;
  bool closed_ = false;
};

Status ControllerService::Impl::start() {
  auto stored = store_.load();
  if (!stored) return std::move(stored).error();
  if (Status same = check_topology(*stored, config_.network); !same) return same;
  // A schedule that cannot be run is named now, not when the last edge has dialled.
  auto nominal = resume_order(stored->order, config_.nominal, config_.network);
  if (!nominal) return std::move(nominal).error();
  if (auto plan = make_wanted_plan(config_.network, *nominal, {}, 1); !plan) return std::move(plan).error();
  if (!stored->order.empty() && nominal->order.empty())
    log(log_, LogLevel::kWarning, "order dropped", {{"reason", "the configuration has changed since"}});
  if (stored->plan) policy_.resume(*stored->plan);
  auto created = Controller::create(living_edges(config_.network, policy_.survivors()), config_.controller,
                                    std::move(stored).value());
  if (!created) return std::move(created).error();
  controller_.emplace(std::move(created).value());
  // The new term is on disk before anybody hears of it.
  if (Status saved = store_.save(controller_->state()); !saved) return saved;
  stored_revision_ = controller_->revision();
  keeper_.emplace(config_.network, std::move(nominal).value(), config_.keeper, *controller_, policy_, log_);
  auto server = ControlServer::start(config_.transport, config_.network.site_names, log_);
  if (!server) return std::move(server).error();
  server_ = std::move(server).value();
  publish();
  if (!config_.operator_socket.empty()) {
    auto door =
        LocalServer::start(config_.operator_socket,
                           OperatorHandlers{[this] { return to_json(status()); },
                                            [this](const InstallOrder& order) { return install(order); }});
    if (!door) return std::move(door).error();
    door_ = std::move(door).value();
  }
  log(log_, LogLevel::kInfo, "controller started",
      {{"epoch", controller_->state().committed_epoch()},
       {"term", controller_->state().term},
       {"address", config_.transport.address},
       {"port", server_->port()}});
  thread_ = std::thread([this] { run(); });
  return ok_status();
}

ControllerService::Impl::~Impl() {
  if (thread_.joinable()) {
    stop_ = true;
    server_->wake();
    thread_.join();
  }
  const Error over{ErrorCode::kUnavailable, "the controller stops"};
  if (keeper_) keeper_->refuse_order(over);
  give_answers();
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (Waiting& waiting : waiting_) waiting.answer.set_value(over);
    waiting_.clear();
  }
  // Its calls have their answers by now.
  door_.reset();
}

Result<ChangeOutcome> ControllerService::Impl::install(const InstallOrder& order) {
  std::future<Result<ChangeOutcome>> answer;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return Error{ErrorCode::kUnavailable, "the controller stops"};
    answer = waiting_.emplace_back(Waiting{order, {}}).answer.get_future();
  }
  server_->wake();
  return answer.get();
}

void ControllerService::Impl::run() {
  while (!stop_) {
    const Nanoseconds patience_ns = wait_ns(clock_.now_ns());
    const auto events = server_->take(std::chrono::nanoseconds(patience_ns));
    const Nanoseconds now_ns = clock_.now_ns();
    for (const ServerEvent& event : events) on_event(event, now_ns);
    if (controller_->next_timer_ns() <= now_ns) after(controller_->on_timer(now_ns));
    policy_.advance(now_ns);
    take_orders(now_ns);
    // A change may end and the next one begin in one turn.
    count_outcome();
    if (!fenced_) after(keeper_->step(now_ns));
    // What the disk refused is offered to it again.
    if (!fenced_ && controller_->revision() != stored_revision_) store();
    count_outcome();
    publish();
    give_answers();
  }
}

/// After what they tell of has been published: who asks for the status next must find it there.
void ControllerService::Impl::give_answers() {
  for (const auto& give : std::exchange(answers_, {})) give();
}

Nanoseconds ControllerService::Impl::wait_ns(Nanoseconds now_ns) const {
  const Nanoseconds due_ns =
      std::min({controller_->next_timer_ns(), policy_.next_timer_ns(), keeper_->next_timer_ns()});
  return due_ns <= now_ns ? 0 : std::min(due_ns - now_ns, kLongestWait);
}

void ControllerService::Impl::on_event(const ServerEvent& event, Nanoseconds now_ns) {
  if (const auto* left = std::get_if<EdgeLeft>(&event)) {
    log(log_, LogLevel::kWarning, "edge disconnected",
        {{"edge", config_.network.site_names[left->edge.site]}, {"session", left->edge.session}});
    controller_->disconnected(left->edge);
    policy_.silent(left->edge.site, now_ns);
    links_.erase(left->edge.site);
    return;
  }
  const EdgeSaid& said = std::get<EdgeSaid>(event);
  if (const auto* report = std::get_if<LinkReport>(&said.message)) {
    links_[said.edge.site] = report->links;
    policy_.report(said.edge.site, report->links, now_ns);
    return;
  }
  after(controller_->receive(said.edge, std::get<ToController>(said.message), now_ns));
}

void ControllerService::Impl::take_orders(Nanoseconds now_ns) {
  std::vector<Waiting> orders;
  {
    const std::lock_guard lock(mutex_);
    orders.swap(waiting_);
  }
  for (Waiting& waiting : orders) {
    auto nominal = fenced_ ? Result<Nominal>(Error{ErrorCode::kUnavailable, "a newer controller rules"})
                           : apply_order(keeper_->nominal(), waiting.order, config_.nominal, config_.network);
    if (!nominal) {
      waiting.answer.set_value(std::move(nominal).error());
      continue;
    }
    auto answer = std::make_shared<std::promise<Result<ChangeOutcome>>>(std::move(waiting.answer));
    keeper_->order(std::move(nominal).value(), now_ns, [this, answer](Result<ChangeOutcome> result) {
      answers_.push_back([answer, ended = std::move(result)] { answer->set_value(ended); });
    });
  }
}

/// Stores first, sends afterwards; what is not sent is repeated by the controller's timer.
void ControllerService::Impl::after(const Controller::Actions& actions) {
  if (fenced_ || !store()) return;
  for (const ControllerAction& action : actions) server_->send(action.site, action.message);
}

bool ControllerService::Impl::store() {
  if (controller_->revision() == stored_revision_) return true;
  const Status saved = store_.save(controller_->state());
  if (saved) {
    stored_revision_ = controller_->revision();
    store_failed_ = false;
    return true;
  }
  ++totals_.store_failures;
  fenced_ = saved.error().code == ErrorCode::kFailed;
  if (!std::exchange(store_failed_, true) || fenced_)
    log(log_, LogLevel::kError, fenced_ ? "controller superseded" : "state cannot be stored",
        {{"reason", saved.error().message}});
  if (fenced_) keeper_->refuse_order(saved.error());
  return false;
}

void ControllerService::Impl::count_outcome() {
  const auto& outcome = controller_->outcome();
  if (!outcome) {
    counted_outcome_.reset();
    return;
  }
  if (!counted_outcome_) {
    switch (outcome->kind) {
      case ChangeOutcome::Kind::kInstalled:
        ++totals_.installed;
        break;
      case ChangeOutcome::Kind::kUnconfirmed:
        ++totals_.unconfirmed;
        break;
      case ChangeOutcome::Kind::kAborted:
        ++totals_.aborted;
        break;
      case ChangeOutcome::Kind::kSuperseded:
        ++totals_.superseded;
        break;
    }
  }
  counted_outcome_ = outcome;
  totals_.last_outcome = to_string(*outcome);
}

std::string ControllerService::Impl::island_name(std::uint16_t rank) const {
  const auto& islands = config_.network.islands;
  return rank < islands.size() ? islands[rank].id : fmt::format("{}", rank);
}

void ControllerService::Impl::add_edges(ControllerStatus& status) const {
  const auto& names = config_.network.site_names;
  for (const std::string& name : names) status.edges.emplace_back().name = name;
  for (const EdgeView& view : controller_->edges()) {
    ControllerStatus::Edge& edge = status.edges[view.id.site];
    edge.member = true;
    edge.connected = view.connected;
    edge.session = view.session.value_or(0);
    edge.running_epoch = view.running_epoch;
    edge.staged_epoch = view.staged_epoch;
    edge.refusal = view.refusal;
  }
  for (const auto& [site, links] : links_)
    for (const LinkState& link : links) {
      if (link.up) continue;
      const std::string neighbour = link.is_island           ? "island " + island_name(link.id)
                                    : link.id < names.size() ? names[link.id]
                                                             : fmt::format("{}", link.id);
      status.edges[site].links_down.push_back(neighbour);
    }
}

void ControllerService::Impl::publish() {
  ControllerStatus status = totals_;
  const ControllerState& state = controller_->state();
  const auto& names = config_.network.site_names;
  status.term = state.term;
  status.epoch = state.committed_epoch();
  status.newest_epoch = state.newest_epoch;
  status.activating_round = state.activating_round;
  status.schedule = keeper_->nominal().schedule.name;
  status.trouble = keeper_->trouble();
  if (fenced_ || controller_->superseded())
    status.phase = "superseded";
  else if (controller_->phase() == Controller::Phase::kStaging)
    status.phase = "staging";
  else if (controller_->phase() == Controller::Phase::kCommitting)
    status.phase = "committing";
  else
    status.phase = state.plan ? "idle" : "waiting";
  add_edges(status);
  const Survivors& survivors = policy_.survivors();
  for (const schedule::SiteId site : survivors.dead_sites) status.dead_sites.push_back(names[site]);
  for (const schedule::LostLink& link : survivors.lost_links)
    status.lost_links.push_back(names[link.a] + "-" + names[link.b]);
  for (const schedule::Rank rank : survivors.lost_islands) status.lost_islands.push_back(island_name(rank));
  status.ignored = controller_->counters();
  status.streams = server_->counts();
  const std::lock_guard lock(mutex_);
  status_ = std::move(status);
}

ControllerService::ControllerService(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ControllerService::~ControllerService() = default;

Result<std::unique_ptr<ControllerService>> ControllerService::start(ControllerServiceConfig config,
                                                                    LogSink log) {
  auto folder = StateFolder::open(config.state_folder);
  if (!folder) return std::move(folder).error();
  auto impl = std::make_unique<Impl>(std::move(config), std::move(folder).value(), std::move(log));
  if (Status started = impl->start(); !started) return std::move(started).error();
  return std::unique_ptr<ControllerService>(new ControllerService(std::move(impl)));
}

int ControllerService::port() const { return impl_->port(); }
ControllerStatus ControllerService::status() const { return impl_->status(); }
Result<ChangeOutcome> ControllerService::install(const InstallOrder& order) { return impl_->install(order); }

}  // namespace tombolo::control
