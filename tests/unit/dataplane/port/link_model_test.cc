#include "dataplane/port/link_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tombolo::dataplane {
namespace {

constexpr std::uint64_t kGigabit = 1'000'000'000;

Nanoseconds only_arrival(const Offer& offer) {
  EXPECT_EQ(offer.copies, 1U);
  EXPECT_EQ(offer.fate, LinkFate::kArrives);
  EXPECT_EQ(offer.copy[0].damage, Arrival::kIntact);
  return offer.copy[0].at_ns;
}

/// The share of n trials with probability p, give or take five standard deviations.
void expect_share(std::uint64_t count, std::uint64_t n, double p) {
  const double mean = static_cast<double>(n) * p;
  EXPECT_NEAR(static_cast<double>(count), mean, 5 * std::sqrt(mean * (1 - p)));
}

TEST(LinkModel, APerfectWireIsImmediate) {
  LinkModel link({}, 1);
  for (const Nanoseconds now_ns : {0U, 7U, 7U, 1000U})
    EXPECT_EQ(only_arrival(link.offer(9000, now_ns)), now_ns);
}

TEST(LinkModel, SerialisesOnePacketAfterTheOther) {
  // 1250 bytes at 1 Gbit/s take 10 us.
  LinkModel link({.delay_ns = 5 * kMillisecond, .rate_bps = kGigabit}, 1);
  EXPECT_EQ(only_arrival(link.offer(1250, 0)), 10'000 + 5 * kMillisecond);
  EXPECT_EQ(only_arrival(link.offer(1250, 0)), 20'000 + 5 * kMillisecond);
  EXPECT_EQ(only_arrival(link.offer(125, 4'000)), 21'000 + 5 * kMillisecond);
  // After an idle time the transmitter starts at once, and owes nothing for the past.
  EXPECT_EQ(only_arrival(link.offer(1250, 100'000)), 110'000 + 5 * kMillisecond);
}

TEST(LinkModel, ALongStreamHasTheExactRate) {
  // 1000 bits at 3 Gbit/s take 333 1/3 ns; three of them take 1000 ns. The last bit counts, so times round
  // up.
  LinkModel link({.rate_bps = 3 * kGigabit}, 1);
  for (std::uint64_t i = 1; i <= 3000; ++i) ASSERT_EQ(only_arrival(link.offer(125, 0)), (1000 * i + 2) / 3);
}

TEST(LinkModel, TheQueueOverflowsToTheByte) {
  LinkModel link({.rate_bps = kGigabit, .queue_bytes = 3000}, 1);
  EXPECT_EQ(link.offer(1500, 0).fate, LinkFate::kArrives);
  EXPECT_EQ(link.offer(1501, 0).fate, LinkFate::kQueueFull);
  EXPECT_EQ(link.offer(1500, 0).fate, LinkFate::kArrives);
  EXPECT_EQ(link.offer(1, 0).fate, LinkFate::kQueueFull);
  // A byte takes 8 ns: at 7 ns the first one is not out yet, at 8 ns there is room for exactly one.
  EXPECT_EQ(link.offer(1, 7).fate, LinkFate::kQueueFull);
  EXPECT_EQ(link.offer(2, 8).fate, LinkFate::kQueueFull);
  EXPECT_EQ(only_arrival(link.offer(1, 8)), (1500 + 1500 + 1) * 8U);
  EXPECT_EQ(link.counters().queue_drops.get(), 4U);
  EXPECT_EQ(link.counters().tx_packets.get(), 3U);
  EXPECT_EQ(link.counters().tx_bytes.get(), 3001U);
}

TEST(LinkModel, ADroppedPacketTakesNoTransmissionTime) {
  LinkModel link({.rate_bps = kGigabit, .queue_bytes = 1500}, 1);
  EXPECT_EQ(only_arrival(link.offer(1000, 0)), 8000U);
  EXPECT_EQ(link.offer(1000, 0).copies, 0U);
  EXPECT_EQ(only_arrival(link.offer(500, 0)), 12'000U);
}

TEST(LinkModel, ALostPacketTakesItsTransmissionTime) {
  LinkModel link({.rate_bps = kGigabit, .loss = 1}, 1);
  for (int i = 0; i < 3; ++i) {
    const Offer offer = link.offer(1000, 0);
    EXPECT_EQ(offer.fate, LinkFate::kLost);
    EXPECT_TRUE(offer.arrivals().empty());
  }
  EXPECT_EQ(link.counters().losses.get(), 3U);
  EXPECT_EQ(link.counters().tx_bytes.get(), 3000U);
  LinkModel bounded({.rate_bps = kGigabit, .queue_bytes = 1000, .loss = 1}, 1);
  EXPECT_EQ(bounded.offer(1000, 0).fate, LinkFate::kLost);
  EXPECT_EQ(bounded.offer(1000, 0).fate, LinkFate::kQueueFull);
}

TEST(LinkModel, TheLargestQueueAndRateDoNotOverflow) {
  constexpr std::uint64_t kRate = 1'000'000'000'000'000;
  LinkModel link({.rate_bps = kRate, .queue_bytes = 2'000'000'000}, 1);
  std::uint64_t accepted = 0;
  while (link.offer(65'000, 0).fate == LinkFate::kArrives) ++accepted;
  EXPECT_EQ(accepted, 2'000'000'000 / 65'000U);
}

TEST(LinkModel, AClockThatLagsIsTakenAsTheLatestSeen) {
  LinkModel link({.delay_ns = 10}, 1);
  EXPECT_EQ(only_arrival(link.offer(100, 50)), 60U);
  EXPECT_EQ(only_arrival(link.offer(100, 40)), 60U);
}

TEST(LinkModel, ChancesComeAtTheirRates) {
  constexpr std::uint64_t kPackets = 100'000;
  const std::uint64_t seed = 20240601;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  LinkModel link({.loss = 0.01, .reorder = 0.05, .duplicate = 0.02, .corrupt = 0.03}, seed);
  std::uint64_t lost = 0, twice = 0, damaged = 0, held = 0, copies = 0;
  for (std::uint64_t i = 0; i < kPackets; ++i) {
    const Offer offer = link.offer(1500, i);
    lost += offer.fate == LinkFate::kLost;
    twice += offer.copies == 2;
    copies += offer.copies;
    for (const Arrival& arrival : offer.arrivals()) {
      damaged += arrival.damage != Arrival::kIntact;
      held += arrival.at_ns > i;
      EXPECT_LE(arrival.at_ns, i + kMillisecond);
    }
  }
  expect_share(lost, kPackets, 0.01);
  expect_share(twice, kPackets - lost, 0.02);
  expect_share(damaged, copies, 0.03);
  expect_share(held, copies, 0.05);
  EXPECT_EQ(link.counters().losses.get(), lost);
  EXPECT_EQ(link.counters().duplicates.get(), twice);
  EXPECT_EQ(link.counters().corruptions.get(), damaged);
  EXPECT_EQ(link.counters().held_back.get(), held);
}

TEST(LinkModel, JitterIsUniformWithinItsBounds) {
  constexpr std::uint64_t kPackets = 100'000;
  const std::uint64_t seed = 7;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  LinkModel link({.delay_ns = 100, .jitter_ns = 9}, seed);
  std::vector<std::uint64_t> seen(10);
  for (std::uint64_t i = 0; i < kPackets; ++i) {
    const Nanoseconds jitter_ns = only_arrival(link.offer(1500, 0)) - 100;
    ASSERT_LT(jitter_ns, seen.size());
    ++seen[jitter_ns];
  }
  for (const std::uint64_t count : seen) expect_share(count, kPackets, 0.1);
}

TEST(LinkModel, TheSameSeedGivesTheSameFates) {
  const LinkConfig config{.delay_ns = 1000,
                          .rate_bps = kGigabit,
                          .queue_bytes = 20'000,
                          .loss = 0.1,
                          .jitter_ns = 500,
                          .reorder = 0.1,
                          .duplicate = 0.1,
                          .corrupt = 0.1};
  LinkModel first(config, 5), second(config, 5), other(config, 6);
  int different = 0;
  for (Nanoseconds i = 0; i < 2000; ++i) {
    const Offer a = first.offer(1500, i * 11'000), b = second.offer(1500, i * 11'000);
    const Offer c = other.offer(1500, i * 11'000);
    ASSERT_EQ(a.fate, b.fate);
    ASSERT_EQ(a.copies, b.copies);
    for (std::uint32_t copy = 0; copy < a.copies; ++copy) {
      ASSERT_EQ(a.copy[copy].at_ns, b.copy[copy].at_ns);
      ASSERT_EQ(a.copy[copy].damage, b.copy[copy].damage);
    }
    different += a.fate != c.fate || a.copy[0].at_ns != c.copy[0].at_ns;
  }
  EXPECT_GT(different, 0);
}

TEST(CheckLink, NamesTheFieldThatIsWrong) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<LinkConfig, std::string>> cases{
      {{.loss = -0.1}, "loss"},
      {{.loss = nan}, "loss"},
      {{.reorder = 1.1}, "reorder"},
      {{.reorder = 0.1, .reorder_hold_ns = 0}, "reorder_hold_ns"},
      {{.duplicate = 2}, "duplicate"},
      {{.corrupt = nan}, "corrupt"},
      {{.delay_ns = kNever}, "delay_ns"},
      {{.jitter_ns = kNever}, "jitter_ns"},
      {{.queue_bytes = 2'000'000'001}, "queue_bytes"},
      {{.rate_bps = 1'000'000'000'000'001}, "rate_bps"}};
  for (const auto& [config, field] : cases) {
    const Status status = check_link(config);
    ASSERT_FALSE(status.ok()) << field;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidInput);
    EXPECT_EQ(status.error().message.rfind(field + " ", 0), 0U) << status.error().message;
  }
  EXPECT_TRUE(check_link({}).ok());
}

}  // namespace
}  // namespace tombolo::dataplane
