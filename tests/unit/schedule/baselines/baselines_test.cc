#include "schedule/baselines/baselines.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "tests/unit/schedule/baselines/scenes.h"

namespace tombolo::schedule::baselines {
namespace {

TEST(AllBaselines, Print) {
  const Network network = shipped_network("nine-city.yaml", "access-limited");
  const Routes routes(network);
  const auto rows =
      all_baselines({network, routes, {true, Aggregation::kEdge, Family::kDirect}, 1e9, 1, 1}, {50, 500});
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  for (const Baseline& row : *rows)
    fmt::print("{:<28} {:>9.4f} {:>9.4f} {:>9.4f}  {} {}\n", row.name, row.disagreement_s, row.r_per_s,
               row.cycle_s, row.choices, row.undefined);
}

}  // namespace
}  // namespace tombolo::schedule::baselines
