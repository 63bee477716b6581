#include "control/job_quota.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "schedule/compile.h"
#include "tests/unit/schedule/test_networks.h"

namespace tombolo::control {
namespace {

using schedule::EpochPlan;

constexpr std::uint16_t kLanes = 4;

class JobQuotaTest : public testing::TestWithParam<bool> {
 protected:
  JobQuotaTest() : network_(schedule::shipped_network("nine-city.yaml", "access-limited")) {
    schedule::CompileOptions options;
    options.job = 3;
    options.epoch = 1;
    options.chunk_elements = 320;
    options.lane_count = kLanes;
    options.deadline_ns = 1'000'000'000;
    options.update_bytes = 1'000'000'000;
    options.tree_aggregation = GetParam();
    plan_ = *schedule::compile(network_, *schedule::full_schedule(network_.islands), options);
    // The first site that folds: any does without trees, the root and branching sites with them.
    schedule::SiteId site = 0;
    do place_ = place_of(site);
    while (planned() == 0 && ++site < network_.site_names.size());
  }

  EdgePlace place_of(schedule::SiteId site) const {
    EdgePlace place{site, {}};
    for (const schedule::DirectedLink& link : network_.links)
      if (link.from == site) place.links.push_back({false, link.to});
    for (schedule::Rank rank = 0; rank < network_.islands.size(); ++rank)
      if (network_.islands[rank].site == site) place.links.push_back({true, rank});
    return place;
  }
  /// The largest window that the plan has here, in chunks.
  std::uint32_t planned() const { return windows_within(plan_, place_, whole())->planned_chunks; }
  /// A quota that holds all that the plan wants, and no more.
  JobQuota whole() const {
    const EdgeNeeds needs = edge_needs(plan_, place_);
    return {needs.buffers(), needs.arena_bytes, needs.link_windows};
  }
  /// Bytes that windows of at most so many chunks may hold.
  std::uint64_t arena_of(std::uint32_t most) const {
    return edge_needs(with_windows(plan_, most), place_).arena_bytes;
  }

  schedule::Network network_;
  EpochPlan plan_;
  EdgePlace place_;
};

TEST_P(JobQuotaTest, WhatFitsIsLeftAlone) {
  const std::uint32_t largest = planned();
  ASSERT_GT(largest, 64U * kLanes) << "the test wants something to cut";
  EXPECT_EQ(windows_within(plan_, place_, whole())->chunks, largest);
  JobQuota no_limit = whole();
  no_limit.arena_bytes = 0;
  EXPECT_EQ(windows_within(plan_, place_, no_limit)->chunks, largest);
}

TEST_P(JobQuotaTest, TheLargestWindowThatFitsIsFound) {
  for (const std::uint64_t part : {2U, 3U, 8U, 50U}) {
    JobQuota quota = whole();
    quota.arena_bytes /= part;
    const auto window = windows_within(plan_, place_, quota);
    ASSERT_TRUE(window.ok()) << window.error().message;
    EXPECT_EQ(window->chunks % kLanes, 0U) << "a part for each lane";
    EXPECT_LE(arena_of(window->chunks), quota.arena_bytes);
    EXPECT_GT(arena_of(window->chunks + kLanes), quota.arena_bytes)
        << "one more chunk per lane would not fit";
  }
}

TEST_P(JobQuotaTest, OneByteLessIsAChunkPerLaneLess) {
  const std::uint32_t largest = planned();
  JobQuota quota = whole();
  --quota.arena_bytes;
  const auto window = windows_within(plan_, place_, quota);
  ASSERT_TRUE(window.ok()) << window.error().message;
  EXPECT_LT(window->chunks, largest);
  EXPECT_EQ(window->planned_chunks, largest);
  EXPECT_GE(window->chunks, largest - kLanes);
}

TEST_P(JobQuotaTest, TooSmallIsNamedWithWhatIsNeeded) {
  constexpr std::uint32_t kLeast = kLanes;
  JobQuota quota = whole();
  quota.arena_bytes = arena_of(kLeast);
  EXPECT_EQ(windows_within(plan_, place_, quota)->chunks, kLeast);
  --quota.arena_bytes;
  const auto arena = windows_within(plan_, place_, quota);
  ASSERT_FALSE(arena.ok());
  EXPECT_EQ(arena.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(arena.error().message, "the plan needs an arena of at least " +
                                       std::to_string(quota.arena_bytes + 1) + " bytes, the job's quota is " +
                                       std::to_string(quota.arena_bytes));
  quota = whole();
  const std::uint64_t least = edge_needs(with_windows(plan_, kLeast), place_).buffers();
  quota.buffers = least - 1;
  const auto buffers = windows_within(plan_, place_, quota);
  ASSERT_FALSE(buffers.ok());
  EXPECT_EQ(buffers.error().message, "the plan needs at least " + std::to_string(least) +
                                         " packet buffers, the job's quota is " + std::to_string(least - 1));
}

TEST_P(JobQuotaTest, LinksThatReserveMoreThanThePlanNeedsUseTheQuota) {
  JobQuota quota = whole();
  quota.link_windows[0] *= 2;
  EXPECT_FALSE(windows_within(plan_, place_, quota).ok()) << "their caches may fill that much";
  quota.buffers += std::uint64_t{quota.link_windows[0] / 2} * kLanes;
  EXPECT_EQ(windows_within(plan_, place_, quota)->chunks, planned());
}

INSTANTIATE_TEST_SUITE_P(Modes, JobQuotaTest, testing::Bool(),
                         [](const auto& mode) { return mode.param ? "tree" : "direct"; });

}  // namespace
}  // namespace tombolo::control
