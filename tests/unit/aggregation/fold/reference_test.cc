#include "aggregation/fold/reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "aggregation/fold/element.h"
#include "base/random.h"
#include "tests/unit/aggregation/fold/patterns.h"

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
    const Pattern pattern = kPatterns[column % 4];
    for (float& value : values) value = float_of(random_code(random, pattern, 8, 23));
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

/// Folds one fp32 element per input, of which those in `partials` are partials.
float weighted_sum(const std::vector<float>& values, const std::vector<float>& weights,
                   std::uint64_t partials = 0) {
  std::vector<const std::byte*> inputs;
  for (const float& value : values) inputs.push_back(reinterpret_cast<const std::byte*>(&value));
  float out = 0;
  reference_fold({.input = wire::Format::kFp32, .operation = Operation::kWeighted},
                 {.inputs = inputs.data(),
                  .input_count = inputs.size(),
                  .elements = 1,
                  .weights = weights.data(),
                  .partial_inputs = partials,
                  .out = reinterpret_cast<std::byte*>(&out)});
  return out;
}

TEST(ReferenceFold, WeightsRoundOncePerInput) {
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: rounded, the product loses its end; fused, what remains of it after
  // the subtraction is just that end.
  const float x = 1 + 0x1p-12F;
  EXPECT_EQ(weighted_sum({-(1 + 0x1p-11F), x}, {1, x}), 0x1p-24F);
  EXPECT_EQ(weighted_sum({x}, {x}), 1 + 0x1p-11F) << "the first product is rounded";
  EXPECT_EQ(weighted_sum({2, 3, 5}, {1, 10, 100}), 532.0F);
  EXPECT_EQ(weighted_sum({2, 3, 5}, {1, 10, 100}, 0b010), 505.0F) << "a partial has its weights in it";
  EXPECT_EQ(weighted_sum({2, 3, 5}, {7, 10, 100}, 0b001), 532.0F);
}

__extension__ using Quad = __float128;

// 113 bits hold the product and the sum of comparable values exactly, so that the conversion alone rounds.
TEST(ReferenceFold, WeightedAgreesWithExactArithmetic) {
  constexpr std::uint64_t kSeed = 40;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (int trial = 0; trial < 5000; ++trial) {
    std::vector<float> values(1 + random.below(12));
    std::vector<float> weights(values.size());
    for (float& value : values) value = float_of(random_code(random, Pattern::kComparable, 8, 23));
    for (float& weight : weights) weight = float_of(random_code(random, Pattern::kComparable, 8, 23));
    auto sum = static_cast<float>(static_cast<Quad>(weights[0]) * values[0]);
    for (std::size_t i = 1; i < values.size(); ++i)
      sum = static_cast<float>(static_cast<Quad>(weights[i]) * values[i] + sum);
    ASSERT_EQ(bits_of(weighted_sum(values, weights)), bits_of(sum)) << "trial " << trial;
  }
}

TEST(ReferenceFold, LeastAndGreatest) {
  EXPECT_EQ(fold_of({3, -1, 2}, Operation::kMin), -1.0F);
  EXPECT_EQ(fold_of({3, -1, 2}, Operation::kMax), 3.0F);
  for (const auto& zeros : {std::vector<float>{0.0F, -0.0F}, std::vector<float>{-0.0F, 0.0F}}) {
    EXPECT_EQ(bits_of(fold_of(zeros, Operation::kMin)), 0x80000000U) << "minus zero is the lesser";
    EXPECT_EQ(bits_of(fold_of(zeros, Operation::kMax)), 0U);
  }
  const float nan = float_of(0xffc12345);
  for (const Operation operation : {Operation::kMin, Operation::kMax})
    for (const auto& values :
         {std::vector<float>{nan, 1, 2}, std::vector<float>{1, nan, 2}, std::vector<float>{1, 2, nan}})
      EXPECT_EQ(bits_of(fold_of(values, operation)), kCanonicalNan) << "a NaN wins";
  EXPECT_EQ(fold_of({kInfinity, -kInfinity}, Operation::kMin), -kInfinity);
  EXPECT_EQ(fold_of({kSmallest, 2 * kSmallest}, Operation::kMin), kSmallest);
}

/// Folds one int32 element per input.
std::int32_t integer_fold(const std::vector<std::int32_t>& values, Operation operation, std::uint32_t divisor,
                          Findings* findings = nullptr) {
  std::vector<const std::byte*> inputs;
  for (const std::int32_t& value : values) inputs.push_back(reinterpret_cast<const std::byte*>(&value));
  std::int32_t out = 0;
  reference_fold({.input = wire::Format::kInt32, .operation = operation},
                 {.inputs = inputs.data(),
                  .input_count = inputs.size(),
                  .elements = 1,
                  .divisor = divisor,
                  .out = reinterpret_cast<std::byte*>(&out),
                  .findings = findings});
  return out;
}

TEST(ReferenceFold, IntegersAreExactUntilTheEnd) {
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
  Findings findings;
  EXPECT_EQ(integer_fold({kMost, kMost, kLeast, kLeast, 2}, Operation::kSum, 0, &findings), 0);
  EXPECT_EQ(findings.saturated, 0U);
  EXPECT_EQ(integer_fold({kMost, 1}, Operation::kSum, 0, &findings), kMost);
  EXPECT_EQ(findings.saturated, 1U);
  EXPECT_EQ(integer_fold({kLeast, -1}, Operation::kSum, 0, &findings), kLeast);
  EXPECT_EQ(findings.saturated, 1U);
  EXPECT_EQ(integer_fold({kMost, kMost, kMost}, Operation::kMean, 3, &findings), kMost);
  EXPECT_EQ(findings.saturated, 0U) << "the mean fits, though the sum does not";
  EXPECT_EQ(integer_fold({-3, 7, 5}, Operation::kMin, 0), -3);
  EXPECT_EQ(integer_fold({-3, 7, 5}, Operation::kMax, 0), 7);
}

TEST(ReferenceFold, TheMeanOfIntegersIsRoundedToNearestEven) {
  const auto mean = [](std::int32_t sum, std::uint32_t divisor) {
    return integer_fold({sum, 0}, Operation::kMean, divisor);
  };
  EXPECT_EQ(mean(1, 2), 0);
  EXPECT_EQ(mean(3, 2), 2);
  EXPECT_EQ(mean(-1, 2), 0);
  EXPECT_EQ(mean(-3, 2), -2);
  EXPECT_EQ(mean(5, 3), 2);
  EXPECT_EQ(mean(-5, 3), -2);
  EXPECT_EQ(mean(-4, 3), -1);
  EXPECT_EQ(mean(7, 64), 0);
  EXPECT_EQ(mean(-33, 64), -1);
}

TEST(ReferenceFold, AnUnfinishedFoldIsNotDivided) {
  const float values[] = {1.0F, 2.0F};
  const std::byte* const inputs[] = {reinterpret_cast<const std::byte*>(&values[0]),
                                     reinterpret_cast<const std::byte*>(&values[1])};
  float out = 0;
  reference_fold({.input = wire::Format::kFp32, .operation = Operation::kMean, .finish = false},
                 {.inputs = inputs,
                  .input_count = 2,
                  .elements = 1,
                  .divisor = 2,
                  .out = reinterpret_cast<std::byte*>(&out)});
  EXPECT_EQ(out, 3.0F);
}

TEST(ReferenceFold, PartialsKeepTheirOwnFormat) {
  const std::uint16_t one = 0x3f80;  // bf16.
  const float partial = 1 + 0x1p-20F;
  const std::byte* const inputs[] = {reinterpret_cast<const std::byte*>(&one),
                                     reinterpret_cast<const std::byte*>(&partial)};
  float out = 0;
  reference_fold({.input = wire::Format::kBf16, .output = wire::Format::kFp32, .operation = Operation::kSum},
                 {.inputs = inputs,
                  .input_count = 2,
                  .elements = 1,
                  .partial_inputs = 0b10,
                  .out = reinterpret_cast<std::byte*>(&out)});
  EXPECT_EQ(out, 2 + 0x1p-20F);
}

TEST(ReferenceFold, SaysWhetherSomethingWasNotFinite) {
  const auto found = [](std::vector<float> values, Operation operation) {
    std::vector<const std::byte*> inputs;
    for (const float& value : values) inputs.push_back(reinterpret_cast<const std::byte*>(&value));
    float out = 0;
    Findings findings;
    reference_fold({.input = wire::Format::kFp32, .operation = operation},
                   {.inputs = inputs.data(),
                    .input_count = inputs.size(),
                    .elements = 1,
                    .divisor = 1,
                    .out = reinterpret_cast<std::byte*>(&out),
                    .findings = &findings});
    return findings.non_finite;
  };
  EXPECT_FALSE(found({1, 2}, Operation::kSum));
  EXPECT_TRUE(found({1, kInfinity}, Operation::kSum));
  EXPECT_TRUE(
      found({std::numeric_limits<float>::max(), std::numeric_limits<float>::max()}, Operation::kMean));
  EXPECT_TRUE(found({1, kInfinity}, Operation::kMin)) << "by its input: the result is 1";
  EXPECT_FALSE(found({1, 2}, Operation::kMax));
}

}  // namespace
}  // namespace tombolo::fold
