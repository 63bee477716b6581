#include "island/epoch_view.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/unit/island/scripted_edge.h"

namespace tombolo::island {
namespace {

wire::Config entry(std::uint32_t index, std::uint32_t entries) {
  wire::Config config = ScriptedEdge::clique();
  config.entry = index;
  config.entries = entries;
  config.first_round = 5;
  config.send_tree[0] = static_cast<std::uint16_t>(10 + index);
  return config;
}

TEST(EpochView, CollectsEntriesInAnyOrder) {
  EpochView view(9, entry(2, 3));
  EXPECT_EQ(view.epoch(), 9U);
  EXPECT_EQ(view.next_missing(), 0U);
  EXPECT_TRUE(view.add(entry(2, 3)));
  EXPECT_TRUE(view.add(entry(2, 3)));  // Again: nothing changes.
  EXPECT_TRUE(view.add(entry(0, 3)));
  EXPECT_EQ(view.next_missing(), 1U);
  EXPECT_FALSE(view.complete());
  EXPECT_TRUE(view.add(entry(1, 3)));
  EXPECT_TRUE(view.complete());
  EXPECT_EQ(view.next_missing(), 3U);
}

TEST(EpochView, RefusesAnEntryThatContradictsTheOthers) {
  const std::vector<std::function<void(wire::Config&)>> table = {
      [](wire::Config& config) { config.entries = 4; },
      [](wire::Config& config) { config.first_round = 6; },
      [](wire::Config& config) { config.chunk_elements = 64; },
      [](wire::Config& config) { config.lane_count = 3; },
      [](wire::Config& config) { config.deadline_ns = 1; },
      [](wire::Config& config) { config.edge_aggregation = false; },
  };
  EpochView view(9, entry(0, 3));
  ASSERT_TRUE(view.add(entry(0, 3)));
  for (std::size_t i = 0; i < table.size(); ++i) {
    wire::Config config = entry(1, 3);
    table[i](config);
    EXPECT_FALSE(view.add(config)) << i;
  }
  EXPECT_EQ(view.next_missing(), 1U);
}

TEST(EpochView, RoundsGoThroughTheEntriesForEver) {
  EpochView view(9, entry(0, 3));
  for (std::uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(view.add(entry(i, 3)));
  ASSERT_TRUE(view.start().ok());
  for (const std::uint32_t round : {5U, 6U, 7U, 8U, 3'000'000'002U}) {
    const std::uint32_t index = (round - 5) % 3;
    EXPECT_EQ(view.entry_of(round).entry, index);
    for (std::uint16_t other = 0; other < 3; ++other)
      EXPECT_EQ(view.sends_on(round, static_cast<std::uint16_t>(10 + other)), other == index);
  }
  EXPECT_FALSE(view.sends_on(4, 12));  // Before the epoch.
}

TEST(EpochView, HasFoldPointsOnlyWithoutEdgeAggregation) {
  EpochView with(9, entry(0, 1));
  ASSERT_TRUE(with.add(entry(0, 1)));
  EXPECT_EQ(with.fold_bytes(), 0U);
  ASSERT_TRUE(with.start().ok());
  EXPECT_TRUE(with.points().empty());

  wire::Config config = entry(0, 1);
  config.edge_aggregation = false;
  EpochView without(9, config);
  ASSERT_TRUE(without.add(config));
  // Two windows of 64 chunks, of three members each.
  EXPECT_EQ(without.fold_bytes(), 2U * 64 * 3 * sizeof(aggregation::Input));
  ASSERT_TRUE(without.start().ok());
  EXPECT_EQ(without.points().size(), 2U);
}

TEST(EpochView, AnUnsoundWindowIsAnError) {
  wire::Config config = entry(0, 1);
  config.edge_aggregation = false;
  config.window_chunks = 63;  // Not a multiple of two lanes.
  EpochView view(9, config);
  ASSERT_TRUE(view.add(config));
  const Status started = view.start();
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.error().code, ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace tombolo::island
