#include "control/rpc/controller_service.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "control/rpc/local_client.h"
#include "tests/unit/control/rpc/running_cities.h"

namespace tombolo::control {
namespace {

using Kind = ChangeOutcome::Kind;

InstallOrder named(std::string schedule) {
  InstallOrder order;
  order.schedule_name = std::move(schedule);
  return order;
}

class Cities : public testing::Test, public RunningCities {
 protected:
  void run_first_epoch() {
    start_all();
    ASSERT_TRUE(until([&] { return all_run(1); })) << book.all();
  }
};

TEST_F(Cities, TheFirstEpochWaitsForEveryEdge) {
  start_controller();
  for (int site = 0; site < kTyo; ++site) start_edge(static_cast<City>(site));
  const std::string waits = "waiting for the edges TYO before the first epoch";
  ASSERT_TRUE(until([&] { return controller->status().trouble == waits; })) << book.all();
  EXPECT_EQ(controller->status().phase, "waiting");
  const auto early = install(named("full"));
  ASSERT_FALSE(early.ok());
  EXPECT_EQ(early.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(early.error().message, waits);
  for (int site = 0; site < kTyo; ++site) EXPECT_EQ(epoch_of(static_cast<City>(site)), 0u);

  start_edge(kTyo);
  ASSERT_TRUE(until([&] { return all_run(1); })) << book.all();
  const auto expected = make_wanted_plan(network, nominal, {}, 1);
  for (int site = 0; site < kCities; ++site) {
    EXPECT_TRUE(same_but_epoch(plan_of(static_cast<City>(site)), *expected));
    EXPECT_EQ(edges[site]->dataplane.log, (std::vector<std::string>{"stage 1", "commit 1 from 0"}));
  }
  const ControllerStatus status = controller->status();
  EXPECT_EQ(status.installed, 1u);
  EXPECT_EQ(status.last_outcome, "epoch 1 runs from round 0");
  EXPECT_EQ(status.term, 1u);
  EXPECT_EQ(status.schedule, "grid");
  ASSERT_EQ(status.edges.size(), 9u);
  for (const auto& edge : status.edges) EXPECT_TRUE(edge.member && edge.connected && edge.running_epoch == 1);
}

TEST_F(Cities, ARefusalOfOneLeavesAllOnTheOldEpoch) {
  run_first_epoch();
  edges[kLon]->dataplane.refusal = "arena too small";
  const auto refused = install(named("full"));
  ASSERT_TRUE(refused.ok()) << refused.error().message;
  EXPECT_EQ(refused->kind, Kind::kAborted);
  ASSERT_EQ(refused->problems.size(), 1u);
  EXPECT_EQ(refused->problems[0].edge.name, "LON");
  EXPECT_EQ(refused->problems[0].reason, "arena too small");
  EXPECT_EQ(controller->status().schedule, "grid") << "what was wanted before";
  ASSERT_TRUE(until([&] { return all_run(1); })) << book.all();
  const auto all_forgot = [&] {
    for (const auto& edge : edges)
      if (edge->service->agent().staged_epoch() != 0) return false;
    return true;
  };
  ASSERT_TRUE(until(all_forgot));
  // The number is used up; the next order takes another.
  edges[kLon]->dataplane.refusal.reset();
  const auto installed = install(named("full"));
  ASSERT_TRUE(installed.ok()) << installed.error().message;
  EXPECT_EQ(installed->kind, Kind::kInstalled);
  EXPECT_GE(installed->epoch, 3u);
  EXPECT_EQ(plan_of(kTyo).entries.size(), 1u) << "full is one round";
  EXPECT_EQ(controller->status().schedule, "full");
}

TEST_F(Cities, TenChangesOneAfterAnother) {
  run_first_epoch();
  std::uint32_t last_round = 0;
  for (std::uint32_t i = 0; i < 10; ++i) {
    // Rounds go on meanwhile.
    for (const auto& edge : edges) edge->dataplane.highest_round += 3;
    const auto outcome = install({.schedule_name = i % 2 == 0 ? "full" : "grid",
                                  .schedule_yaml = "",
                                  .multicast = i % 3 == 0,
                                  .edge_aggregation = std::nullopt});
    ASSERT_TRUE(outcome.ok()) << outcome.error().message;
    EXPECT_EQ(outcome->kind, Kind::kInstalled) << to_string(*outcome);
    EXPECT_EQ(outcome->epoch, i + 2);
    // Margin 2 above the highest opened round.
    EXPECT_EQ(outcome->activating_round, std::max(3 * (i + 1), last_round) + 2);
    last_round = outcome->activating_round;
    EXPECT_TRUE(all_run(i + 2));
    EXPECT_EQ(plan_of(kAms).multicast, i % 3 == 0);
  }
  EXPECT_EQ(controller->status().installed, 11u);
}

TEST_F(Cities, AnOrderWaitsUntilTheEpochBeforeHasDrained) {
  run_first_epoch();
  for (const auto& edge : edges) edge->drains = false;
  const auto second = install(named("full"));
  ASSERT_TRUE(second.ok() && second->kind == Kind::kInstalled);
  // Two epochs are live now: a third finds no room, until the test ends the first.
  auto third = std::async(std::launch::async, [&] { return controller->install(named("grid")); });
  ASSERT_TRUE(until([&] { return controller->status().aborted >= 2; })) << book.all();
  EXPECT_NE(controller->status().last_outcome.find("two epochs are live"), std::string::npos);
  for (const auto& edge : edges) edge->drains = true;
  ASSERT_TRUE(until([&] { return third.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
  const auto outcome = third.get();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->kind, Kind::kInstalled) << to_string(*outcome);
}

TEST_F(Cities, ARestartedControllerGoesOnInTheRunningEpoch) {
  run_first_epoch();
  controller.reset();
  ASSERT_TRUE(until([&] { return !edges[kAms]->service->connected(); }));
  EXPECT_EQ(epoch_of(kAms), 1u) << "edges go on without it";
  start_controller();
  ASSERT_TRUE(until([&] {
    const auto status = controller->status();
    return std::all_of(status.edges.begin(), status.edges.end(),
                       [](const auto& edge) { return edge.connected && edge.running_epoch == 1; });
  })) << book.all();
  EXPECT_EQ(controller->status().term, 2u);
  EXPECT_EQ(controller->status().epoch, 1u);
  EXPECT_EQ(controller->status().newest_epoch, 1u) << "no new epoch";
  for (const auto& edge : edges)
    EXPECT_EQ(edge->dataplane.log, (std::vector<std::string>{"stage 1", "commit 1 from 0"}));
  const auto next = install(named("full"));
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(next->kind, Kind::kInstalled);
  EXPECT_EQ(next->epoch, 2u);
}

TEST_F(Cities, ARestartWithAnotherScheduleInstallsIt) {
  run_first_epoch();
  controller.reset();
  nominal.schedule = *schedule::full_schedule(network.islands);
  start_controller();
  ASSERT_TRUE(until([&] { return all_run(2); })) << book.all();
  EXPECT_EQ(plan_of(kSeo).entries.size(), 1u);
}

TEST_F(Cities, ARestartedEdgeGoesOnFromItsDisk) {
  run_first_epoch();
  controller.reset();
  const std::uint32_t session = edges[kSin]->service->agent().self().session;
  kill_edge(kSin);
  start_edge(kSin);
  EXPECT_EQ(edges[kSin]->dataplane.log, (std::vector<std::string>{"stage 1", "commit 1 from 0"}))
      << "before anybody was asked";
  EXPECT_EQ(edges[kSin]->service->agent().self().session, session + 1);
  start_controller();
  ASSERT_TRUE(until([&] { return controller->status().edges[kSin].running_epoch == 1; })) << book.all();
  EXPECT_EQ(controller->status().newest_epoch, 1u);
}

TEST_F(Cities, ADeadIslandIsLeftOutAndComesBack) {
  run_first_epoch();
  for (const auto& edge : edges) edge->dataplane.highest_round = 7;
  island_up[kNyc] = false;
  ASSERT_TRUE(until_without({kNyc}, 1)) << book.all();
  EXPECT_TRUE(plan_of(kAms).lost_links.empty());
  for (const auto& entry : plan_of(kAms).entries)
    for (const auto& clique : entry.cliques)
      EXPECT_EQ(std::count(clique.members.begin(), clique.members.end(), kNyc), 0);
  EXPECT_EQ(controller->status().activating_round, 8u) << "the very next round";
  EXPECT_EQ(controller->status().lost_islands, std::vector<std::string>{"NYC"});
  EXPECT_EQ(controller->status().edges[kNyc].links_down, std::vector<std::string>{"island NYC"});

  island_up[kNyc] = true;
  ASSERT_TRUE(until_without({}, 2)) << book.all();
  EXPECT_TRUE(same_but_epoch(plan_of(kAms), *make_wanted_plan(network, nominal, {}, 3)))
      << "the loss leaves no trace";
}

TEST_F(Cities, ADeadTransitEdgeIsRoutedRoundAndComesBack) {
  run_first_epoch();
  kill_edge(kSin);
  ASSERT_TRUE(until_without({kSin}, 1)) << book.all();
  // Singapore's links: Tokyo, London, Los Angeles.
  EXPECT_EQ(plan_of(kAms).lost_links,
            (std::vector<schedule::LostLink>{{kLax, kSin}, {kLon, kSin}, {kSin, kTyo}}));
  EXPECT_EQ(controller->status().dead_sites, std::vector<std::string>{"SIN"});
  EXPECT_FALSE(controller->status().edges[kSin].member);
  const std::uint32_t without_sin = controller->status().epoch;
  start_edge(kSin);
  ASSERT_TRUE(until_without({}, without_sin)) << book.all();
  EXPECT_TRUE(same_but_epoch(plan_of(kSin), *make_wanted_plan(network, nominal, {}, 3)));
  EXPECT_TRUE(controller->status().edges[kSin].member);
}

TEST_F(Cities, WhatADeadEdgeCutsOffIsLeftOutToo) {
  run_first_epoch();
  kill_edge(kLon);
  // Amsterdam and Frankfurt live and are connected to the controller, but only London joins them to the rest.
  ASSERT_TRUE(until_without({kAms, kFra, kLon}, 1, {kAms, kFra})) << book.all();
  const std::uint32_t epoch = controller->status().epoch;
  EXPECT_LT(epoch_of(kAms), epoch);
  // A restart of the controller does not forget it.
  controller.reset();
  start_controller();
  ASSERT_TRUE(until([&] {
    const auto status = controller->status();
    return status.edges[kNyc].running_epoch == epoch && status.edges[kTyo].running_epoch == epoch;
  }));
  EXPECT_EQ(controller->status().dead_sites, (std::vector<std::string>{"AMS", "FRA", "LON"}));
  EXPECT_EQ(controller->status().newest_epoch, epoch);
  start_edge(kLon);
  ASSERT_TRUE(until_without({}, epoch)) << book.all();
  EXPECT_TRUE(plan_of(kLon).lost_links.empty());
}

TEST_F(Cities, ALostStreamAloneChangesNothing) {
  run_first_epoch();
  kill_edge(kBar);
  // Its only neighbour still sees it: the edge lives, only its stream is gone.
  edges[kBar] = std::make_unique<Edge>();
  ASSERT_TRUE(wait_until([&] { return !controller->status().edges[kBar].connected; },
                         [&] {
                           for (int site = 0; site < kCities; ++site)
                             if (site != kBar) edges[site]->service->poll(clock.now_ns());
                         }));
  // What follows goes through the same queue as any report of a loss would.
  edges[kNyc]->dataplane.highest_round = 5;
  cut_links.insert({kAms, kLon});
  ASSERT_TRUE(wait_until([&] { return controller->status().lost_links.size() == 1; },
                         [&] {
                           for (int site = 0; site < kCities; ++site)
                             if (site != kBar) edges[site]->service->poll(clock.now_ns());
                         }));
  EXPECT_TRUE(controller->status().dead_sites.empty());
  edges[kBar].reset();
}

TEST_F(Cities, AScheduleThatCannotGoOnIsSaidAndTheOldEpochStays) {
  nominal.schedule = *schedule::parse_schedule("rounds: [[[AMS, FRA]]]", "pair", network.islands);
  run_first_epoch();
  island_up[kAms] = false;
  ASSERT_TRUE(until([&] {
    return controller->status().trouble.find("without the lost islands no clique is left") !=
           std::string::npos;
  })) << book.all();
  EXPECT_EQ(controller->status().epoch, 1u);
  island_up[kAms] = true;
  ASSERT_TRUE(until([&] { return controller->status().trouble.empty(); }));
  EXPECT_EQ(controller->status().newest_epoch, 1u);
}

TEST_F(Cities, AControllerWhoseStateIsOfALaterTermStopsForGood) {
  run_first_epoch();
  // Another controller, on another machine that shares the disk, has ruled since.
  DurableFile file(folder.file("controller") + "/controller.state", {"control", ""});
  ASSERT_TRUE(file.write(write_state(ControllerState{
                             .term = 9, .newest_epoch = 5, .plan = nullptr, .activating_round = 0}))
                  .ok());
  const auto refused = install(named("full"));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("a controller of term 9"), std::string::npos)
      << refused.error().message;
  ASSERT_TRUE(until([&] { return controller->status().phase == "superseded"; }));
  for (int site = 0; site < kCities; ++site)
    EXPECT_EQ(edges[site]->dataplane.log.size(), 2u) << "nothing was sent";
  const auto again = install(named("full"));
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().message, "a newer controller rules");
}

TEST_F(Cities, TheOperatorsSocketInstallsAndTells) {
  run_first_epoch();
  const auto ask = [&](const InstallOrder& order) {
    auto answer = std::async(std::launch::async, [&] { return ask_install(socket(), order); });
    EXPECT_TRUE(until([&] { return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
    return answer.get();
  };
  const auto installed = ask({.schedule_name = "",
                              .schedule_yaml = "name: mine\nrounds:\n  - [[AMS, TYO], [LON, NYC, SIN]]\n",
                              .multicast = false,
                              .edge_aggregation = false});
  ASSERT_TRUE(installed.ok()) << installed.error().message;
  EXPECT_EQ(installed->kind, Kind::kInstalled);
  EXPECT_EQ(installed->epoch, 2u);
  EXPECT_EQ(plan_of(kAms).entries[0].cliques[0].members, (std::vector<schedule::Rank>{kAms, kTyo}));
  EXPECT_FALSE(plan_of(kAms).multicast);
  EXPECT_FALSE(plan_of(kAms).edge_aggregation);

  const auto status = ask_status(socket());
  ASSERT_TRUE(status.ok()) << status.error().message;
  const auto json = nlohmann::json::parse(*status);
  EXPECT_EQ(json["epoch"], 2);
  EXPECT_EQ(json["schedule"], "mine");
  EXPECT_EQ(json["edges"].size(), 9u);
  EXPECT_EQ(json["changes"]["installed"], 2);

  const auto unknown = ask(named("/etc/passwd"));
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::kInvalidInput);
  const auto bad = ask({.schedule_name = "",
                        .schedule_yaml = "rounds: [[[AMS, QQQ]]]",
                        .multicast = std::nullopt,
                        .edge_aggregation = std::nullopt});
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.error().message.find("schedule:1: rounds[0][0][1]: there is no island 'QQQ'"),
            std::string::npos)
      << bad.error().message;
  EXPECT_EQ(controller->status().newest_epoch, 2u);
}

TEST_F(Cities, AnOrderOutlivesTheControllerUntilTheConfigurationChanges) {
  run_first_epoch();
  ASSERT_TRUE(install(named("full")).ok());
  const auto no_multicast = install(
      {.schedule_name = "", .schedule_yaml = "", .multicast = false, .edge_aggregation = std::nullopt});
  ASSERT_TRUE(no_multicast.ok()) << no_multicast.error().message;
  ASSERT_TRUE(until([&] { return all_run(3); })) << book.all();
  const auto comes_back = [&] {
    controller.reset();
    start_controller();
    return until([&] {
      const ControllerStatus status = controller->status();
      return std::all_of(status.edges.begin(), status.edges.end(),
                         [](const auto& edge) { return edge.connected; });
    });
  };
  ASSERT_TRUE(comes_back()) << book.all();
  EXPECT_EQ(controller->status().schedule, "full");
  EXPECT_EQ(controller->status().newest_epoch, 3u) << "what runs is what is wanted";

  // An epoch after a loss is still of that order.
  const auto loses = [&](std::vector<std::string> sites) {
    return until([&] {
      const ControllerStatus status = controller->status();
      return status.dead_sites == sites && status.phase == "idle" &&
             (!sites.empty() || all_run(status.epoch));
    });
  };
  kill_edge(kSeo);
  ASSERT_TRUE(loses({"SEO"})) << book.all();
  start_edge(kSeo);
  ASSERT_TRUE(loses({})) << book.all();
  ASSERT_TRUE(comes_back()) << book.all();
  EXPECT_EQ(controller->status().schedule, "full");
  EXPECT_FALSE(plan_of(kAms).multicast);

  nominal.options.edge_aggregation = false;
  ASSERT_TRUE(comes_back()) << book.all();
  ASSERT_TRUE(until([&] { return !plan_of(kAms).edge_aggregation; })) << book.all();
  EXPECT_EQ(controller->status().schedule, "grid");
  EXPECT_TRUE(plan_of(kAms).multicast);
}

TEST_F(Cities, TheEndAnswersAnOrderThatWaits) {
  run_first_epoch();
  // Nobody polls the edges, so the change cannot end.
  auto answer = std::async(std::launch::async, [&] { return ask_install(socket(), named("full")); });
  ASSERT_TRUE(wait_until([&] { return controller->status().phase == "staging"; }, [] {}));
  const auto second = controller->install(named("grid"));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().message, "another installation is in progress");
  controller.reset();
  const auto ended = answer.get();
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, ErrorCode::kUnavailable);
}

TEST_F(Cities, StartNamesWhatIsWrong) {
  auto config = controller_config();
  config.transport.insecure = false;
  EXPECT_NE(ControllerService::start(config, {}).error().message.find("needs --insecure"), std::string::npos);
  config = controller_config();
  config.nominal.options.lane_count = 0;
  EXPECT_NE(ControllerService::start(config, {}).error().message.find("lane_count"), std::string::npos);
  config = controller_config();
  config.operator_socket = std::string(200, 'x');
  EXPECT_NE(ControllerService::start(config, {}).error().message.find("the path must have"),
            std::string::npos);

  run_first_epoch();
  EXPECT_NE(ControllerService::start(controller_config(), {}).error().message.find("uses it"),
            std::string::npos);
  controller.reset();
  network.site_names[3] = "QQQ";
  EXPECT_NE(ControllerService::start(controller_config(), {}).error().message.find("another topology"),
            std::string::npos);
}

}  // namespace
}  // namespace tombolo::control
