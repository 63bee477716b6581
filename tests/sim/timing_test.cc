// Virtual time: what a round takes, against the model with the bytes on the wire.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/sim/run_config.h"

namespace tombolo::sim {
namespace {

using testbed::RunConfig;
using testbed::RunReport;

void expect_in_time(const RunReport& report, double least, double most) {
  EXPECT_EQ(complaints(report), "");
  for (const testbed::RoundReport& round : report.rounds) {
    EXPECT_GT(round.predicted_s, 0);
    EXPECT_GE(round.ratio(), least) << "round " << round.round;
    EXPECT_LE(round.ratio(), most) << "round " << round.round << ": " << round.measured_s << " s, predicted "
                                   << round.predicted_s << " s";
  }
}

// No run can be quicker than the model: a whole update has to pass the bottleneck.
constexpr double kQuickest = 1.0;
constexpr double kSlowest = 1.10;
constexpr double kSlowestWithLoss = 1.20;

TEST(Timing, OneGigabyteInTheFullClique) {
  const RunConfig config = nine_city_config(0.01);
  expect_in_time(run_or_fail(config), kQuickest, kSlowest);
}

TEST(Timing, OneGigabyteInTheGrid) {
  RunConfig config = nine_city_config(0.01);
  config.schedule = grid(config.network);
  expect_in_time(run_or_fail(config), kQuickest, kSlowest);
}

using Capability = std::tuple<bool, bool, const char*>;
class TimingOf : public testing::TestWithParam<Capability> {};

TEST_P(TimingOf, EachCapability) {
  const auto& [multicast, edge_aggregation, name] = GetParam();
  RunConfig config = nine_city_config(0.002);
  if (std::string(name) == "grid") config.schedule = grid(config.network);
  config.multicast = multicast;
  config.edge_aggregation = edge_aggregation;
  expect_in_time(run_or_fail(config), kQuickest, kSlowest);
}

INSTANTIATE_TEST_SUITE_P(NineCities, TimingOf,
                         testing::Combine(testing::Bool(), testing::Bool(), testing::Values("full", "grid")),
                         [](const testing::TestParamInfo<Capability>& param_info) {
                           return fmt::format("multicast_{}_aggregation_{}_{}",
                                              std::get<0>(param_info.param) ? "on" : "off",
                                              std::get<1>(param_info.param) ? "edge" : "none",
                                              std::get<2>(param_info.param));
                         });

TEST(Timing, JumboChunks) {
  RunConfig config = nine_city_config(0.01);
  config.schedule = grid(config.network);
  config.chunk_elements = 2048;
  expect_in_time(run_or_fail(config), kQuickest, kSlowest);
}

struct Lossy {
  const char* a;
  const char* b;
  std::uint64_t seed;
};
class TimingWithLoss : public testing::TestWithParam<Lossy> {};

TEST_P(TimingWithLoss, OneInAThousandOnACoreLink) {
  RunConfig config = nine_city_config(0.005);
  const auto site = [&](const std::string& id) {
    return config.network.islands[rank_of(config.network, id)].site;
  };
  config.losses = {{site(GetParam().a), site(GetParam().b), 0.001}};
  config.seed = GetParam().seed;
  const RunReport report = run_or_fail(config);
  expect_in_time(report, kQuickest, kSlowestWithLoss);
  EXPECT_GT(report.drops.at("wire_loss"), 0u);
  EXPECT_GE(report.repairs, 1u);
}

INSTANTIATE_TEST_SUITE_P(NineCities, TimingWithLoss,
                         testing::Values(Lossy{"NYC", "LON", 1}, Lossy{"NYC", "LON", 2},
                                         Lossy{"LON", "SIN", 1}, Lossy{"LON", "SIN", 2},
                                         Lossy{"LON", "SIN", 3}),
                         [](const testing::TestParamInfo<Lossy>& param_info) {
                           return fmt::format("{}_{}_seed_{}", param_info.param.a, param_info.param.b,
                                              param_info.param.seed);
                         });

TEST(Timing, GridWithLossOnTwoLinks) {
  RunConfig config = nine_city_config(0.005);
  config.schedule = grid(config.network);
  const auto site = [&](const std::string& id) {
    return config.network.islands[rank_of(config.network, id)].site;
  };
  config.losses = {{site("NYC"), site("LON"), 0.001}, {site("LON"), site("SIN"), 0.001}};
  expect_in_time(run_or_fail(config), kQuickest, kSlowestWithLoss);
}

}  // namespace
}  // namespace tombolo::sim
