#include "schedule/baselines/baselines.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/schedule/baselines/scenes.h"

namespace tombolo::schedule::baselines {
namespace {

constexpr const char* kNames[] = {"full clique, direct",
                                  "full clique, sharded",
                                  "ring all-reduce",
                                  "parameter server",
                                  "hierarchical",
                                  "geographic grid",
                                  "random matchings",
                                  "MATCHA",
                                  "one-peer exponential",
                                  "Base-(k+1)",
                                  "D-Cliques",
                                  "bandwidth-aware topology",
                                  "D-PSGD on the physical graph",
                                  "D-PSGD on a ring",
                                  "TACCL-like all-reduce",
                                  "factored gossip",
                                  "HALoS-like",
                                  "asynchronous DiLoCo-like",
                                  "static partition and full",
                                  "DiLoCo, every 50 steps"};

/// Every row is there, in order, and has a value or says why not; the same setting gives the same rows.
TEST(AllBaselines, LeavesNoRowOut) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    const Network network = random_network(random);
    const Routes routes(network);
    const Setting setting{network, routes, {true, Aggregation::kEdge, Family::kDirect}, 1e8, 1, seed};
    const auto rows = all_baselines(setting, {50});
    ASSERT_TRUE(rows.ok()) << rows.error().message;
    const auto again = all_baselines(setting, {50});
    ASSERT_EQ(rows->size(), std::size(kNames));
    for (std::size_t i = 0; i < rows->size(); ++i) {
      const Baseline& row = (*rows)[i];
      EXPECT_EQ(row.name, kNames[i]);
      // From four islands on, and where the network sends direct, everything is defined.
      EXPECT_TRUE(row.defined() || network.islands.size() < 4) << row.name << ": " << row.undefined;
      if (!row.defined()) continue;
      EXPECT_FALSE(row.source.empty()) << row.name;
      EXPECT_TRUE(std::isfinite(row.disagreement_s)) << row.name;
      EXPECT_GT(row.disagreement_s, 0) << row.name;
      EXPECT_GT(row.cycle_s, 0) << row.name;
      EXPECT_EQ(row.disagreement_s, (*again)[i].disagreement_s) << row.name;
    }
  }
}

/// Sizes at which some constructions do not exist.
TEST(AllBaselines, SaysWhatIsNotDefined) {
  for (const std::size_t n : {2, 3}) {
    const Network network = equal_network(n, 8);
    const Routes routes(network);
    const auto rows = all_baselines({network, routes, {}, 1e9, 1, 1}, {});
    ASSERT_TRUE(rows.ok()) << rows.error().message;
    for (const Baseline& row : *rows) {
      if (row.name != "D-Cliques" && row.name != "factored gossip") continue;
      EXPECT_NE(row.undefined.find(fmt::format("not defined for n = {}", n)), std::string::npos) << row.name;
    }
  }
}

/// Two islands: every exact round of all is the pair, 1.5 T / 2.
TEST(AllBaselines, AgreeOnTwoIslands) {
  const Network network = equal_network(2, 8);
  const Routes routes(network);
  const auto rows = all_baselines({network, routes, {}, 1e9, 1, 1}, {});
  ASSERT_TRUE(rows.ok());
  for (const char* name : {"full clique, direct", "ring all-reduce", "parameter server", "random matchings",
                           "one-peer exponential", "Base-(k+1)", "TACCL-like all-reduce"}) {
    const auto row =
        std::find_if(rows->begin(), rows->end(), [&](const Baseline& r) { return r.name == name; });
    EXPECT_NEAR(row->disagreement_s, 0.75, 1e-6) << name;
  }
}

TEST(AllBaselines, RefusesWhatCannotBeCompared) {
  const Network one = equal_network(1, 8);
  const Routes routes(one);
  EXPECT_EQ(all_baselines({one, routes, {}, 1e9, 1, 1}, {}).error().code, ErrorCode::kInvalidInput);
  const Network two = equal_network(2, 8);
  const Routes two_routes(two);
  EXPECT_FALSE(all_baselines({two, two_routes, {}, 0, 1, 1}, {}).ok());
  EXPECT_FALSE(all_baselines({two, two_routes, {}, 1e9, 0, 1}, {}).ok());
}

}  // namespace
}  // namespace tombolo::schedule::baselines
