#include "dataplane/edge/tree_state.h"

#include <gtest/gtest.h>

#include <vector>

namespace tombolo::dataplane {
namespace {

/// Tree 0 carries contributions; tree 1 brings results to an island here, tree 2 only passes.
EpochTable small_table(std::uint32_t period) {
  EpochTable table;
  table.period = period;
  multicast::BranchSpec contributions{0, {}};
  contributions.branch.child_links = 2;
  multicast::BranchSpec results{1, {}};
  results.branch.traffic = multicast::Traffic::kResults;
  results.branch.deliver = 1;
  multicast::BranchSpec passing = results;
  passing.tree = 2;
  passing.branch.deliver = 0;
  passing.branch.child_links = 2;
  const std::vector<multicast::BranchSpec> specs{contributions, results, passing};
  table.forwarding = *multicast::ForwardingTable::build(specs, 2, 1);
  LocalIsland island;
  island.members.resize(period);
  for (auto& entry : island.members) entry.on_tree = true;
  table.islands.push_back(island);
  return table;
}

TEST(ResultCounts, IsFullOnceTheNumberIsKnownAndReached) {
  ResultCounts counts(small_table(1));
  EXPECT_FALSE(counts.add(1, 7));
  EXPECT_FALSE(counts.set_total(1, 7, 2));
  EXPECT_TRUE(counts.add(1, 7));
  EXPECT_FALSE(counts.add(1, 8));
  EXPECT_TRUE(counts.set_total(1, 8, 1));
}

TEST(ResultCounts, CountsOnlyWhatEndsHere) {
  ResultCounts counts(small_table(1));
  for (const std::uint16_t tree : {std::uint16_t{0}, std::uint16_t{2}}) {
    EXPECT_FALSE(counts.add(tree, 7));
    EXPECT_FALSE(counts.set_total(tree, 7, 1));
  }
}

TEST(ResultCounts, KeepsTheNewestRoundsOfATree) {
  constexpr std::uint32_t kPeriod = 3;
  ResultCounts counts(small_table(kPeriod));
  for (std::uint32_t i = 0; i < 5; ++i) counts.add(1, 10 + i * kPeriod);
  EXPECT_FALSE(counts.set_total(1, 10, 1)) << "four newer ones have come";
  for (std::uint32_t i = 1; i < 5; ++i) EXPECT_TRUE(counts.set_total(1, 10 + i * kPeriod, 1)) << i;
}

TEST(SourceEnds, IsAQueueOfFixedSize) {
  SourceEnds ends(small_table(2));  // Two entries on trees, twice.
  EXPECT_TRUE(ends.empty());
  EXPECT_TRUE(ends.has_room(4));
  EXPECT_FALSE(ends.has_room(5));
  for (std::uint32_t round = 0; round < 4; ++round)
    EXPECT_TRUE(ends.add({.tree = 0, .round = round, .outcome = wire::RoundOutcome::kDeadline}));
  EXPECT_FALSE(ends.add({}));
  for (std::uint32_t round = 0; round < 4; ++round) {
    EXPECT_EQ(ends.front().round, round);
    ends.pop();
  }
  EXPECT_TRUE(ends.empty());
}

}  // namespace
}  // namespace tombolo::dataplane
