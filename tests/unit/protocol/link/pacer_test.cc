#include "protocol/link/pacer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/random.h"

namespace tombolo::link {
namespace {

__extension__ typedef unsigned __int128 Wide;

/// When a source of this rate has sent so many bytes, to the nanosecond (rounded down).
Nanoseconds exact_ns(Wide bytes, std::uint64_t rate_bps) {
  return static_cast<Nanoseconds>(bytes * kBitsPerByte * kSecond / rate_bps);
}

constexpr std::uint64_t kStandardWireBytes = 42 + 64 + 1280;

TEST(Pacer, AMillionPacketsKeepOddRatesToTheBit) {
  constexpr std::uint64_t kRates[] = {3,           7'919,         1'000'003,      123'456'789,
                                      999'999'937, 9'699'999'989, 10'000'000'000, 399'999'999'999};
  for (const std::uint64_t rate_bps : kRates) {
    Pacer pacer;
    pacer.set_rate(rate_bps);
    std::uint64_t wrong = 0;
    for (std::uint64_t n = 1; n <= 1'000'000; ++n) {
      pacer.on_sent(kStandardWireBytes, pacer.next_send_ns());
      wrong += pacer.next_send_ns() == exact_ns(Wide{n} * kStandardWireBytes, rate_bps) ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0u) << "at " << rate_bps << " bit/s";
  }
}

TEST(Pacer, PacketsOfAllSizesKeepTheRateToTheBit) {
  constexpr std::uint64_t kSeed = 11;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  Pacer pacer;
  pacer.set_rate(987'654'321);
  Wide bytes = 0;
  for (int n = 0; n < 100'000; ++n) {
    const std::uint64_t size = 106 + random.below(8193);
    pacer.on_sent(size, pacer.next_send_ns());
    bytes += size;
    ASSERT_EQ(pacer.next_send_ns(), exact_ns(bytes, 987'654'321)) << "after packet " << n;
  }
}

/// A sender that is scheduled late, but not by more than it may catch up, loses nothing of its rate.
TEST(Pacer, CatchesUpAfterDelaysOfLessThanABurst) {
  constexpr std::uint64_t kSeed = 12;
  constexpr std::uint64_t kRate = 1'000'000'007;
  SCOPED_TRACE(kSeed);
  Random random(kSeed);
  Pacer pacer;
  pacer.set_rate(kRate);
  const Nanoseconds interval_ns = exact_ns(kStandardWireBytes, kRate);
  std::uint64_t sent = 0;
  for (Nanoseconds now_ns = 0; sent < 100'000; now_ns += random.below(7 * interval_ns)) {
    for (; pacer.may_send(now_ns); ++sent) pacer.on_sent(kStandardWireBytes, now_ns);
    ASSERT_EQ(pacer.next_send_ns(), exact_ns(Wide{sent} * kStandardWireBytes, kRate));
  }
}

TEST(Pacer, AfterALongPauseABurstOfEightAndThenThePace) {
  Pacer pacer;
  pacer.set_rate(8'000'000);  // 1000 bytes take a millisecond.
  const Nanoseconds now_ns = 5 * kSecond;
  int burst = 0;
  for (; pacer.may_send(now_ns); ++burst) pacer.on_sent(1000, now_ns);
  EXPECT_EQ(burst, 8);
  for (int n = 1; n <= 20; ++n) {
    EXPECT_FALSE(pacer.may_send(now_ns + n * kMillisecond - 1)) << n;
    EXPECT_TRUE(pacer.may_send(now_ns + n * kMillisecond)) << n;
    pacer.on_sent(1000, now_ns + n * kMillisecond);
  }
}

TEST(Pacer, DoesNotBeginWithABurst) {
  Pacer pacer;
  pacer.set_rate(8'000'000);
  EXPECT_TRUE(pacer.may_send(0));
  pacer.on_sent(1000, 0);
  EXPECT_FALSE(pacer.may_send(0));
  EXPECT_EQ(pacer.next_send_ns(), kMillisecond);
}

TEST(Pacer, ABurstHasNoMoreBytesThanEightOfItsLargestPacket) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Pacer pacer;
    pacer.set_rate(1'000'000);
    Nanoseconds now_ns = 0;
    for (int pause = 0; pause < 20; ++pause) {
      now_ns += random.below(20) * kSecond;
      std::uint64_t bytes = 0;
      std::uint64_t largest = 0;
      while (pacer.may_send(now_ns)) {
        const std::uint64_t size = 106 + random.below(8193);
        pacer.on_sent(size, now_ns);
        bytes += size;
        largest = std::max(largest, size);
      }
      EXPECT_LE(bytes, Pacer::kBurstPackets * largest);
    }
  }
}

TEST(Pacer, AChangeOfRateLosesNothing) {
  constexpr std::array<std::uint64_t, 3> kRates = {999'983, 1'000'003, 777'777};
  Pacer pacer;
  Nanoseconds expected_ns = 0;
  for (const std::uint64_t rate_bps : kRates) {
    pacer.set_rate(rate_bps);
    for (int n = 0; n < 1000; ++n) pacer.on_sent(1386, pacer.next_send_ns());
    expected_ns += exact_ns(Wide{1000} * 1386, rate_bps);
  }
  // Each part is rounded down in the expectation; the pacer carries what rounding took into the next part.
  EXPECT_GE(pacer.next_send_ns(), expected_ns);
  EXPECT_LE(pacer.next_send_ns(), expected_ns + kRates.size());
}

TEST(Pacer, RateZeroIsUnlimitedWhateverWasSentBefore) {
  Pacer pacer;
  EXPECT_TRUE(pacer.may_send(0));
  pacer.on_sent(9000, 0);
  EXPECT_TRUE(pacer.may_send(0));
  pacer.set_rate(1);
  pacer.on_sent(9000, 0);
  EXPECT_FALSE(pacer.may_send(kSecond));
  pacer.set_rate(0);
  EXPECT_TRUE(pacer.may_send(0));
  pacer.set_rate(1);
  EXPECT_EQ(pacer.next_send_ns(), 72'000 * kSecond) << "what is owed stays owed";
}

}  // namespace
}  // namespace tombolo::link
