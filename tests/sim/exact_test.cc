// Every result right to the bit: schedules x capabilities x operations x workers, in virtual and in real
// time.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tests/sim/run_config.h"
#include "tools/testbed/workload.h"

namespace tombolo::sim {
namespace {

using testbed::RunConfig;

constexpr double kScale = 0.0002;  // 200 kB at 2 Mbit/s.

schedule::Schedule schedule_named(const std::string& name, const schedule::Network& network) {
  if (name == "full") return full(network);
  if (name == "grid") return grid(network);
  const std::string path = std::string(TOMBOLO_CONFIGS) + "/schedules/nine-city-" + name + ".yaml";
  const auto schedule = schedule::load_schedule(path, network.islands);
  EXPECT_TRUE(schedule.ok()) << schedule.error().message;
  return *schedule;
}

using Capability = std::tuple<const char*, bool, bool, wire::Operation>;
class ExactResults : public testing::TestWithParam<Capability> {};

TEST_P(ExactResults, OfEveryRoundOfAPeriod) {
  const auto& [name, multicast, edge_aggregation, operation] = GetParam();
  RunConfig config = nine_city_config(kScale);
  config.schedule = schedule_named(name, config.network);
  config.multicast = multicast;
  config.edge_aggregation = edge_aggregation;
  config.operation = operation;
  const auto report = run_or_fail(config);
  EXPECT_EQ(complaints(report), "");
  EXPECT_EQ(report.rounds.size(), config.schedule.rounds.size());
  // Nothing is lost: what is repaired came to an edge before its epoch did.
  const auto early = report.drops.find("unknown_epoch");
  EXPECT_LE(report.repairs, early == report.drops.end() ? 0 : early->second);
}

std::string capability_name(const testing::TestParamInfo<Capability>& param_info) {
  const auto& [name, multicast, edge_aggregation, operation] = param_info.param;
  return fmt::format("{}_multicast_{}_aggregation_{}_{}", name, multicast ? "on" : "off",
                     edge_aggregation ? "edge" : "none", operation == wire::Operation::kSum ? "sum" : "mean");
}

INSTANTIATE_TEST_SUITE_P(NineCities, ExactResults,
                         testing::Combine(testing::Values("full", "grid", "rest"), testing::Bool(),
                                          testing::Bool(),
                                          testing::Values(wire::Operation::kSum, wire::Operation::kMean)),
                         capability_name);

/// Workers, receive queues (fewer: lanes are handed over), edge aggregation.
using Cores = std::tuple<std::uint32_t, std::uint32_t, bool>;
class ExactWithWorkers : public testing::TestWithParam<Cores> {};

TEST_P(ExactWithWorkers, GridAndRest) {
  const auto& [workers, queues, edge_aggregation] = GetParam();
  for (const char* const name : {"grid", "rest"}) {
    RunConfig config = nine_city_config(kScale);
    config.schedule = schedule_named(name, config.network);
    config.lane_count = 12;
    config.workers = workers;
    config.receive_queues = queues;
    config.edge_aggregation = edge_aggregation;
    EXPECT_EQ(complaints(run_or_fail(config)), "") << name;
  }
}

INSTANTIATE_TEST_SUITE_P(NineCities, ExactWithWorkers,
                         testing::Values(Cores{1, 1, true}, Cores{2, 1, true}, Cores{2, 2, true},
                                         Cores{4, 1, true}, Cores{4, 4, true}, Cores{6, 3, true},
                                         Cores{4, 1, false}, Cores{4, 4, false}),
                         [](const testing::TestParamInfo<Cores>& param_info) {
                           return fmt::format("workers_{}_queues_{}_aggregation_{}",
                                              std::get<0>(param_info.param), std::get<1>(param_info.param),
                                              std::get<2>(param_info.param) ? "edge" : "none");
                         });

/// Threads and the machine's clock. Nothing about time is asserted: the machine may be busy.
class ExactInRealTime : public testing::TestWithParam<Cores> {};

TEST_P(ExactInRealTime, SmallGrid) {
  const auto& [workers, queues, edge_aggregation] = GetParam();
  RunConfig config = nine_city_config(kScale);
  config.schedule = grid(config.network);
  config.update_bytes = 20'000;
  config.workers = workers;
  config.receive_queues = queues;
  config.edge_aggregation = edge_aggregation;
  config.real_time = true;
  config.deadline_ns = 60 * kSecond;
  EXPECT_EQ(complaints(run_or_fail(config)), "");
}

INSTANTIATE_TEST_SUITE_P(NineCities, ExactInRealTime,
                         testing::Values(Cores{1, 1, true}, Cores{2, 1, true}, Cores{2, 2, false}));

TEST(ExactHarness, WouldSeeAWrongBit) {
  // The canary: two updates folded in the other order give other bits, and one flipped bit is seen.
  const std::vector<std::uint16_t> members{0, 1, 2};
  auto expected = testbed::expected_result(1, 0, members, 1000, wire::Operation::kSum);
  const std::vector<std::uint16_t> turned{2, 1, 0};
  EXPECT_FALSE(
      testbed::same_bits(expected, testbed::expected_result(1, 0, turned, 1000, wire::Operation::kSum)));
  auto flipped = expected;
  flipped[999] = -flipped[999];
  EXPECT_FALSE(testbed::same_bits(expected, flipped));
}

}  // namespace
}  // namespace tombolo::sim
