#include "aggregation/chunk_fold.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

namespace tombolo::aggregation {
namespace {

using wire::Format;
using wire::Operation;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::size_t kElements = 4;
using Values = std::array<float, kElements>;

/// Three members' chunks of fp32.
class ChunkFoldTest : public testing::Test {
 protected:
  FoldedChunk fold(NonFinitePolicy policy, Operation operation, Format result = Format::kNone) {
    ChunkFoldConfig config;
    config.non_finite = policy;
    config.max_members = 3;
    config.max_payload_bytes = kElements * 4;
    fold_.emplace(config);
    return fold_again(operation, result);
  }
  FoldedChunk fold_again(Operation operation, Format result = Format::kNone) {
    std::array<const std::byte*, 3> pointers;
    for (std::size_t i = 0; i < pointers.size(); ++i)
      pointers[i] = reinterpret_cast<const std::byte*>(inputs_[i].data());
    return fold_->fold({kElements, Format::kFp32, operation, result}, pointers, kElements, weights_.data(),
                       reinterpret_cast<std::byte*>(out_.data()));
  }

  std::optional<ChunkFold> fold_;
  std::array<Values, 3> inputs_{{{1, 2, 3, 4}, {10, 20, 30, 40}, {100, 200, 300, 400}}};
  std::array<float, 3> weights_{1, 1, 1};
  Values out_{};
};

TEST_F(ChunkFoldTest, SoundChunksHaveEveryContributorUnderEveryPolicy) {
  for (const auto policy : {NonFinitePolicy::kPropagate, NonFinitePolicy::kZero, NonFinitePolicy::kReject}) {
    const FoldedChunk folded = fold(policy, Operation::kSum);
    EXPECT_EQ(folded.contributors, 0b111u);
    EXPECT_EQ(folded.non_finite, 0u);
    EXPECT_EQ(folded.saturated, 0u);
    EXPECT_EQ(folded.payload_bytes, kElements * 4);
    EXPECT_EQ(out_, (Values{111, 222, 333, 444}));
  }
}

TEST_F(ChunkFoldTest, PropagateShowsTheValueAndNamesItsMember) {
  inputs_[1][2] = kNan;
  inputs_[1][3] = -kInfinity;
  inputs_[2][0] = kInfinity;
  const FoldedChunk folded = fold(NonFinitePolicy::kPropagate, Operation::kSum);
  EXPECT_EQ(folded.contributors, 0b111u);
  EXPECT_EQ(folded.non_finite, 0b110u);
  ASSERT_EQ(fold_->found().size(), 3u);
  EXPECT_EQ(fold_->found()[0].nan + fold_->found()[0].infinity, 0u);
  EXPECT_EQ(fold_->found()[1].nan, 1u);
  EXPECT_EQ(fold_->found()[1].infinity, 1u);
  EXPECT_EQ(fold_->found()[2].nan, 0u);
  EXPECT_EQ(fold_->found()[2].infinity, 1u);
  EXPECT_EQ(out_[0], kInfinity);
  EXPECT_EQ(out_[1], 222);
  EXPECT_TRUE(std::isnan(out_[2]));
  EXPECT_EQ(out_[3], -kInfinity);
}

TEST_F(ChunkFoldTest, ZeroCountsTheValueAsZeroAndLeavesTheInputAlone) {
  inputs_[1][2] = kNan;
  const Values before = inputs_[1];
  const FoldedChunk folded = fold(NonFinitePolicy::kZero, Operation::kMean);
  EXPECT_EQ(folded.contributors, 0b111u);
  EXPECT_EQ(folded.non_finite, 0b010u);
  // The mean is over all members: only the value is not there.
  EXPECT_EQ(out_, (Values{111.0f / 3, 222.0f / 3, 303.0f / 3, 444.0f / 3}));
  EXPECT_EQ(std::memcmp(inputs_[1].data(), before.data(), sizeof(before)), 0);
}

TEST_F(ChunkFoldTest, RejectLeavesTheMemberOutOfSumsMeansAndWeights) {
  inputs_[1][2] = kInfinity;
  FoldedChunk folded = fold(NonFinitePolicy::kReject, Operation::kMean);
  EXPECT_EQ(folded.contributors, 0b101u);
  EXPECT_EQ(folded.non_finite, 0b010u);
  EXPECT_EQ(out_, (Values{101.0f / 2, 202.0f / 2, 303.0f / 2, 404.0f / 2})) << "over the actual contributors";
  weights_ = {0.5f, 7, 0.25f};
  folded = fold_again(Operation::kWeighted);
  EXPECT_EQ(folded.contributors, 0b101u);
  EXPECT_EQ(out_, (Values{25.5f, 51, 76.5f, 102})) << "each with its own weight";
  folded = fold_again(Operation::kMax);
  EXPECT_EQ(out_, (Values{100, 200, 300, 400}));
}

TEST_F(ChunkFoldTest, WhenNobodyIsSoundTheResultShowsIt) {
  for (Values& input : inputs_) input[0] = kNan;
  const FoldedChunk folded = fold(NonFinitePolicy::kReject, Operation::kSum);
  EXPECT_EQ(folded.contributors, 0u);
  EXPECT_EQ(folded.non_finite, 0b111u);
  EXPECT_TRUE(std::isnan(out_[0]));
  EXPECT_EQ(out_[1], 222);
}

TEST_F(ChunkFoldTest, ASumThatOverflowsRejectsNobody) {
  inputs_[0][0] = inputs_[1][0] = std::numeric_limits<float>::max();
  const FoldedChunk folded = fold(NonFinitePolicy::kReject, Operation::kSum);
  EXPECT_EQ(folded.contributors, 0b111u);
  EXPECT_EQ(folded.non_finite, 0u);
  EXPECT_EQ(out_[0], kInfinity);
}

TEST_F(ChunkFoldTest, TheResultHasItsOwnFormat) {
  const FoldedChunk folded = fold(NonFinitePolicy::kPropagate, Operation::kSum, Format::kBf16);
  EXPECT_EQ(folded.payload_bytes, kElements * 2);
  std::array<std::uint16_t, 2> first;
  std::memcpy(first.data(), out_.data(), sizeof(first));
  EXPECT_EQ(first, (std::array<std::uint16_t, 2>{0x42de, 0x435e}));  // 111 and 222.
}

TEST_F(ChunkFoldTest, SaturationIsCounted) {
  ChunkFoldConfig config;
  config.max_members = 3;
  config.max_payload_bytes = 8;
  ChunkFold fold(config);
  const std::array<std::array<std::int32_t, 2>, 3> values{{{2'000'000'000, -5}, {2'000'000'000, 3}, {1, 1}}};
  std::array<const std::byte*, 3> pointers;
  for (std::size_t i = 0; i < 3; ++i) pointers[i] = reinterpret_cast<const std::byte*>(values[i].data());
  std::array<std::int32_t, 2> out{};
  const FoldedChunk folded = fold.fold({2, Format::kInt32, Operation::kSum}, pointers, 2, nullptr,
                                       reinterpret_cast<std::byte*>(out.data()));
  EXPECT_EQ(folded.saturated, 1u);
  EXPECT_EQ(out, (std::array<std::int32_t, 2>{std::numeric_limits<std::int32_t>::max(), -1}));
}

TEST_F(ChunkFoldTest, AnEmptyChunkIsEverybodys) {
  ChunkFold fold({.max_members = 3, .max_payload_bytes = 4});
  const std::array<const std::byte*, 3> pointers{};
  const FoldedChunk folded = fold.fold({5, Format::kFp32, Operation::kMean}, pointers, 0, nullptr, nullptr);
  EXPECT_EQ(folded.contributors, 0b111u);
  EXPECT_EQ(folded.payload_bytes, 0u);
}

}  // namespace
}  // namespace tombolo::aggregation
