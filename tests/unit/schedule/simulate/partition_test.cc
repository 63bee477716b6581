#include "schedule/simulate/partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tombolo::schedule {
namespace {

constexpr std::uint64_t kSeed = 20;

/// `count` labels of 0 to 9, equally many of each, one after the other.
std::vector<std::uint8_t> ten_labels(std::size_t count) {
  std::vector<std::uint8_t> labels;
  for (std::size_t i = 0; i < count; ++i) labels.push_back(static_cast<std::uint8_t>(i % 10));
  return labels;
}

TEST(Partition, EverySampleIsOneIslandsAndPartsAreEqual) {
  for (const double skew : {0.0, 0.3, 1.0})
    for (const std::size_t islands : {1, 2, 9, 64})
      for (const std::size_t samples : {64, 1000, 1003}) {
        SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", skew " << skew << ", islands " << islands);
        Random random(kSeed);
        const auto parts = partition_samples(ten_labels(samples), islands, skew, random);
        ASSERT_TRUE(parts.ok()) << parts.error().message;
        ASSERT_EQ(parts->size(), islands);
        std::multiset<std::uint32_t> seen;
        std::size_t least = samples;
        std::size_t most = 0;
        for (const auto& part : *parts) {
          seen.insert(part.begin(), part.end());
          least = std::min(least, part.size());
          most = std::max(most, part.size());
        }
        EXPECT_LE(most - least, 1U);
        ASSERT_EQ(seen.size(), samples);
        std::uint32_t next = 0;
        for (const std::uint32_t sample : seen) ASSERT_EQ(sample, next++);
      }
}

TEST(Partition, SkewDecidesHowAlikeIslandsAre) {
  constexpr std::size_t kSamples = 9000;
  const auto labels = ten_labels(kSamples);
  const auto count_label = [&](const std::vector<std::uint32_t>& part, std::uint8_t label) {
    return std::ranges::count_if(part, [&](std::uint32_t sample) { return labels[sample] == label; });
  };
  for (const double skew : {0.0, 0.6, 1.0}) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", skew " << skew);
    Random random(kSeed);
    const auto parts = partition_samples(labels, 9, skew, random);
    ASSERT_TRUE(parts.ok());
    for (const auto& part : *parts) {
      // Of 1000 samples the sorted share has at most two labels, since 9 islands divide 10 labels; each label
      // has a tenth of the rest, give or take five standard deviations of a binomial.
      int common = 0;
      for (std::uint8_t label = 0; label < 10; ++label) {
        const auto count = static_cast<double>(count_label(part, label));
        const double rest = 1000 * (1 - skew);
        const double spread = 5 * std::sqrt(rest * 0.09);
        EXPECT_GE(count, rest * 0.1 - spread);
        common += count > rest * 0.1 + spread ? 1 : 0;
      }
      EXPECT_LE(common, 2);
      EXPECT_GE(common, skew > 0 ? 1 : 0);
    }
  }
}

TEST(Partition, TheSeedDecides) {
  const auto labels = ten_labels(500);
  Random one(1);
  Random again(1);
  Random two(2);
  const auto first = *partition_samples(labels, 9, 0.5, one);
  EXPECT_EQ(first, *partition_samples(labels, 9, 0.5, again));
  EXPECT_NE(first, *partition_samples(labels, 9, 0.5, two));
}

TEST(Partition, RefusesWhatCannotBe) {
  const auto labels = ten_labels(5);
  Random random(1);
  EXPECT_FALSE(partition_samples(labels, 0, 0, random).ok());
  EXPECT_FALSE(partition_samples(labels, 6, 0, random).ok());
  for (const double skew : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_FALSE(partition_samples(labels, 2, skew, random).ok());
}

}  // namespace
}  // namespace tombolo::schedule
