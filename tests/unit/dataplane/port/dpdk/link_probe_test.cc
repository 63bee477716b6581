// The probe's logic with echoes by hand; dpdk_port_emulation_test.cc measures real links with it.
#include "dataplane/port/dpdk/link_probe.h"

#include <gtest/gtest.h>

#include <thread>

namespace tombolo::dataplane {
namespace {

constexpr std::uint32_t kPeer = 0x0a000002;

ProbeRequest round_trips(std::uint32_t count) {
  return {ProbeRequest::Kind::kRoundTrip, kPeer, count, 98, 1000};
}

/// Sends what is due; returns the sequence number and identifier of the last.
LinkProbe::Due send(LinkProbe& probe, Nanoseconds now_ns) {
  const LinkProbe::Due due = probe.due(now_ns);
  if (due.count > 0) probe.on_sent(due.count, now_ns);
  return due;
}

TEST(LinkProbe, MinimumAndMedianOfItsRoundTrips) {
  LinkProbe probe;
  ASSERT_TRUE(probe.start(round_trips(5)).ok());
  Nanoseconds now_ns = 100;
  for (const Nanoseconds rtt_ns : {50U, 10U, 90U, 30U, 70U}) {
    const LinkProbe::Due due = send(probe, now_ns);
    ASSERT_EQ(due.count, 1U);
    EXPECT_EQ(send(probe, now_ns).count, 0U);
    EXPECT_FALSE(probe.take_result().has_value());
    EXPECT_TRUE(probe.on_reply(kPeer, due.identifier, due.first_sequence, now_ns + rtt_ns));
    now_ns += 500;
  }
  EXPECT_EQ(probe.due(now_ns).count, 0U);
  const auto result = probe.take_result();
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->received, 5U);
  EXPECT_EQ(result->min_rtt_ns, 10U);
  EXPECT_EQ(result->median_rtt_ns, 50U);
  EXPECT_FALSE(probe.take_result().has_value());
}

TEST(LinkProbe, OnlyAnswersThatItWaitsForCount) {
  LinkProbe probe;
  EXPECT_FALSE(probe.on_reply(kPeer, 0, 0, 1));  // None runs.
  ASSERT_TRUE(probe.start(round_trips(2)).ok());
  EXPECT_FALSE(probe.on_reply(kPeer, 1, 0, 1));  // None was sent.
  const LinkProbe::Due due = send(probe, 10);
  EXPECT_FALSE(probe.on_reply(kPeer + 1, due.identifier, 0, 20));
  EXPECT_FALSE(probe.on_reply(kPeer, static_cast<std::uint16_t>(due.identifier + 1), 0, 20));
  EXPECT_FALSE(probe.on_reply(kPeer, due.identifier, 1, 20));
  EXPECT_TRUE(probe.on_reply(kPeer, due.identifier, 0, 20));
  EXPECT_FALSE(probe.on_reply(kPeer, due.identifier, 0, 21));  // Twice.
  send(probe, 30);
  EXPECT_EQ(probe.next_due_ns(), 1030U);
  send(probe, 1030);
  EXPECT_FALSE(probe.on_reply(kPeer, due.identifier, 1, 1031));  // Too late.
  EXPECT_EQ(probe.take_result()->received, 1U);
}

TEST(LinkProbe, ALateAnswerIsNotTakenForTheNext) {
  LinkProbe probe;
  ASSERT_TRUE(probe.start(round_trips(2)).ok());
  const LinkProbe::Due due = send(probe, 0);
  send(probe, 1000);  // The first is given up, the second leaves.
  EXPECT_FALSE(probe.on_reply(kPeer, due.identifier, 0, 1010));
  EXPECT_TRUE(probe.on_reply(kPeer, due.identifier, 1, 1020));
  send(probe, 1021);
  EXPECT_EQ(probe.take_result()->min_rtt_ns, 20U);
}

TEST(LinkProbe, RateIsThatOfTheSpacing) {
  LinkProbe probe;
  ASSERT_TRUE(probe.start({ProbeRequest::Kind::kRate, kPeer, 40, 1000, kSecond}).ok());
  // 40 echoes leave in turns of 16.
  EXPECT_EQ(probe.next_due_ns(), 0U);
  const LinkProbe::Due first = send(probe, 0);
  EXPECT_EQ(first.count, 16U);
  EXPECT_EQ(send(probe, 1).first_sequence, 16U);
  EXPECT_EQ(send(probe, 2).count, 8U);
  EXPECT_EQ(send(probe, 3).count, 0U);
  // 8000 bits every 80 us are 100 Mbit/s. The third is lost: 38 gaps of which one is double, 39 answers.
  for (std::uint16_t i = 0; i < 40; ++i)
    if (i != 2) probe.on_reply(kPeer, first.identifier, i, 5000 + i * Nanoseconds{80'000});
  send(probe, kSecond);
  EXPECT_FALSE(probe.take_result().has_value());
  EXPECT_EQ(probe.next_due_ns(), 5000 + 39 * 80'000 + kSecond);
  send(probe, probe.next_due_ns());
  const auto result = probe.take_result();
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->sent, 40U);
  EXPECT_EQ(result->received, 39U);
  // 38 x 8000 bits in 39 x 80 us.
  EXPECT_EQ(result->rate_bps, 97'435'897U);
}

TEST(LinkProbe, WhenNothingCanLeaveItEndsAndDoesNotSpin) {
  LinkProbe probe;
  ASSERT_TRUE(probe.start({ProbeRequest::Kind::kRate, kPeer, 2, 98, 10 * kMillisecond}).ok());
  Nanoseconds now_ns = 7;
  int turns = 0;
  while (!probe.take_result().has_value() && ++turns < 100) {
    if (probe.due(now_ns).count > 0) probe.on_sent(0, now_ns);
    now_ns = std::max(now_ns + 1, probe.next_due_ns() == kNever ? 0 : probe.next_due_ns());
  }
  // Once a millisecond.
  EXPECT_LE(turns, 12);
}

TEST(LinkProbe, ControlAndWorkerHandOverOnTwoThreads) {
  LinkProbe probe;
  std::atomic<bool> stop{false};
  std::thread worker([&] {
    for (Nanoseconds now_ns = 1; !stop; ++now_ns) {
      const LinkProbe::Due due = send(probe, now_ns);
      if (due.count > 0) probe.on_reply(kPeer, due.identifier, due.first_sequence, now_ns + 5);
      std::this_thread::yield();
    }
  });
  for (std::uint32_t i = 0; i < 200; ++i) {
    ASSERT_TRUE(probe.start(round_trips(1 + i % 3)).ok());
    std::optional<ProbeResult> result;
    while (!(result = probe.take_result())) std::this_thread::yield();
    EXPECT_EQ(result->received, 1 + i % 3);
    EXPECT_EQ(result->min_rtt_ns, 5U);
  }
  stop = true;
  worker.join();
}

}  // namespace
}  // namespace tombolo::dataplane
