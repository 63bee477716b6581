// Two Peers over a wire that loses, repeats and reorders: everything that was sent arrives and is kept
// exactly once, and the senders' windows drain.
#include <gtest/gtest.h>

#include "tests/unit/protocol/link/toy_wire.h"

namespace tombolo::link {
namespace {

constexpr Nanoseconds kLimit = 60 * kSecond;

ToyWire random_wire(Random& random) {
  ToyWire wire;
  wire.loss = random.chance(0.2) ? 0 : random.unit() * 0.2;
  wire.duplicate = random.unit() * 0.1;
  wire.delay_ns = 1 + random.below(20 * kMillisecond);
  wire.jitter_ns = random.chance(0.3) ? 0 : random.below(3 * kMillisecond);
  return wire;
}

/// Items [first, last) of the other node were kept exactly once.
void expect_all_once(const ToyNetwork::Node& receiver, std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t item = first; item < last; ++item) {
    const auto found = receiver.got.find(item);
    ASSERT_NE(found, receiver.got.end()) << "item " << item << " did not arrive";
    ASSERT_EQ(found->second, 1) << "item " << item;
  }
}

void expect_none_twice(const ToyNetwork::Node& receiver) {
  for (const auto& [item, times] : receiver.got) ASSERT_EQ(times, 1) << "item " << item;
}

TEST(PeerOverAWire, EverythingArrivesExactlyOnce) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ToyNetwork network(random, random_wire(random), 64u << random.below(4));
    for (int i = 0; i < 2; ++i) network.node(i).to_send = 2000;
    ASSERT_TRUE(network.drain(kLimit));
    for (int i = 0; i < 2; ++i) {
      expect_all_once(network.node(i), 0, 2000);
      EXPECT_EQ(network.node(i).peer.receiver().given_up(), 0u);
      EXPECT_FALSE(network.node(i).peer.receiver().has_gap());
    }
  }
}

TEST(PeerOverAWire, WhatIsRefusedAtFirstIsKeptExactlyOnceInTheEnd) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ToyNetwork network(random, random_wire(random), 64u << random.below(4));
    network.refuse(0.05 + random.unit() * 0.3);
    for (int i = 0; i < 2; ++i) network.node(i).to_send = 1000;
    ASSERT_TRUE(network.drain(kLimit));
    for (int i = 0; i < 2; ++i) {
      expect_all_once(network.node(i), 0, 1000);
      EXPECT_EQ(network.node(i).peer.receiver().given_up(), 0u);
    }
  }
}

/// The packets in flight at a restart are lost with the life that they were for. None of them is ever taken
/// for one of the new life, and what is sent once both are up again arrives.
TEST(PeerOverAWire, RestartsLoseOnlyWhatWasForTheFormerLife) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ToyNetwork network(random, random_wire(random), 64u << random.below(4));
    for (int i = 0; i < 2; ++i) network.node(i).to_send = 1'000'000;
    for (int restarts = 0; restarts < 4; ++restarts) {
      network.run_until(network.now_ns() + random.below(100 * kMillisecond));
      if (random.chance(0.7)) network.restart(0);
      if (random.chance(0.7)) network.restart(1);
    }
    ASSERT_TRUE(network.connect(kLimit));
    std::array<std::uint32_t, 2> first{};
    for (int i = 0; i < 2; ++i) {
      const auto& sent = network.node(i).sent;
      const auto current = [&](const ToyNetwork::Item& item) {
        return item.by_session == network.node(i).config.session &&
               item.for_session == network.node(1 - i).config.session;
      };
      first[i] = static_cast<std::uint32_t>(std::find_if(sent.begin(), sent.end(), current) - sent.begin());
      network.node(i).to_send = 500;
    }
    ASSERT_TRUE(network.drain(kLimit));
    for (int i = 0; i < 2; ++i) {
      expect_none_twice(network.node(i));
      expect_all_once(network.node(i), first[1 - i],
                      static_cast<std::uint32_t>(network.node(1 - i).sent.size()));
    }
  }
}

/// One direction, or both, is dead for longer than three HELLO intervals; the sessions stay. What a sender
/// dropped when its link went down may be missing; nothing comes twice, and afterwards everything arrives.
TEST(PeerOverAWire, PartitionsWithTheSameSessionRepeatNothing) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ToyWire wire = random_wire(random);
    wire.loss /= 4;
    ToyNetwork network(random, wire, 64u << random.below(4));
    for (int i = 0; i < 2; ++i) network.node(i).to_send = 1'000'000;
    for (int partitions = 0; partitions < 3; ++partitions) {
      network.run_until(network.now_ns() + random.below(100 * kMillisecond));
      const bool both = random.chance(0.3);
      const int one = random.chance(0.5) ? 1 : 0;
      for (int i = 0; i < 2; ++i) network.block(i, both || i == one);
      network.run_until(network.now_ns() + 500 * kMillisecond + random.below(400 * kMillisecond));
      for (int i = 0; i < 2; ++i) network.block(i, false);
    }
    // A node that has noticed nothing yet may still expire; after this neither will.
    network.run_until(network.now_ns() + 700 * kMillisecond);
    ASSERT_TRUE(network.connect(kLimit));
    std::array<std::uint32_t, 2> first{};
    for (int i = 0; i < 2; ++i) {
      first[i] = static_cast<std::uint32_t>(network.node(i).sent.size());
      network.node(i).to_send = 500;
    }
    ASSERT_TRUE(network.drain(kLimit));
    for (int i = 0; i < 2; ++i) {
      expect_none_twice(network.node(i));
      expect_all_once(network.node(i), first[1 - i], first[1 - i] + 500);
    }
  }
}

/// On a wire that keeps the order, each loss costs about one repair, not one per report of it.
TEST(PeerOverAWire, ALossCostsOneRepair) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ToyWire wire;
    wire.loss = 0.02;
    wire.delay_ns = 50 * kMillisecond;
    ToyNetwork network(random, wire, 4096);
    for (int i = 0; i < 2; ++i) network.node(i).to_send = 3000;
    ASSERT_TRUE(network.drain(kLimit));
    for (int i = 0; i < 2; ++i) {
      expect_all_once(network.node(i), 0, 3000);
      const std::uint64_t repairs = network.node(i).repairs;
      EXPECT_EQ(network.node(i).early_repairs, 0u);
      // 60 losses and 1.2 losses of their repairs are expected; four standard deviations are 31.
      EXPECT_GE(repairs, 30u);
      EXPECT_LE(repairs, 92u);
    }
  }
}

/// The canary: the same nodes on the same wire, but nothing is repaired. The tests above would see it.
TEST(PeerOverAWire, WithoutRepairsPacketsAreMissing) {
  Random random(1);
  ToyWire wire;
  wire.loss = 0.1;
  ToyNetwork network(random, wire, 1024);
  network.stop_repairs();
  network.node(0).to_send = 900;
  EXPECT_FALSE(network.drain(kSecond));
  // 90 of 900 are expected to be lost; four standard deviations are 36.
  EXPECT_GE(network.node(1).got.size(), 900u - 126);
  EXPECT_LE(network.node(1).got.size(), 900u - 54);
}

TEST(PeerOverAWire, TheSameSeedIsTheSameRun) {
  std::array<std::uint64_t, 2> repairs{};
  std::array<Nanoseconds, 2> end_ns{};
  for (int run = 0; run < 2; ++run) {
    Random random(77);
    ToyNetwork network(random, random_wire(random), 256);
    for (int i = 0; i < 2; ++i) network.node(i).to_send = 500;
    ASSERT_TRUE(network.drain(kLimit));
    repairs[run] = network.node(0).repairs;
    end_ns[run] = network.now_ns();
  }
  EXPECT_EQ(repairs[0], repairs[1]);
  EXPECT_EQ(end_ns[0], end_ns[1]);
}

}  // namespace
}  // namespace tombolo::link
