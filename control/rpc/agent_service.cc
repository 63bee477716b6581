#include "control/rpc/agent_service.h"

#include <utility>

namespace tombolo::control {
namespace {

bool same(const AgentSnapshot& one, const AgentSnapshot& other) {
  return one.term == other.term && one.newest_epoch == other.newest_epoch && one.plan == other.plan &&
         one.activating_round == other.activating_round;
}

FromEdge to_wire(const ToController& answer, const std::string& site_name) {
  return std::visit(
      [&site_name](const auto& body) -> FromEdge {
        if constexpr (std::is_same_v<std::decay_t<decltype(body)>, EdgeHello>)
          return Greeting{body, site_name};
        else
          return body;
      },
      answer);
}

}  // namespace

AgentService::AgentService(AgentServiceConfig config, EdgeDataplane& dataplane, const StateFolder& folder,
                           LogSink log, FileOperations* operations)
    : config_(std::move(config)),
      log_(std::move(log)),
      agent_(config_.self, dataplane, config_.multicast_sites),
      store_(folder, operations) {}

Result<std::unique_ptr<AgentService>> AgentService::create(AgentServiceConfig config,
                                                           EdgeDataplane& dataplane,
                                                           const StateFolder& folder, LogSink log,
                                                           FileOperations* operations) {
  std::unique_ptr<AgentService> service(
      new AgentService(std::move(config), dataplane, folder, std::move(log), operations));
  AgentService& self = *service;
  // The session is as good a seed as any: it differs between lives, and sites differ too.
  const std::uint64_t seed = (std::uint64_t{self.config_.self.site} << 32) | self.config_.self.session;
  auto client = ControlClient::create(
      self.config_.transport, [&self] { return self.greeting(); }, self.config_.client, seed, self.log_);
  if (!client) return std::move(client).error();
  self.client_ = std::move(client).value();
  auto stored = self.store_.load();
  if (!stored) return std::move(stored).error();
  if (Status restored = self.agent_.restore(*stored); !restored && self.log_)
    self.log_(
        LogLevel::kWarning, "stored epoch refused",
        std::vector<LogField>{{"epoch", stored->committed_epoch()}, {"reason", restored.error().message}});
  self.stored_ = self.agent_.snapshot();
  return service;
}

void AgentService::poll(Nanoseconds now_ns) {
  for (const ToEdge& message : client_->poll(now_ns)) after(agent_.receive(message));
  if (config_.peer_epoch) {
    const auto heard = config_.peer_epoch();
    // Asked for at every poll, an epoch that is not staged here would make a hello each time; the heartbeat
    // asks often enough.
    if (heard.epoch != 0 && heard.epoch == agent_.staged_epoch())
      after(agent_.on_peer_commit(heard.epoch, heard.first_round));
  }
  // What could not be stored before is tried again, so that a full disk is noticed when it has room.
  if (!same(agent_.snapshot(), stored_)) store();
  send_links_if_changed();
}

std::vector<FromEdge> AgentService::greeting() {
  sent_links_ = config_.links();
  return {Greeting{agent_.hello(), config_.site_name}, LinkReport{sent_links_}};
}

void AgentService::send_links_if_changed() {
  if (!client_->connected()) return;
  std::vector<LinkState> now = config_.links();
  if (now == sent_links_) return;
  sent_links_ = std::move(now);
  client_->send(LinkReport{sent_links_});
}

/// Stores first, then sends: what the controller hears is not forgotten. Without the store it hears nothing,
/// and repeats.
void AgentService::after(const Agent::Answers& answers) {
  if (!store()) return;
  for (const ToController& answer : answers) client_->send(to_wire(answer, config_.site_name));
}

bool AgentService::store() {
  const AgentSnapshot& snapshot = agent_.snapshot();
  if (same(snapshot, stored_)) return true;
  const Status saved = store_.save(snapshot);
  if (saved) {
    if (log_ && snapshot.committed_epoch() != stored_.committed_epoch())
      log_(
          LogLevel::kInfo, "epoch committed",
          std::vector<LogField>{{"epoch", snapshot.committed_epoch()}, {"round", snapshot.activating_round}});
    stored_ = snapshot;
    complained_ = false;
  } else if (log_ && !std::exchange(complained_, true)) {
    log_(LogLevel::kError, "state cannot be stored",
         std::vector<LogField>{{"reason", saved.error().message}});
  }
  return saved.ok();
}

}  // namespace tombolo::control
