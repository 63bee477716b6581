// The same seed gives the same run, whatever is reported; another seed gives other losses.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/sim/run_config.h"

namespace tombolo::sim {
namespace {

using testbed::RunConfig;
using testbed::RunReport;

/// Every field of a report.
std::string text_of(const RunReport& report) {
  std::string text = fmt::format("exact {} seed {} repairs {} copies {} saved {}\n", report.exact,
                                 report.seed, report.repairs, report.copies, report.payload_bytes_saved);
  for (const testbed::RoundReport& round : report.rounds) {
    text += fmt::format("{} {:a} {:a} {:a} {}", round.round, round.model_s, round.predicted_s,
                        round.measured_s, round.exact);
    for (const auto& clique : round.cliques) text += fmt::format(" {}", fmt::join(clique, ","));
    text += fmt::format(" {}\n", fmt::join(round.errors, ";"));
  }
  for (const testbed::IslandReport& island : report.islands)
    text += fmt::format("{} {} {} {}\n", island.site, island.tx_bytes, island.rx_bytes, island.update_bytes);
  for (const auto& [reason, count] : report.drops) text += fmt::format("{} {}\n", reason, count);
  return text;
}

RunConfig lossy_config(std::uint64_t seed) {
  RunConfig config = nine_city_config(0.0002);
  config.schedule = grid(config.network);
  config.rounds = 4;
  config.seed = seed;
  config.losses = {{rank_of(config.network, "LON"), rank_of(config.network, "NYC"), 0.02},
                   {rank_of(config.network, "SIN"), rank_of(config.network, "TYO"), 0.02}};
  return config;
}

TEST(Determinism, TheSameSeedGivesTheSameRun) {
  for (const bool edge_aggregation : {true, false}) {
    RunConfig config = lossy_config(7);
    config.edge_aggregation = edge_aggregation;
    const RunReport first = run_or_fail(config);
    EXPECT_EQ(complaints(first), "");
    EXPECT_EQ(text_of(first), text_of(run_or_fail(config)));
  }
}

TEST(Determinism, WorkersDoNotChangeTheResultOnlyTheirTimes) {
  RunConfig config = lossy_config(7);
  config.workers = 2;
  config.receive_queues = 1;
  EXPECT_EQ(text_of(run_or_fail(config)), text_of(run_or_fail(config)));
}

TEST(Determinism, AnotherSeedGivesOtherLosses) {
  const RunReport first = run_or_fail(lossy_config(7));
  const RunReport second = run_or_fail(lossy_config(8));
  EXPECT_EQ(complaints(second), "");
  EXPECT_NE(first.rounds.at(0).measured_s, second.rounds.at(0).measured_s);
  EXPECT_NE(first.islands.at(0).rx_bytes, second.islands.at(0).rx_bytes);
}

}  // namespace
}  // namespace tombolo::sim
