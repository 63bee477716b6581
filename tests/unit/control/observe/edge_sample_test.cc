#include "control/observe/edge_sample.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "control/observe/latest.h"
#include "protocol/wire/feedback.h"
#include "tests/unit/dataplane/edge/small_edge.h"

namespace tombolo::control {
namespace {

using dataplane::EdgeTotals;
using dataplane::kDeadline;
using dataplane::kEast;
using dataplane::kEdgeSession;
using dataplane::kFirstRound;
using dataplane::kIsland;
using dataplane::kNeighbourSession;
using dataplane::kWest;
using dataplane::SmallEdge;
using wire::RoundOutcome;

const std::vector<JobNames> kNames{{{"WEST", "island MID", "EAST"}, {"WEST", "MID", "EAST"}}};

class EdgeSampleTest : public testing::Test {
 protected:
  EdgeSample edge_sample() { return take_sample(edge_.edge(), kNames, {}, edge_.now_ns()); }
  JobSample sample() { return edge_sample().jobs.at(0); }
  void start() {
    edge_.bring_up();
    edge_.install({});
    edge_.grant_all(kFirstRound);
  }
  void contribute(std::uint16_t rank, std::uint32_t chunk) {
    edge_.contribute(rank, kFirstRound, chunk);
    edge_.turn();
  }

  SmallEdge edge_{{.lane_count = 2}};
};

std::uint64_t ended(const JobSample& sample, RoundOutcome outcome) {
  return sample.aggregation.rounds_ended[static_cast<std::size_t>(outcome)];
}

TEST_F(EdgeSampleTest, BeforeAnythingHappensThereIsNothing) {
  const JobSample before = sample();
  const EdgeSample edge = edge_sample();
  EXPECT_EQ(edge.site, "MID");
  EXPECT_EQ(edge.session, kEdgeSession);
  EXPECT_EQ(edge.lane_count, 2U);
  ASSERT_EQ(edge.jobs.size(), 1U);
  EXPECT_EQ(before.job, 7U);
  EXPECT_EQ(before.epochs.newest, 0U);
  EXPECT_FALSE(before.epochs.highest_opened_round.has_value());
  EXPECT_TRUE(before.rounds.empty());
  EXPECT_TRUE(before.aggregation.lags.empty());
  ASSERT_EQ(before.peers.size(), 3U);
  EXPECT_FALSE(before.peers[0].up());
  EXPECT_EQ(before.peers[0].rtt_ns, kMillisecond) << "as configured, until it is measured";
}

TEST_F(EdgeSampleTest, AWholeRoundIsCountedByArithmetic) {
  start();
  const JobSample before = sample();
  Random random(1);
  edge_.contribute_all(kFirstRound, random);
  const JobSample after = sample();
  const std::uint64_t chunks = edge_.update.chunks();
  ASSERT_EQ(chunks, 20U);
  ASSERT_EQ(after.lanes.size(), 2U);
  for (std::size_t lane = 0; lane < 2; ++lane) {
    EXPECT_EQ(after.lanes[lane].lane, lane);
    EXPECT_EQ(after.lanes[lane].rx_packets - before.lanes[lane].rx_packets, 3 * chunks / 2);
    EXPECT_EQ(after.lanes[lane].contributions, 3 * chunks / 2);
    EXPECT_EQ(after.lanes[lane].results, chunks / 2);
    EXPECT_EQ(after.lanes[lane].copies, 4 * chunks / 2) << "west and east: one each; the island: two";
  }
  EXPECT_EQ(after.copies, 4 * chunks);
  EXPECT_EQ(after.packets_replicated, 3 * chunks);
  EXPECT_EQ(after.payload_bytes_saved, edge_.update.elements * 4) << "of the island's copies";
  EXPECT_EQ(ended(after, RoundOutcome::kComplete), 2U) << "in each lane";
  EXPECT_EQ(ended(after, RoundOutcome::kDeadline), 0U);
  EXPECT_EQ(after.aggregation.durations.counts[0], 2U) << "time stands still";
  EXPECT_EQ(after.aggregation.durations.sum_ns, 0U);
  EXPECT_EQ(after.aggregation.held_contributions, 0U);
  const EdgeTotals totals = edge_.edge().totals();
  EXPECT_EQ(after.copies, totals.copies) << "the two ways to add up agree";
  EXPECT_EQ(edge_sample().all_drops(), totals.drops);
}

TEST_F(EdgeSampleTest, PeersAreNamedAndCounted) {
  start();
  const JobSample before = sample();
  for (std::uint32_t chunk = 0; chunk < 4; ++chunk) contribute(0, chunk);
  const JobSample after = sample();
  ASSERT_EQ(after.peers.size(), 3U);
  const PeerSample& west = after.peers[kWest];
  EXPECT_EQ(west.name, "WEST");
  EXPECT_EQ(west.address, "10.0.0.0:4700");
  EXPECT_FALSE(west.is_island);
  EXPECT_TRUE(after.peers[kIsland].is_island);
  EXPECT_TRUE(west.up());
  EXPECT_EQ(west.lanes_up, 2U);
  EXPECT_EQ(west.session, kNeighbourSession);
  EXPECT_EQ(west.rx_packets - before.peers[kWest].rx_packets, 4U);
  EXPECT_EQ(west.rx_bytes - before.peers[kWest].rx_bytes, 4U * (64 + 32 * 4));
  const PeerSample& east = after.peers[kEast];
  EXPECT_GE(east.tx_packets - before.peers[kEast].tx_packets, 4U);
  EXPECT_GE(east.tx_bytes - before.peers[kEast].tx_bytes, 4U * (64 + 32 * 4));
  EXPECT_GE(east.outstanding, 4U) << "nobody has acknowledged them";
  edge_.acknowledge(kEast);
  EXPECT_EQ(sample().peers[kEast].outstanding, 0U);
}

TEST_F(EdgeSampleTest, WhatIsMissingOnALinkIsCounted) {
  start();
  contribute(0, 0);
  edge_.next_sequence[{kWest, 0}] += 3;
  contribute(0, 2);
  JobSample after = sample();
  EXPECT_EQ(after.peers[kWest].gaps, 3U);
  EXPECT_EQ(after.peers[kWest].repairs_asked, 3U) << "asked for at once";
  EXPECT_EQ(after.peers[kWest].given_up, 0U);
  EXPECT_EQ(after.peers[kEast].gaps, 0U);
}

TEST_F(EdgeSampleTest, ARepairIsCountedOnItsLink) {
  start();
  edge_.forget_received();
  contribute(0, 0);
  contribute(0, 2);
  const auto copies = edge_.take(kEast, wire::Type::kContribution);
  ASSERT_EQ(copies.size(), 2U);
  edge_.advance(kSecond / 2);
  wire::Feedback feedback;
  feedback.peer_session = kEdgeSession;
  feedback.cumulative = copies[0].header.link_sequence;
  feedback.highest = feedback.cumulative + 2;
  feedback.range_count = 1;
  feedback.ranges[0] = {feedback.cumulative, 1};
  dataplane::Bytes body(wire::kMaxFeedbackBytes);
  body.resize(wire::encode(feedback, body));
  edge_.send(kEast, edge_.header(kEast, wire::Type::kFeedback), body);
  const JobSample after = sample();
  EXPECT_EQ(after.peers[kEast].repairs_sent, 1U);
  EXPECT_EQ(after.peers[kWest].repairs_sent, 0U);
  EXPECT_EQ(after.peers[kIsland].repairs_sent, 0U);
}

TEST_F(EdgeSampleTest, AnOpenRoundNamesWhoIsLate) {
  start();
  for (const std::uint32_t chunk : {0U, 1U}) {
    contribute(0, chunk);
    contribute(1, chunk);
  }
  edge_.advance(250 * kMillisecond);
  const JobSample waiting = sample();
  ASSERT_EQ(waiting.rounds.size(), 2U) << "two rounds are open at once";
  const OpenRoundSample& first = waiting.rounds[0];
  EXPECT_EQ(first.round, kFirstRound);
  EXPECT_EQ(first.epoch, 1U);
  EXPECT_EQ(first.island, "MID");
  EXPECT_EQ(first.members, 3U);
  EXPECT_EQ(first.lanes_open, 2U);
  EXPECT_EQ(first.late, std::vector<std::string>{"EAST"});
  EXPECT_EQ(first.chunks_done, 0U);
  EXPECT_EQ(first.chunks_total, 20U);
  ASSERT_TRUE(first.age_ns.has_value());
  EXPECT_EQ(*first.age_ns, 250 * kMillisecond);
  EXPECT_EQ(first.time_left_ns, kDeadline - 250 * kMillisecond);
  EXPECT_EQ(waiting.rounds[1].round, kFirstRound + 1);
  EXPECT_EQ(waiting.rounds[1].late, (std::vector<std::string>{"WEST", "MID", "EAST"}));
  EXPECT_FALSE(waiting.rounds[1].age_ns.has_value());
  EXPECT_EQ(waiting.aggregation.rounds_open, 4U) << "two in each lane";
  EXPECT_EQ(waiting.aggregation.held_contributions, 4U);
  EXPECT_EQ(waiting.aggregation.slots, 2U * 2 * 8) << "lanes, rounds, slots of each";
  contribute(2, 0);
  contribute(2, 1);
  const JobSample gone_on = sample();
  EXPECT_EQ(gone_on.rounds[0].chunks_done, 2U);
  EXPECT_EQ(gone_on.rounds[0].late, (std::vector<std::string>{"WEST", "MID", "EAST"}));
  EXPECT_EQ(gone_on.aggregation.held_contributions, 0U);
}

TEST_F(EdgeSampleTest, LagIsMeasuredFromTheFastestMember) {
  edge_.update.elements = 2 * 32;  // One chunk in each of two lanes.
  start();
  const auto contribute_both = [this](std::uint16_t rank) {
    contribute(rank, 0);
    contribute(rank, 1);
  };
  contribute_both(0);
  edge_.advance(10 * kMillisecond);
  contribute_both(1);
  edge_.advance(20 * kMillisecond);
  contribute_both(2);
  const AggregationSample after = sample().aggregation;
  ASSERT_EQ(after.lags.size(), 3U);
  const std::vector<std::string> names{"WEST", "MID", "EAST"};
  const std::vector<Nanoseconds> behind{0, 10 * kMillisecond, 30 * kMillisecond};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(after.lags[i].name, names[i]);
    EXPECT_EQ(after.lags[i].rounds, 2U) << "in each lane";
    EXPECT_EQ(after.lags[i].behind_ns, 2 * behind[i]);
  }
  EXPECT_EQ(after.durations.sum_ns, 2 * 30 * kMillisecond);
  for (std::size_t i = 0; i < after.durations.counts.size(); ++i)
    EXPECT_EQ(after.durations.counts[i], i == 5 ? 2U : 0U)
        << "30 ms are above 25 ms and below 50 ms: class 5";
}

TEST_F(EdgeSampleTest, ARoundThatRunsOutOfTimeIsCountedAsThat) {
  start();
  contribute(0, 0);
  edge_.advance(kDeadline);
  edge_.turn();
  const JobSample after = sample();
  EXPECT_EQ(ended(after, RoundOutcome::kDeadline), 1U) << "in the one lane where it had begun";
  EXPECT_EQ(ended(after, RoundOutcome::kComplete), 0U);
  EXPECT_EQ(after.aggregation.held_contributions, 0U) << "its buffers are free";
  EXPECT_EQ(after.aggregation.durations.sum_ns, 0U) << "only complete rounds have a duration";
}

TEST_F(EdgeSampleTest, ANeighbourThatFallsSilentIsDown) {
  edge_.bring_up();
  EXPECT_TRUE(sample().peers[kEast].up());
  edge_.advance(31 * kSecond);  // Three HELLO intervals of ten seconds.
  edge_.turn();
  const JobSample after = sample();
  EXPECT_FALSE(after.peers[kEast].up());
  EXPECT_EQ(after.peers[kEast].lanes_up, 0U);
  EXPECT_EQ(after.peers[kEast].downs, 2U) << "in each lane";
}

TEST_F(EdgeSampleTest, TwoEpochsAreShownWhileTheOlderOneHasRoundsOpen) {
  start();
  contribute(0, 0);
  edge_.install({.epoch = 2}, kFirstRound + 1);
  JobSample both = sample();
  EXPECT_EQ(both.epochs.newest, 2U);
  EXPECT_EQ(both.epochs.first_round, kFirstRound + 1);
  EXPECT_EQ(both.epochs.older, 1U);
  EXPECT_EQ(both.epochs.lanes_taken_up, 2U);
  ASSERT_GE(both.rounds.size(), 2U);
  EXPECT_EQ(both.rounds[0].epoch, 1U);
  EXPECT_EQ(both.rounds[0].round, kFirstRound);
  EXPECT_EQ(both.rounds[1].epoch, 2U);
  edge_.advance(2 * kDeadline);
  edge_.turn();
  EXPECT_EQ(sample().epochs.older, 0U);
}

TEST_F(EdgeSampleTest, NamesThatAreMissingAreMadeOfNumbers) {
  start();
  contribute(0, 0);
  const JobSample unnamed = take_sample(edge_.edge(), {}, {}, edge_.now_ns()).jobs.at(0);
  EXPECT_EQ(unnamed.peers[0].name, "10.0.0.0:4700");
  ASSERT_FALSE(unnamed.rounds.empty());
  EXPECT_EQ(unnamed.rounds[0].island, "rank 1");
}

TEST_F(EdgeSampleTest, WhatComesFromOutsideIsPassedOn) {
  EdgeSurroundings outside;
  outside.ports.push_back({"wan", 1, 2, 3, 4, {{"arp_other", 5}}});
  outside.pools.push_back(sample_pool("packets", edge_.edge_pool()));
  outside.times.push_back({10, 20, 30, 40});
  const EdgeSample sample = take_sample(edge_.edge(), kNames, outside, edge_.now_ns());
  ASSERT_EQ(sample.ports.size(), 1U);
  EXPECT_EQ(sample.ports[0].drops[0].name, "arp_other");
  ASSERT_EQ(sample.pools.size(), 1U);
  EXPECT_EQ(sample.pools[0].buffers, 4096U);
  EXPECT_EQ(sample.pools[0].in_use, edge_.edge_pool().in_use());
  ASSERT_EQ(sample.workers.size(), 1U);
  EXPECT_EQ(sample.workers[0].times.stalled_ns, 40U);
}

TEST(LatestTest, AReaderKeepsWhatItHolds) {
  Latest<std::string> latest;
  EXPECT_EQ(latest.get(), nullptr);
  latest.put("first");
  const auto held = latest.get();
  latest.put("second");
  EXPECT_EQ(*held, "first");
  EXPECT_EQ(*latest.get(), "second");
}

}  // namespace
}  // namespace tombolo::control
