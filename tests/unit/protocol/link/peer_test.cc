#include "protocol/link/peer.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

namespace tombolo::link {
namespace {

constexpr Nanoseconds kHelloInterval = 200 * kMillisecond;
constexpr Nanoseconds kSilence = 3 * kHelloInterval;

PeerConfig config(std::uint32_t session, std::uint32_t first_sequence = 0) {
  PeerConfig result;
  result.session = session;
  result.window = 64;
  result.first_sequence = first_sequence;
  result.hello_interval_ns = kHelloInterval;
  return result;
}

wire::Header header(std::uint32_t session, Nanoseconds sent_ns = 0) {
  wire::Header result;
  result.session = session;
  result.timestamp_us = timestamp_us(sent_ns);
  return result;
}

/// A node: a Peer and the session it speaks under.
struct Node {
  explicit Node(std::uint32_t own_session, std::uint32_t first_sequence = 0)
      : session(own_session), peer(config(own_session, first_sequence)) {}
  void restart(std::uint32_t new_session, std::uint32_t first_sequence = 0) {
    *this = Node(new_session, first_sequence);
  }

  std::uint32_t session;
  Peer peer;
};

/// One HELLO from one to the other.
Peer::HelloOutcome hello(Node& from, Node& to, Nanoseconds sent_ns, Nanoseconds delay_ns = 0) {
  return to.peer.on_hello(header(from.session, sent_ns), from.peer.make_hello(sent_ns), sent_ns + delay_ns);
}

/// HELLOs in both directions as long as one is due; returns how many.
int settle(Node& a, Node& b, Nanoseconds now_ns) {
  int hellos = 0;
  while (hellos < 100 && (a.peer.hello_due(now_ns) || b.peer.hello_due(now_ns))) {
    const bool from_a = a.peer.hello_due(now_ns);
    hello(from_a ? a : b, from_a ? b : a, now_ns);
    ++hellos;
  }
  return hellos;
}

std::uint32_t keep(Node& node, Nanoseconds now_ns) {
  wire::Header packet = header(node.session, now_ns);
  packet.type = static_cast<std::uint8_t>(wire::Type::kGrant);
  node.peer.sender().keep(packet, nullptr, 0, {}, now_ns);
  return packet.link_sequence;
}

DropReason take(Node& node, std::uint32_t sequence) {
  const DropReason reason = node.peer.receiver().check(sequence);
  if (reason == DropReason::kNone) node.peer.receiver().mark(sequence);
  return reason;
}

TEST(Peer, ComesUpWithThreeHellos) {
  Node a(100), b(200);
  EXPECT_TRUE(a.peer.hello_due(0)) << "the first one is due at once";
  EXPECT_FALSE(hello(a, b, 0).became_up) << "a does not know b's session yet";
  EXPECT_FALSE(b.peer.up());
  EXPECT_TRUE(b.peer.hello_due(0));
  EXPECT_TRUE(hello(b, a, 0).became_up);
  EXPECT_TRUE(a.peer.up());
  EXPECT_TRUE(a.peer.hello_due(0)) << "b must hear its own session";
  EXPECT_TRUE(hello(a, b, 0).became_up);
  EXPECT_TRUE(b.peer.up());
  EXPECT_EQ(a.peer.remote_session(), 200u);
  EXPECT_EQ(b.peer.remote_session(), 100u);
}

TEST(Peer, BothStartAtOnce) {
  Node a(100), b(200);
  const wire::Hello from_a = a.peer.make_hello(0);
  const wire::Hello from_b = b.peer.make_hello(0);
  EXPECT_FALSE(b.peer.on_hello(header(100), from_a, 1).became_up);
  EXPECT_FALSE(a.peer.on_hello(header(200), from_b, 1).became_up);
  const wire::Hello again_a = a.peer.make_hello(2);
  const wire::Hello again_b = b.peer.make_hello(2);
  EXPECT_TRUE(b.peer.on_hello(header(100), again_a, 3).became_up);
  EXPECT_TRUE(a.peer.on_hello(header(200), again_b, 3).became_up);
  EXPECT_LE(settle(a, b, 3), 2);
  EXPECT_FALSE(a.peer.hello_due(3)) << "the exchange ends";
}

TEST(Peer, TheExchangeEndsWhoeverSpeaksFirst) {
  Node a(100), b(200);
  EXPECT_LE(settle(a, b, 0), 6);
  EXPECT_TRUE(a.peer.up() && b.peer.up());
  EXPECT_EQ(a.peer.next_timer_ns(), std::min(kHelloInterval, a.peer.receiver().next_feedback_ns()));
  EXPECT_FALSE(a.peer.hello_due(kHelloInterval - 1));
  EXPECT_TRUE(a.peer.hello_due(kHelloInterval));
  a.peer.announce();
  EXPECT_TRUE(a.peer.hello_due(1));
}

struct SessionCase {
  const char* name;
  std::uint32_t session;
  DropReason admitted;       ///< A packet that is not a HELLO.
  DropReason hello_refused;  ///< A HELLO.
  bool up_after_hello;       ///< One that does not know our session.
};

TEST(Peer, SessionsAsATable) {
  for (const std::uint32_t current : {100u, 0xffffffffu, 0x7fffffffu}) {
    const SessionCase cases[] = {
        {"current", current, DropReason::kNone, DropReason::kNone, true},
        {"older", current - 1, DropReason::kOldSession, DropReason::kOldSession, true},
        {"oldest", current - 0x7fffffff, DropReason::kOldSession, DropReason::kOldSession, true},
        {"newer", current + 2, DropReason::kUnknownSession, DropReason::kNone, false},
        {"newest", current + 0x7fffffff, DropReason::kUnknownSession, DropReason::kNone, false},
    };
    for (const SessionCase& c : cases) {
      SCOPED_TRACE(std::string(c.name) + ", current " + std::to_string(current));
      Node a(7), b(current);
      settle(a, b, 0);
      const std::uint32_t kept = keep(a, 0);
      EXPECT_EQ(a.peer.admit(header(c.session), 1), c.admitted);
      EXPECT_TRUE(a.peer.up());
      EXPECT_EQ(a.peer.remote_session(), current);
      const auto outcome = a.peer.on_hello(header(c.session), wire::Hello{}, 1);
      EXPECT_EQ(outcome.refused, c.hello_refused);
      EXPECT_FALSE(outcome.became_up);
      EXPECT_EQ(a.peer.up(), c.up_after_hello);
      EXPECT_EQ(a.peer.sender().find(kept) != nullptr, c.up_after_hello)
          << "kept only for the session it is for";
      EXPECT_EQ(a.peer.remote_session(), c.hello_refused == DropReason::kNone ? c.session : current);
      EXPECT_EQ(a.peer.admit(header(current), 2),
                c.up_after_hello ? DropReason::kNone : DropReason::kOldSession);
    }
  }
}

TEST(Peer, NothingIsAdmittedBeforeTheyAreUp) {
  Node a(100), b(200);
  EXPECT_EQ(a.peer.admit(header(200), 0), DropReason::kUnknownSession) << "never heard";
  EXPECT_EQ(a.peer.admit(header(0), 0), DropReason::kUnknownSession);
  hello(b, a, 0);
  EXPECT_EQ(a.peer.admit(header(200), 0), DropReason::kUnknownSession) << "heard, but it does not know us";
  settle(a, b, 0);
  EXPECT_EQ(a.peer.admit(header(200), 0), DropReason::kNone);
}

TEST(Peer, AHelloToOurFormerLifeIsAnsweredAndChangesNothingElse) {
  Node a(100), b(200);
  settle(a, b, 0);
  wire::Hello stale;
  stale.peer_session = 99;
  stale.first_sequence = stale.next_sequence = 50;
  EXPECT_EQ(a.peer.on_hello(header(200), stale, 1).refused, DropReason::kNone);
  EXPECT_TRUE(a.peer.up());
  EXPECT_TRUE(a.peer.hello_due(1));
  EXPECT_EQ(a.peer.receiver().cumulative(), 0u) << "its numbers are for another";
}

TEST(Peer, ARestartOfEitherSideStartsBothDirectionsAfresh) {
  for (const bool a_restarts : {true, false}) {
    SCOPED_TRACE(a_restarts);
    Node a(100, 0xfffffffe), b(200, 10);
    settle(a, b, 0);
    for (int n = 0; n < 5; ++n) take(b, keep(a, 0));
    for (int n = 0; n < 5; ++n) take(a, keep(b, 0));
    Node& restarted = a_restarts ? a : b;
    Node& stayed = a_restarts ? b : a;
    const std::uint32_t stayed_next = stayed.peer.sender().next_sequence();
    restarted.restart(restarted.session + 1, 1000);
    settle(a, b, kMillisecond);
    ASSERT_TRUE(a.peer.up() && b.peer.up());
    EXPECT_EQ(stayed.peer.remote_session(), restarted.session);
    EXPECT_EQ(stayed.peer.sender().outstanding(), 0u) << "what was kept for the former life is of no use";
    EXPECT_EQ(stayed.peer.sender().next_sequence(), stayed_next) << "numbers are never reset";
    EXPECT_EQ(restarted.peer.receiver().cumulative(), stayed_next);
    EXPECT_EQ(stayed.peer.receiver().cumulative(), 1000u);
    EXPECT_EQ(stayed.peer.receiver().given_up() + restarted.peer.receiver().given_up(), 0u);
    EXPECT_EQ(take(restarted, stayed_next - 1), DropReason::kDuplicateSequence) << "was for the former life";
    EXPECT_EQ(take(stayed, 1000), DropReason::kNone);
    EXPECT_EQ(take(restarted, keep(stayed, 0)), DropReason::kNone);
  }
}

TEST(Peer, BothRestartAtOnce) {
  Node a(100), b(200);
  settle(a, b, 0);
  const wire::Hello old_a = a.peer.make_hello(1);
  const wire::Hello old_b = b.peer.make_hello(1);
  a.restart(101, 5);
  b.restart(201, 6);
  // What the former lives said last is still on the way.
  a.peer.on_hello(header(200), old_b, 2);
  b.peer.on_hello(header(100), old_a, 2);
  EXPECT_FALSE(a.peer.up() || b.peer.up());
  settle(a, b, 3);
  EXPECT_TRUE(a.peer.up() && b.peer.up());
  EXPECT_EQ(a.peer.remote_session(), 201u);
  EXPECT_EQ(b.peer.remote_session(), 101u);
  EXPECT_EQ(a.peer.receiver().cumulative(), 6u);
  EXPECT_EQ(b.peer.receiver().cumulative(), 5u);
  EXPECT_EQ(a.peer.on_hello(header(200), old_b, 4).refused, DropReason::kOldSession);
  EXPECT_TRUE(a.peer.up());
}

/// The HELLO that brings the link up tells of packets that were sent before we could take them.
TEST(Peer, WhatWasSentBeforeWeWereUpIsMissing) {
  Node a(100, 0xfffffffe), b(200);
  hello(a, b, 0);
  hello(b, a, 0);
  for (int n = 0; n < 5; ++n) keep(a, 0);
  hello(a, b, 0);
  EXPECT_TRUE(b.peer.up());
  wire::Feedback feedback;
  EXPECT_TRUE(b.peer.feedback_due(0));
  b.peer.make_feedback(feedback, 0);
  EXPECT_EQ(feedback.peer_session, 100u);
  EXPECT_EQ(feedback.cumulative, 0xfffffffeu);
  ASSERT_EQ(feedback.range_count, 1u);
  EXPECT_EQ(feedback.ranges[0], (wire::SequenceRange{0xfffffffe, 5}));
}

TEST(Peer, SilenceOfThreeIntervalsTakesTheLinkDown) {
  Node a(100), b(200);
  settle(a, b, kSecond);
  keep(a, kSecond);
  a.peer.admit(header(200), kSecond + 10);
  EXPECT_FALSE(a.peer.expire(kSecond + 10 + kSilence - 1));
  EXPECT_TRUE(a.peer.up());
  EXPECT_TRUE(a.peer.expire(kSecond + 10 + kSilence));
  EXPECT_FALSE(a.peer.up());
  EXPECT_EQ(a.peer.sender().outstanding(), 0u);
  EXPECT_FALSE(a.peer.expire(kSecond + 10 + 2 * kSilence)) << "only once";
  EXPECT_FALSE(a.peer.feedback_due(kNever - 1));
  EXPECT_EQ(a.peer.admit(header(200), 5 * kSecond), DropReason::kUnknownSession);
  EXPECT_TRUE(a.peer.hello_due(5 * kSecond)) << "it goes on calling";
}

/// b's packets do not reach a for longer than three intervals; a's reach b all the time. The session is the
/// same afterwards, so what arrived before must not arrive again, and what b kept must still arrive.
TEST(Peer, AfterAOneSidedPartitionTheSameSessionGoesOn) {
  Node a(100, 0xfffffff0), b(200, 0xfffffffd);
  settle(a, b, 0);
  std::vector<std::uint32_t> from_b;
  for (int n = 0; n < 6; ++n) from_b.push_back(keep(b, 0));
  for (const int n : {0, 1, 3}) EXPECT_EQ(take(a, from_b[n]), DropReason::kNone);
  const std::uint32_t lost = keep(a, 0);  // It will be given up when a expires.
  ASSERT_TRUE(a.peer.expire(kSilence));
  EXPECT_EQ(a.peer.sender().first_sequence(), lost + 1);
  EXPECT_FALSE(hello(a, b, kSilence).became_up) << "b has noticed nothing";
  EXPECT_TRUE(b.peer.up());
  EXPECT_EQ(b.peer.receiver().cumulative(), lost + 1);
  EXPECT_EQ(b.peer.receiver().given_up(), 1u);

  EXPECT_TRUE(hello(b, a, kSilence).became_up);
  EXPECT_EQ(a.peer.receiver().given_up(), 0u);
  for (const int n : {0, 1, 3}) EXPECT_EQ(take(a, from_b[n]), DropReason::kDuplicateSequence) << n;
  wire::Feedback feedback;
  a.peer.make_feedback(feedback, kSilence);
  ASSERT_EQ(feedback.range_count, 2u);
  EXPECT_EQ(feedback.ranges[0], (wire::SequenceRange{from_b[2], 1}));
  EXPECT_EQ(feedback.ranges[1], (wire::SequenceRange{from_b[4], 2}));
  std::array<std::uint32_t, 64> repairs;
  ASSERT_EQ(b.peer.on_feedback(feedback, kSilence, repairs), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(take(a, repairs[i]), DropReason::kNone);
  EXPECT_FALSE(a.peer.receiver().has_gap());
}

TEST(Peer, AfterATwoSidedPartitionBothGiveUpWhatTheyDropped) {
  Node a(100), b(200);
  settle(a, b, 0);
  for (int n = 0; n < 4; ++n) keep(a, 0);
  EXPECT_EQ(take(b, 1), DropReason::kNone);
  ASSERT_TRUE(a.peer.expire(kSilence));
  ASSERT_TRUE(b.peer.expire(kSilence));
  a.peer.make_hello(kSecond - 1);  // Both have just said something that was lost.
  EXPECT_TRUE(hello(b, a, kSecond - 1).became_up);
  EXPECT_TRUE(a.peer.hello_due(kSecond - 1)) << "b does not wait for the next regular one";
  settle(a, b, kSecond);
  ASSERT_TRUE(a.peer.up() && b.peer.up());
  EXPECT_EQ(b.peer.receiver().cumulative(), 4u);
  EXPECT_EQ(b.peer.receiver().given_up(), 3u);
  EXPECT_EQ(take(b, 1), DropReason::kDuplicateSequence);
  EXPECT_EQ(take(b, keep(a, kSecond)), DropReason::kNone);
}

/// A HELLO of before the silence was held up on its way and brings the link up again.
TEST(Peer, ALateHelloDoesNotTurnTheStreamBack) {
  Node a(100), b(200);
  settle(a, b, 0);
  const wire::Hello late = a.peer.make_hello(0);
  for (int n = 0; n < 10; ++n) take(b, keep(a, 0));
  ASSERT_TRUE(b.peer.expire(kSilence));
  EXPECT_TRUE(b.peer.on_hello(header(100), late, kSecond).became_up);
  EXPECT_EQ(b.peer.receiver().cumulative(), 10u);
  EXPECT_EQ(b.peer.receiver().given_up(), 0u);
}

TEST(Peer, FeedbackAboutAFormerLifeIsIgnored) {
  Node a(100), b(200);
  settle(a, b, 0);
  for (int n = 0; n < 4; ++n) keep(a, 0);
  wire::Feedback feedback;
  b.peer.make_feedback(feedback, 0);
  feedback.cumulative = feedback.highest = 4;
  feedback.echo_delay_us = 0;
  std::array<std::uint32_t, 64> repairs;
  const Nanoseconds rtt_ns = a.peer.rtt_ns();
  for (const std::uint32_t foreign : {99u, 101u, 0u, 200u}) {
    feedback.peer_session = foreign;
    EXPECT_EQ(a.peer.on_feedback(feedback, kSecond, repairs), 0u);
    EXPECT_EQ(a.peer.sender().outstanding(), 4u);
    EXPECT_EQ(a.peer.rtt_ns(), rtt_ns);
  }
  feedback.peer_session = 100;
  a.peer.on_feedback(feedback, kSecond, repairs);
  EXPECT_EQ(a.peer.sender().outstanding(), 0u);
}

struct EchoCase {
  const char* name;
  Nanoseconds now_ns;
  std::uint32_t timestamp_us, delay_us;
  Nanoseconds expected_ns;  ///< 0: no sample.
};

TEST(Peer, EchoesAsATable) {
  constexpr Nanoseconds kWrap = (Nanoseconds{1} << 32) * kMicrosecond;  // 71.6 minutes
  const EchoCase cases[] = {
      {"none", kSecond, 0, wire::kNoEcho, 0},
      {"plain", kSecond, 900'000, 30'000, 70 * kMillisecond},
      {"across the wrap", kWrap + 10 * kMillisecond, 0xffffffff - 19'999, 5'000, 25 * kMillisecond},
      {"after hours of silence", 3 * kWrap + kSecond, 990'000, 1'000, 9 * kMillisecond},
      {"as long as a path may take", 20 * kSecond, 10'000'000, 0, 10 * kSecond},
      {"longer", 20 * kSecond, 9'999'999, 0, 0},
      {"of another clock, far behind", kSecond, 0x80000000, 0, 0},
      {"from the future", kSecond, 1'000'001, 0, 0},
      {"older than its age", kSecond, 900'000, 100'001, 0},
  };
  for (const EchoCase& c : cases) {
    SCOPED_TRACE(c.name);
    wire::Hello by_hello;
    by_hello.peer_session = 100;
    by_hello.echo_timestamp_us = c.timestamp_us;
    by_hello.echo_delay_us = c.delay_us;
    const Nanoseconds initial_ns = config(100).initial_rtt_ns;
    Peer peer(config(100));
    ASSERT_TRUE(peer.on_hello(header(200), by_hello, c.now_ns).became_up);
    EXPECT_EQ(peer.rtt_ns(), c.expected_ns == 0 ? initial_ns : c.expected_ns);

    wire::Feedback by_feedback;
    by_feedback.peer_session = 100;
    by_feedback.echo_timestamp_us = c.timestamp_us;
    by_feedback.echo_delay_us = c.delay_us;
    std::array<std::uint32_t, 1> repairs;
    Peer other(config(100));
    other.on_feedback(by_feedback, c.now_ns, repairs);
    EXPECT_EQ(other.rtt_ns(), c.expected_ns == 0 ? initial_ns : c.expected_ns);
  }
}

/// The peer still echoes what our former life sent, by a clock that may be another machine's.
TEST(Peer, TheEchoOfOurFormerLifeIsNoSample) {
  Peer peer(config(101));
  wire::Hello hello;
  hello.peer_session = 100;
  hello.echo_timestamp_us = 0;
  hello.echo_delay_us = 0;
  peer.on_hello(header(200), hello, 5 * kSecond);
  EXPECT_EQ(peer.rtt_ns(), config(101).initial_rtt_ns);
}

TEST(Peer, TwoNodesMeasureTheirPathWhateverTheTimeBetween) {
  Node a(100), b(200);
  const Nanoseconds start_ns =
      (Nanoseconds{1} << 32) * kMicrosecond - 40 * kMillisecond;  // The wrap is near.
  hello(a, b, start_ns, 30 * kMillisecond);
  hello(b, a, start_ns + 35 * kMillisecond, 20 * kMillisecond);  // b thought for 5 ms.
  EXPECT_EQ(a.peer.rtt_ns(), 50 * kMillisecond);
  hello(a, b, start_ns + 60 * kMillisecond, 30 * kMillisecond);
  EXPECT_EQ(b.peer.rtt_ns(), 50 * kMillisecond);
}

/// Without this, a node that has heard nothing for 71.6 minutes would echo an age that lies.
TEST(Peer, AnEchoOfLongAgoStillGivesTheRightTime) {
  Node a(100), b(200);
  settle(a, b, 0);
  const Nanoseconds later_ns = 5000 * kSecond;
  hello(b, a, later_ns, 20 * kMillisecond);
  EXPECT_LT(a.peer.rtt_ns(), 20 * kMillisecond) << "one sample of 20 ms after samples of 0";
  EXPECT_EQ(a.peer.rtt_ns(), 20 * kMillisecond / 8);
}

TEST(Peer, TimersTellWhenSomethingIsDue) {
  Node a(100), b(200);
  EXPECT_EQ(a.peer.next_timer_ns(), 0u);
  settle(a, b, kSecond);
  wire::Feedback feedback;
  a.peer.make_feedback(feedback, kSecond);
  EXPECT_EQ(a.peer.next_timer_ns(), kSecond + kHelloInterval);
  keep(a, kSecond);  // A quarter of the measured zero is rounded up to 10 ms.
  EXPECT_EQ(a.peer.next_timer_ns(), kSecond + 10 * kMillisecond);
  EXPECT_TRUE(a.peer.hello_due(kSecond + 10 * kMillisecond)) << "the probe of a lost tail is a HELLO";
  EXPECT_EQ(a.peer.make_hello(kSecond + 10 * kMillisecond).next_sequence, 1u);
  EXPECT_EQ(a.peer.next_timer_ns(), kSecond + 30 * kMillisecond) << "backed off";
  a.peer.receiver().check(5);
  EXPECT_TRUE(a.peer.feedback_due(kSecond + kMillisecond));
  EXPECT_EQ(a.peer.next_timer_ns(), 0u);
}

struct PaceCase {
  Nanoseconds rtt_ns, feedback_ns, probe_ns;
};

/// Probes after a quarter of the round trip, but not before 10 ms; feedback every 10 ms.
TEST(Peer, FeedbackAndProbesFollowTheRoundTrip) {
  const PaceCase cases[] = {{0, 10 * kMillisecond, 10 * kMillisecond},
                            {20 * kMillisecond, 10 * kMillisecond, 10 * kMillisecond},
                            {100 * kMillisecond, 10 * kMillisecond, 25 * kMillisecond}};
  for (const PaceCase& c : cases) {
    SCOPED_TRACE(c.rtt_ns);
    Node a(100), b(200);
    hello(a, b, kSecond);
    ASSERT_TRUE(hello(b, a, kSecond, c.rtt_ns).became_up);
    const Nanoseconds now_ns = kSecond + c.rtt_ns;
    a.peer.receiver().check(1);
    wire::Feedback feedback;
    a.peer.make_feedback(feedback, now_ns);
    EXPECT_EQ(a.peer.receiver().next_feedback_ns(), now_ns + c.feedback_ns);
    keep(a, now_ns);
    EXPECT_EQ(a.peer.sender().next_probe_ns(), now_ns + c.probe_ns);
  }
}

/// Whatever a HELLO that passes validation says, no number is skipped that was not given up, and the work is
/// bounded by the window.
TEST(Peer, HostilePositionsAreBounded) {
  Node a(100), b(200);
  settle(a, b, 0);
  wire::Hello hostile;
  hostile.peer_session = 100;
  for (std::uint32_t n = 0; n < 10'000; ++n) {
    hostile.first_sequence += 0x7fffff00;
    hostile.next_sequence = hostile.first_sequence + 0x7fffffff;
    EXPECT_EQ(a.peer.on_hello(header(200), hostile, n).refused, DropReason::kNone);
    EXPECT_LE(a.peer.receiver().highest() - a.peer.receiver().cumulative(), 64u);
    wire::Feedback feedback;
    a.peer.make_feedback(feedback, n);
    EXPECT_LE(feedback.range_count, 1u);
  }
  EXPECT_TRUE(a.peer.up());
}

}  // namespace
}  // namespace tombolo::link
