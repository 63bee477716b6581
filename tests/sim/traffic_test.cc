// What crosses an island's own link, against arithmetic.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "tests/sim/run_config.h"

namespace tombolo::sim {
namespace {

using testbed::RunConfig;
using testbed::RunReport;

constexpr std::uint64_t kUpdateBytes = 2'000'000;
constexpr double kRounds = 2;

/// An update as it crosses a wire: per chunk of 1280 bytes a header of 64 and a framing of 42.
double wire_bytes(std::uint64_t update_bytes) {
  return static_cast<double>(update_bytes) * (1280 + 64 + 42) / 1280;
}

/// One clique of the first `members` cities in two rounds; the other islands rest.
RunReport run_clique(std::size_t members, bool multicast, bool edge_aggregation) {
  RunConfig config = nine_city_config(kUpdateBytes / 1e9);
  schedule::Clique clique(members);
  std::iota(clique.begin(), clique.end(), schedule::Rank{0});
  config.schedule = {"one clique", {{{clique}}}};
  config.rounds = static_cast<std::uint32_t>(kRounds);
  config.multicast = multicast;
  config.edge_aggregation = edge_aggregation;
  RunReport report = run_or_fail(config);
  EXPECT_EQ(complaints(report), "");
  return report;
}

/// Expects `copies_out` and `copies_in` updates per round. Control, repair and set-up come on top: at most
/// 10 % of the busier direction, since feedback about one direction goes in the other.
void expect_traffic(const RunReport& report, std::size_t members, double copies_out, double copies_in) {
  for (std::size_t rank = 0; rank < report.islands.size(); ++rank) {
    const testbed::IslandReport& island = report.islands[rank];
    SCOPED_TRACE(island.site);
    if (rank >= members) {
      EXPECT_EQ(island.update_bytes, 0u);
      // Only liveness: HELLOs, 5 per second and lane in each direction.
      EXPECT_LT(static_cast<double>(island.tx_bytes), wire_bytes(kUpdateBytes) * 0.1 * kRounds);
      continue;
    }
    ASSERT_EQ(island.update_bytes, kUpdateBytes * kRounds);
    const double update = wire_bytes(island.update_bytes);
    const double control = 0.1 * update * std::max(copies_out, copies_in);
    EXPECT_GE(static_cast<double>(island.tx_bytes), copies_out * update);
    EXPECT_LE(static_cast<double>(island.tx_bytes), copies_out * update + control);
    EXPECT_GE(static_cast<double>(island.rx_bytes), copies_in * update);
    EXPECT_LE(static_cast<double>(island.rx_bytes), copies_in * update + control);
  }
}

class Traffic : public testing::TestWithParam<std::size_t> {};

TEST_P(Traffic, IsOneUpdateOutAndInWithBothOn) {
  expect_traffic(run_clique(GetParam(), true, true), GetParam(), 1, 1);
}

TEST_P(Traffic, OutIsACopyPerOtherMemberWithoutMulticast) {
  expect_traffic(run_clique(GetParam(), false, true), GetParam(), static_cast<double>(GetParam() - 1), 1);
}

TEST_P(Traffic, InIsAnUpdatePerOtherMemberWithoutAggregation) {
  expect_traffic(run_clique(GetParam(), true, false), GetParam(), 1, static_cast<double>(GetParam() - 1));
}

TEST_P(Traffic, IsAnUpdatePerOtherMemberBothWaysWithBothOff) {
  const double others = static_cast<double>(GetParam() - 1);
  expect_traffic(run_clique(GetParam(), false, false), GetParam(), others, others);
}

INSTANTIATE_TEST_SUITE_P(CliqueOf, Traffic, testing::Values(2, 3, 9), testing::PrintToStringParamName());

}  // namespace
}  // namespace tombolo::sim
