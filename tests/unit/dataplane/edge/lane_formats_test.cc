#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/unit/dataplane/edge/small_edge.h"

namespace tombolo::dataplane {
namespace {

using wire::Format;
using wire::Operation;
using wire::Type;

/// One chunk of four elements from each of three ranks, in a format and with an operation of the test's.
class LaneFormatsTest : public testing::Test {
 protected:
  static constexpr std::uint32_t kElements = 4;
  using Values = std::array<float, kElements>;

  void start(const EpochOptions& options = {}) {
    edge_.bring_up();
    edge_.install(options);
    edge_.grant_all(kFirstRound);
    edge_.forget_received();
    edge_.update.elements = kElements;
  }
  void contribute(std::uint16_t rank, const Bytes& payload) {
    wire::Header header = edge_.contribution(rank, kFirstRound, 0);
    header.format = static_cast<std::uint8_t>(format_);
    header.operation = static_cast<std::uint8_t>(operation_);
    header.result_format = static_cast<std::uint8_t>(result_format_);
    edge_.send(SmallEdge::side_of(rank), header, payload);
  }
  void contribute(std::uint16_t rank, const Values& values) { contribute(rank, to_bytes(values)); }
  std::vector<Received> results() { return edge_.take(kIsland, Type::kResult); }
  static Values values_of(const Received& result) {
    Values values{};
    EXPECT_EQ(result.payload.size(), sizeof(values));
    std::memcpy(values.data(), result.payload.data(), std::min(sizeof(values), result.payload.size()));
    return values;
  }
  std::uint64_t found(std::uint16_t rank, Counter ValueCounters::*kind) {
    return (edge_.lane(0).counters().values[rank].*kind).get();
  }

  SmallEdge edge_;
  Format format_ = Format::kFp32;
  Format result_format_ = Format::kNone;
  Operation operation_ = Operation::kMean;
};

TEST_F(LaneFormatsTest, TheResultSaysItsOwnFormat) {
  start();
  result_format_ = Format::kBf16;
  operation_ = Operation::kSum;
  contribute(0, Values{1, 2, 3, 4});
  contribute(2, Values{10, 20, 30, 40});
  contribute(1, Values{100, 200, 300, 400});
  const auto got = results();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].header.format, static_cast<std::uint8_t>(Format::kBf16));
  EXPECT_EQ(got[0].header.operation, static_cast<std::uint8_t>(Operation::kSum));
  EXPECT_EQ(got[0].header.result_format, 0);
  ASSERT_EQ(got[0].payload.size(), kElements * 2);
  std::array<std::uint16_t, kElements> codes;
  std::memcpy(codes.data(), got[0].payload.data(), sizeof(codes));
  EXPECT_EQ(codes[0], 0x42de);  // 111.
  EXPECT_EQ(edge_.take(kEast, Type::kContribution).front().header.result_format,
            static_cast<std::uint8_t>(Format::kBf16))
      << "forwarded as it came";
}

TEST_F(LaneFormatsTest, MembersThatWantOtherResultsDisagree) {
  start();
  result_format_ = Format::kBf16;
  contribute(0, Values{1, 2, 3, 4});
  result_format_ = Format::kNone;
  contribute(1, Values{1, 2, 3, 4});
  EXPECT_EQ(edge_.drops(DropReason::kMismatch), 1u);
}

TEST_F(LaneFormatsTest, WeightsComeFromTheTables) {
  start({.weights = {0.5f, 2, 0.25f}});
  operation_ = Operation::kWeighted;
  for (const std::uint16_t rank : kRanks) contribute(rank, Values{8, 16, 32, 64});
  const auto got = results();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(values_of(got[0]), (Values{22, 44, 88, 176}));
}

TEST_F(LaneFormatsTest, WeightedWithoutWeightsIsAMismatch) {
  start();
  operation_ = Operation::kWeighted;
  contribute(0, Values{8, 16, 32, 64});
  EXPECT_EQ(edge_.drops(DropReason::kMismatch), 1u);
}

TEST_F(LaneFormatsTest, ARejectedRankIsCountedAndLeftOut) {
  start({.non_finite = NonFinitePolicy::kReject});
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  contribute(0, Values{1, 2, 3, 4});
  contribute(1, Values{10, 20, 30, 40});
  contribute(2, Values{kInfinity, NAN, NAN, 5});
  const auto got = results();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].header.specific, 0b011u);
  EXPECT_EQ(values_of(got[0]), (Values{5.5f, 11, 16.5f, 22}));
  EXPECT_EQ(found(2, &ValueCounters::nan), 2u);
  EXPECT_EQ(found(2, &ValueCounters::infinity), 1u);
  EXPECT_EQ(found(2, &ValueCounters::rejected_chunks), 1u);
  EXPECT_EQ(found(0, &ValueCounters::nan) + found(1, &ValueCounters::nan), 0u);
}

TEST_F(LaneFormatsTest, ZeroAndPropagateCountToo) {
  start({.non_finite = NonFinitePolicy::kZero});
  for (const std::uint16_t rank : kRanks) contribute(rank, Values{3, 3, 3, rank == 1 ? NAN : 3.0f});
  const auto got = results();
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].header.specific, 0b111u);
  EXPECT_EQ(values_of(got[0]), (Values{3, 3, 3, 2}));
  EXPECT_EQ(found(1, &ValueCounters::nan), 1u);
  EXPECT_EQ(found(1, &ValueCounters::rejected_chunks), 0u);
}

TEST_F(LaneFormatsTest, SaturationIsCountedForTheIslandThatGetsIt) {
  start();
  format_ = Format::kInt32;
  operation_ = Operation::kSum;
  const std::array<std::int32_t, kElements> big{2'000'000'000, 1, -2'000'000'000, 0};
  Bytes payload(sizeof(big));
  std::memcpy(payload.data(), big.data(), sizeof(big));
  for (const std::uint16_t rank : kRanks) contribute(rank, payload);
  ASSERT_EQ(results().size(), 1u);
  EXPECT_EQ(found(1, &ValueCounters::saturated), 2u);
}

}  // namespace
}  // namespace tombolo::dataplane
