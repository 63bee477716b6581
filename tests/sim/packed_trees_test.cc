// Virtual time: rounds whose members send by trees that were chosen for them.

#include "schedule/trees/packed_trees.h"

#include <gtest/gtest.h>

#include "tests/sim/run_config.h"

namespace tombolo::sim {
namespace {

using testbed::RunConfig;
using testbed::RunReport;

constexpr double kQuickest = 1.0;
constexpr double kSlowest = 1.10;

/// The nine cities' grid with fast links in the north: its second round crowds the slow ones.
RunConfig mixed_grid(double scale, bool multicast) {
  RunConfig config = nine_city_config(scale);
  config.network = shipped("nine-city.yaml", "mixed", scale);
  config.schedule = grid(config.network);
  config.multicast = multicast;
  return config;
}

/// Packs the trees and says how much of the cycle that saves.
double pack(RunConfig& config) {
  const schedule::Routes routes(config.network);
  const schedule::RoundModel model(config.network, routes, {.multicast = config.multicast});
  const auto times =
      schedule::pack_schedule(model, static_cast<double>(config.update_bytes), config.schedule);
  EXPECT_TRUE(times.ok()) << times.error().message;
  double shortest_s = 0;
  double packed_s = 0;
  for (const schedule::PackedTime& time : *times) {
    shortest_s += time.shortest_s;
    packed_s += time.packed_s;
  }
  return 1 - packed_s / shortest_s;
}

class PackedGrid : public testing::TestWithParam<bool> {};

TEST_P(PackedGrid, IsExactAndInTime) {
  RunConfig config = mixed_grid(0.005, GetParam());
  const RunReport shortest = run_or_fail(config);
  const double gain = pack(config);
  EXPECT_GT(gain, 0.1);
  const RunReport packed = run_or_fail(config);
  EXPECT_EQ(complaints(packed), "");
  ASSERT_EQ(packed.rounds.size(), shortest.rounds.size());
  double shortest_s = 0;
  double packed_s = 0;
  for (std::size_t r = 0; r < packed.rounds.size(); ++r) {
    EXPECT_GE(packed.rounds[r].ratio(), kQuickest) << "round " << r;
    EXPECT_LE(packed.rounds[r].ratio(), kSlowest) << "round " << r;
    shortest_s += shortest.rounds[r].measured_s;
    packed_s += packed.rounds[r].measured_s;
  }
  // What the model promises is what the islands see, less the same few per cent as everywhere.
  EXPECT_GT(1 - packed_s / shortest_s, gain - 0.05);
}

INSTANTIATE_TEST_SUITE_P(NineCities, PackedGrid, testing::Bool(),
                         [](const auto& param_info) { return param_info.param ? "multicast" : "copies"; });

TEST(PackedTrees, RepairsLossOnTheirLinks) {
  RunConfig config = mixed_grid(0.002, true);
  pack(config);
  const auto site = [&](const std::string& id) {
    return config.network.islands[rank_of(config.network, id)].site;
  };
  config.losses = {{site("SIN"), site("LAX"), 0.002}, {site("TYO"), site("LAX"), 0.002}};
  const RunReport report = run_or_fail(config);
  EXPECT_EQ(complaints(report), "");
  EXPECT_GE(report.repairs, 1u);
}

}  // namespace
}  // namespace tombolo::sim
