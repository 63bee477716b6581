#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "protocol/wire/packet.h"
#include "tests/unit/dataplane/edge/small_edge.h"

namespace tombolo::dataplane {
namespace {

using wire::Type;

/// Two jobs at one edge, over one worker or two with one queue; the puppets speak for one of them at a time.
class JobsTest : public testing::TestWithParam<std::uint32_t> {
 protected:
  /// The puppets' next packets are the other job's, with its own numbers.
  void speak_for(std::uint16_t job) {
    edge_.next_sequence.swap(sequences_[spoken_ - kJob]);
    spoken_ = edge_.job = job;
    edge_.next_sequence.swap(sequences_[job - kJob]);
  }
  EdgeJob& of(std::uint16_t job) { return edge_.edge().job(job - kJob); }

  void bring_up(std::uint16_t job) {
    speak_for(job);
    for (const Side side : kAllSides) edge_.greet(side);
    edge_.turn();
    ASSERT_TRUE(of(job).all_links_up());
  }
  void install(std::uint16_t job, const EpochOptions& options = {}) {
    EpochTable table = make_table(options, kLanes);
    table.job = job;
    ASSERT_TRUE(of(job).install(std::make_shared<const EpochTable>(std::move(table)), kFirstRound).ok());
    edge_.turn();
  }
  void start_both() {
    edge_.turn();
    for (const std::uint16_t job : kJobs) {
      bring_up(job);
      install(job);
      edge_.grant_all(kFirstRound);
    }
    edge_.forget_received();
  }

  static constexpr std::uint16_t kLanes = 2;
  static constexpr std::uint16_t kOther = kJob + 1;
  static constexpr std::array<std::uint16_t, 2> kJobs{kJob, kOther};

  SmallEdge edge_{{.lane_count = kLanes, .jobs = 2, .workers = GetParam()}};

 private:
  std::uint16_t spoken_ = kJob;
  std::array<std::map<std::pair<std::uint8_t, std::uint16_t>, std::uint32_t>, 2> sequences_;
};

TEST_P(JobsTest, APacketIsItsJobsAndCountedThere) {
  edge_.turn();
  bring_up(kOther);
  EXPECT_EQ(of(kOther).totals().packets_in, 3U * kLanes) << "a HELLO from each side in each lane";
  EXPECT_EQ(of(kJob).totals().packets_in, 0U);
  EXPECT_FALSE(of(kJob).all_links_up()) << "its neighbours have said nothing yet";
  EXPECT_FALSE(edge_.edge().all_links_up());
}

TEST_P(JobsTest, WhatNamesNoJobOfTheEdgeIsCountedOnce) {
  edge_.turn();
  edge_.job = kOther + 1;
  edge_.greet(kWest);
  edge_.turn();
  EXPECT_EQ(edge_.drops(DropReason::kUnknownJob), std::uint64_t{kLanes});
  EXPECT_EQ(edge_.all_drops(), std::uint64_t{kLanes});
  EXPECT_EQ(of(kOther).totals().packets_in, 0U);
  edge_.put_raw(kWest, SmallEdge::address(kWest), 0, Bytes(9));
  edge_.turn();
  EXPECT_EQ(edge_.drops(DropReason::kTruncated), 1U) << "too short to name a job";
}

TEST_P(JobsTest, TheSameRankRoundAndChunkFoldOnceInEachJob) {
  start_both();
  Random random(3);
  for (const std::uint16_t job : kJobs) {
    speak_for(job);
    edge_.contribute_all(kFirstRound, random);
  }
  for (const std::uint16_t job : kJobs) {
    EXPECT_EQ(of(job).totals().folds, edge_.update.chunks());
    EXPECT_EQ(of(job).totals().rounds_complete, std::uint64_t{kLanes});
  }
  std::map<std::uint16_t, std::uint32_t> results;
  for (const Received& result : edge_.take(kIsland, Type::kResult)) {
    ++results[result.header.job];
    EXPECT_EQ(result.payload, edge_.update.mean(kRanks, kFirstRound, result.header.chunk));
  }
  EXPECT_EQ(results[kJob], edge_.update.chunks());
  EXPECT_EQ(results[kOther], edge_.update.chunks());
  EXPECT_EQ(edge_.all_drops(), 0U);
}

TEST_P(JobsTest, OneJobsContributionCompletesNothingOfTheOther) {
  start_both();
  speak_for(kJob);
  for (const std::uint16_t rank : {std::uint16_t{0}, std::uint16_t{1}})
    edge_.contribute(rank, kFirstRound, 0);
  speak_for(kOther);
  edge_.contribute(2, kFirstRound, 0);
  edge_.turn();
  EXPECT_EQ(of(kJob).totals().folds + of(kOther).totals().folds, 0U);
  speak_for(kJob);
  edge_.contribute(2, kFirstRound, 0);
  edge_.turn();
  EXPECT_EQ(of(kJob).totals().folds, 1U);
  EXPECT_EQ(of(kOther).totals().folds, 0U);
}

TEST_P(JobsTest, ADeadlineOfOneLeavesTheOtherAlone) {
  start_both();
  speak_for(kJob);
  edge_.contribute(0, kFirstRound, 0);
  edge_.turn();
  edge_.advance(kDeadline);
  edge_.turn();
  EXPECT_EQ(of(kJob).totals().rounds_failed, 1U);
  EXPECT_EQ(of(kOther).totals().rounds_failed, 0U);
  speak_for(kOther);
  Random random(4);
  edge_.contribute_all(kFirstRound, random);
  EXPECT_EQ(of(kOther).totals().rounds_complete, std::uint64_t{kLanes});
}

TEST_P(JobsTest, EpochsAreInstalledInEachJobByItself) {
  start_both();
  const auto table = std::make_shared<const EpochTable>(make_table({.epoch = 2}, kLanes));
  const Status wrong = of(kOther).install(table, kFirstRound + 4);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().message, "edge MID: epoch 2: it is for job 7, and comes to job 8");
  ASSERT_TRUE(of(kJob).install(table, kFirstRound + 4).ok());
  edge_.turn();
  EXPECT_EQ(of(kJob).live_epochs()[0].table->epoch, 2U);
  EXPECT_EQ(of(kOther).live_epochs()[0].table->epoch, 1U);
  EXPECT_TRUE(of(kOther).can_install());
}

INSTANTIATE_TEST_SUITE_P(Workers, JobsTest, testing::Values(1U, 2U));

}  // namespace
}  // namespace tombolo::dataplane
