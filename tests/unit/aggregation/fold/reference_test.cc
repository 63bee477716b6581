#include "aggregation/fold/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "aggregation/fold/element.h"
#include "base/random.h"
#include "tests/unit/aggregation/fold/float_bits.h"

namespace tombolo::fold {
namespace {

using wire::Operation;

/// The fold of one element per input.
float fold_of(std::vector<float> values, Operation operation) {
  std::vector<const std::byte*> inputs;
  for (const float& value : values) inputs.push_back(reinterpret_cast<const std::byte*>(&value));
  float out = 0;
  reference_fold({.input = wire::Format::kFp32, .operation = operation},
                 {.inputs = inputs.data(),
                  .input_count = inputs.size(),
                  .elements = 1,
                  .divisor = static_cast<std::uint32_t>(inputs.size()),
                  .out = reinterpret_cast<std::byte*>(&out)});
  return out;
}

constexpr float kSmallest = std::numeric_limits<float>::denorm_min();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(ReferenceFold, GoesFromTheLeft) {
  // 1e8 swallows a 1 (its neighbours are 8 apart), so where the 1 stands decides whether it survives.
  EXPECT_EQ(fold_of({1e8F, 1.0F, -1e8F}, Operation::kSum), 0.0F);
  EXPECT_EQ(fold_of({1e8F, -1e8F, 1.0F}, Operation::kSum), 1.0F);
}

TEST(ReferenceFold, StartsFromTheFirstInputAndNotFromZero) {
  EXPECT_EQ(bits_of(fold_of({-0.0F}, Operation::kSum)), 0x80000000U);
  EXPECT_EQ(bits_of(fold_of({-0.0F, -0.0F}, Operation::kSum)), 0x80000000U);
  EXPECT_EQ(bits_of(fold_of({-0.0F, -0.0F}, Operation::kMean)), 0x80000000U);
  EXPECT_EQ(bits_of(fold_of({-0.0F, 0.0F}, Operation::kSum)), 0U);
  EXPECT_EQ(bits_of(fold_of({1.0F, -1.0F}, Operation::kSum)), 0U);
}

TEST(ReferenceFold, RoundsToNearestEven) {
  EXPECT_EQ(fold_of({1.0F, 0x1p-24F}, Operation::kSum), 1.0F);
  EXPECT_EQ(fold_of({1.0F + 0x1p-23F, 0x1p-24F}, Operation::kSum), 1.0F + 0x1p-22F);
}

TEST(ReferenceFold, KeepsSubnormals) {
  EXPECT_EQ(bits_of(fold_of({kSmallest, kSmallest, kSmallest}, Operation::kSum)), 3U);
  EXPECT_EQ(bits_of(fold_of({kSmallest * 4, kSmallest * 2}, Operation::kMean)), 3U);
  // A tie between 1 and 2 smallest steps goes to the even one.
  EXPECT_EQ(bits_of(fold_of({kSmallest, kSmallest * 2}, Operation::kMean)), 2U);
}

TEST(ReferenceFold, MakesEveryNanTheCanonicalOne) {
  for (const Operation operation : {Operation::kSum, Operation::kMean}) {
    EXPECT_EQ(bits_of(fold_of({float_of(0xffc12345)}, operation)), kCanonicalNan);
    EXPECT_EQ(bits_of(fold_of({float_of(0x7f800001), 1.0F}, operation)), kCanonicalNan) << "signalling";
    EXPECT_EQ(bits_of(fold_of({1.0F, float_of(0xffffffff)}, operation)), kCanonicalNan);
    EXPECT_EQ(bits_of(fold_of({kInfinity, -kInfinity}, operation)), kCanonicalNan);
  }
}

TEST(ReferenceFold, OverflowsToInfinityAndStaysThere) {
  constexpr float kMax = std::numeric_limits<float>::max();
  EXPECT_EQ(fold_of({kMax, kMax, -kMax}, Operation::kSum), kInfinity);
  EXPECT_EQ(fold_of({kMax, kMax}, Operation::kMean), kInfinity);
}

TEST(ReferenceFold, DividesOnceInsteadOfMultiplyingByTheReciprocal) {
  // The two differ in the last bit for this sum; the check of the premise keeps the example honest.
  constexpr float kSum = 5.0F;
  ASSERT_NE(kSum * (1.0F / 3.0F), kSum / 3.0F);
  EXPECT_EQ(fold_of({1.0F, 2.0F, 2.0F}, Operation::kMean), static_cast<float>(5.0 / 3.0));
}

// Double has more than twice the bits of float and two to spare, so an addition or division in double that is
// then rounded to float is the correctly rounded one: an independent way to the same bits.
TEST(ReferenceFold, AgreesWithDoubleArithmeticOnRandomBits) {
  constexpr std::uint64_t kSeed = 20260801;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (std::uint64_t column = 0; column < 20000; ++column) {
    std::vector<float> values(1 + random.below(64));
    for (float& value : values) value = random_float(random, column);
    float sum = values[0];
    for (std::size_t i = 1; i < values.size(); ++i) {
      sum = static_cast<float>(static_cast<double>(sum) + static_cast<double>(values[i]));
    }
    const auto mean = static_cast<float>(static_cast<double>(sum) / static_cast<double>(values.size()));
    ASSERT_EQ(bits_of(fold_of(values, Operation::kSum)), std::isnan(sum) ? kCanonicalNan : bits_of(sum))
        << "column " << column;
    ASSERT_EQ(bits_of(fold_of(values, Operation::kMean)), std::isnan(mean) ? kCanonicalNan : bits_of(mean))
        << "column " << column;
  }
}

}  // namespace
}  // namespace tombolo::fold
