#pragma once

#include <gtest/gtest.h>

#include <array>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "control/rpc/agent_service.h"
#include "control/rpc/controller_service.h"
#include "control/store/plan_message.h"
#include "tests/unit/control/fake_edge.h"
#include "tests/unit/control/plans.h"
#include "tests/unit/control/rpc/log_book.h"
#include "tests/unit/control/rpc/wait.h"
#include "tests/unit/control/temporary_folder.h"

namespace tombolo::control {

enum City : schedule::SiteId { kAms, kBar, kFra, kLax, kLon, kNyc, kSeo, kSin, kTyo, kCities };

/// The nine cities with a real controller, real agents and real streams on loopback over dataplanes that only
/// write down what they are told. The edges run in the test's thread; what they see of each other is computed
/// from who lives and which links are cut.
class RunningCities {
 public:
  struct Edge {
    FakeDataplane dataplane;
    std::unique_ptr<StateFolder> folder;
    std::unique_ptr<AgentService> service;
    bool drains = true;  ///< Its older epochs end as soon as a newer one is committed.
  };

  RunningCities() : network(nine_cities()), nominal(nine_city_grid()) { island_up.fill(true); }
  ~RunningCities() { controller.reset(); }

  std::string socket() const { return folder.file("operator.sock"); }

  ControllerServiceConfig controller_config() const {
    ControllerServiceConfig config;
    config.transport.address = "127.0.0.1:" + std::to_string(port_);
    config.transport.insecure = true;
    config.operator_socket = socket();
    config.state_folder = folder.file("controller");
    config.network = network;
    config.nominal = nominal;
    config.controller.resend_interval_ns = 50 * kMillisecond;
    config.controller.stage_timeout_ns = stage_timeout_ns;
    config.survivors = {
        .settle_ns = 20 * kMillisecond, .return_ns = 40 * kMillisecond, .first_up_ns = 3600 * kSecond};
    config.keeper = {.least_pause_ns = 10 * kMillisecond,
                     .most_pause_ns = 50 * kMillisecond,
                     .drain_patience_ns = 60 * kSecond};
    return config;
  }
  void start_controller() {
    auto started = ControllerService::start(controller_config(), book.sink());
    ASSERT_TRUE(started.ok()) << started.error().message;
    controller = std::move(started).value();
    port_ = controller->port();
  }

  void start_edge(City site) {
    auto edge = std::make_unique<Edge>();
    auto opened = StateFolder::open(folder.file(network.site_names[site]));
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    edge->folder = std::make_unique<StateFolder>(std::move(opened).value());
    const auto session = SessionStore(*edge->folder).next(0);
    ASSERT_TRUE(session.ok());
    AgentServiceConfig config;
    config.self = {site, *session};
    config.site_name = network.site_names[site];
    config.transport.address = "127.0.0.1:" + std::to_string(port_);
    config.transport.insecure = true;
    config.client = {.least_pause_ns = 5 * kMillisecond,
                     .most_pause_ns = 50 * kMillisecond,
                     .heartbeat_ns = 50 * kMillisecond};
    config.links = [this, site] { return seen_by(site); };
    auto service = AgentService::create(std::move(config), edge->dataplane, *edge->folder, book.sink());
    ASSERT_TRUE(service.ok()) << service.error().message;
    edge->service = std::move(service).value();
    edges[site] = std::move(edge);
  }
  void kill_edge(City site) { edges[site].reset(); }
  void start_all() {
    start_controller();
    for (int site = 0; site < kCities; ++site) start_edge(static_cast<City>(site));
  }

  std::vector<LinkState> seen_by(schedule::SiteId site) const {
    std::vector<LinkState> links{{true, site, island_up[site]}};
    for (const schedule::DirectedLink& link : network.links) {
      if (link.from != site) continue;
      const bool cut = cut_links.contains({std::min(site, link.to), std::max(site, link.to)});
      links.push_back({false, link.to, edges[link.to] != nullptr && !cut});
    }
    return links;
  }

  void poll() {
    for (const auto& edge : edges) {
      if (!edge) continue;
      edge->service->poll(clock.now_ns());
      if (edge->drains) edge->dataplane.drain_before(edge->service->agent().snapshot().committed_epoch());
    }
  }
  template <typename Done>
  bool until(Done done) {
    return wait_until(done, [this] { poll(); });
  }

  std::uint32_t epoch_of(City site) const {
    return edges[site] ? edges[site]->service->agent().snapshot().committed_epoch() : 0;
  }
  /// Every edge that lives, but for `except`, runs `epoch`, and the controller knows.
  bool all_run(std::uint32_t epoch, std::set<int> except = {}) const {
    for (int site = 0; site < kCities; ++site)
      if (edges[site] && !except.contains(site) && epoch_of(static_cast<City>(site)) != epoch) return false;
    const ControllerStatus status = controller->status();
    return status.epoch == epoch && status.phase == "idle" && status.trouble.empty();
  }
  /// What is lost may be noticed in one change or in several: waits until every edge that lives, but for
  /// `except`, runs an epoch later than `after` that goes on without just these islands.
  bool until_without(const std::vector<schedule::Rank>& lost, std::uint32_t after,
                     std::set<int> except = {}) {
    return until([&] {
      const ControllerStatus status = controller->status();
      if (status.epoch <= after || status.lost_islands.size() != lost.size() ||
          !all_run(status.epoch, except))
        return false;
      for (int site = 0; site < kCities; ++site)
        if (edges[site] && !except.contains(site)) {
          const schedule::EpochPlan& plan = plan_of(static_cast<City>(site));
          if (plan.lost_ranks != lost || plan.lost_links.size() != status.lost_links.size()) return false;
        }
      return true;
    });
  }
  const schedule::EpochPlan& plan_of(City site) const {
    return *edges[site]->service->agent().snapshot().plan;
  }

  /// Polls the edges while the controller installs.
  Result<ChangeOutcome> install(const InstallOrder& order) {
    auto answer = std::async(std::launch::async, [&] { return controller->install(order); });
    EXPECT_TRUE(until([&] { return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
    return answer.get();
  }

  TemporaryFolder folder;
  schedule::Network network;
  Nominal nominal;
  LogBook book;
  MonotonicClock clock;
  std::array<std::unique_ptr<Edge>, kCities> edges;
  std::array<bool, kCities> island_up;
  std::set<schedule::LostLink> cut_links;
  std::unique_ptr<ControllerService> controller;
  Nanoseconds stage_timeout_ns = 60 * kSecond;

 private:
  int port_ = 0;
};

}  // namespace tombolo::control
