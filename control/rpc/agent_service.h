#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "control/agent.h"
#include "control/observe/log_sink.h"
#include "control/rpc/control_client.h"
#include "control/rpc/transport.h"
#include "control/store/state_store.h"
#include "control/survivors.h"

namespace tombolo::control {

struct AgentServiceConfig {
  EdgeIdentity self;  ///< Its session from SessionStore::next.
  std::string site_name;
  std::vector<schedule::SiteId> multicast_sites{};  ///< See EdgeHello.
  Transport transport;
  ClientOptions client;
  /// What the edge sees of its neighbours now.
  std::function<std::vector<LinkState>()> links;
  /// The newest epoch that a neighbour runs and its first round; epoch 0: none. May be empty.
  struct PeerEpoch {
    std::uint32_t epoch = 0;
    std::uint32_t first_round = 0;
  };
  std::function<PeerEpoch()> peer_epoch;
};

/// An edge's agent with its memory on disk and its stream to the controller. All calls from the edge's
/// control thread; poll() every 10 to 50 ms.
class AgentService {
 public:
  /// Puts the stored epoch back into force. A stored epoch that the dataplane refuses is logged, and the edge
  /// waits for its controller. `dataplane` and `folder` outlive the service. Errors: those of
  /// ControlClient::create and AgentStore::load.
  static Result<std::unique_ptr<AgentService>> create(AgentServiceConfig config, EdgeDataplane& dataplane,
                                                      const StateFolder& folder, LogSink log,
                                                      FileOperations* operations = nullptr);

  /// Receives, answers, listens to peers, reports links when they have changed.
  void poll(Nanoseconds now_ns);

  const Agent& agent() const { return agent_; }
  bool connected() const { return client_->connected(); }
  /// Why there is no controller; empty while there is one.
  const std::string& trouble() const { return client_->trouble(); }
  ClientCounts counts() const { return client_->counts(); }

 private:
  AgentService(AgentServiceConfig config, EdgeDataplane& dataplane, const StateFolder& folder, LogSink log,
               FileOperations* operations);
  std::vector<FromEdge> greeting();
  void after(const Agent::Answers& answers);
  bool store();
  void send_links_if_changed();

  const AgentServiceConfig config_;
  const LogSink log_;
  Agent agent_;
  AgentStore store_;
  AgentSnapshot stored_;
  std::unique_ptr<ControlClient> client_;
  std::vector<LinkState> sent_links_;
  bool complained_ = false;  ///< One log line for a disk that stays full.
};

}  // namespace tombolo::control
