#include "aggregation/round_window.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/aggregation/test_pool.h"

namespace tombolo::aggregation {
namespace {

using wire::Format;
using wire::Operation;

constexpr std::uint32_t kChunkElements = 32;
constexpr std::size_t kChunkBytes = kChunkElements * sizeof(float);
/// Lane 1 of 2 of an update of 10 chunks, the last one (chunk 9, index 4 of this lane) with 7 elements.
constexpr LaneGeometry kGeometry = {1, 2, kChunkElements};
constexpr Facts kFacts = {9 * kChunkElements + 7, Format::kFp32, Operation::kMean};
constexpr std::size_t kLastBytes = 7 * sizeof(float);
constexpr std::uint32_t kLaneChunks = 5;

class RoundWindowTest : public testing::Test {
 protected:
  void SetUp() override { window_.open(12, 3, 2); }

  Admission admit(std::size_t member, std::uint32_t index, const Facts& facts = kFacts,
                  std::size_t bytes = kChunkBytes, Nanoseconds now_ns = 100) {
    last_.keep = BufferRef::adopt(pool_.allocate());
    last_.data = last_.keep.data();
    return window_.admit(member, index, facts, last_, bytes, now_ns);
  }

  void expect_refused(DropReason reason, const Admission& admission) {
    EXPECT_EQ(admission.state, Admitted::kRefused);
    EXPECT_EQ(number_of(admission.reason), number_of(reason));
    EXPECT_TRUE(last_.keep) << "a refused payload stays the caller's";
  }
  static int number_of(DropReason reason) { return static_cast<int>(reason); }

  /// All three members contribute the chunk and it is folded.
  void finish(std::uint32_t index) {
    const std::size_t bytes = index == kLaneChunks - 1 ? kLastBytes : kChunkBytes;
    for (std::size_t member = 0; member < 3; ++member) {
      ASSERT_EQ(admit(member, index, kFacts, bytes).state,
                member < 2 ? Admitted::kHeld : Admitted::kCompleted);
    }
    window_.release(index);
  }

  TestPool pool_;
  Input last_;
  RoundWindow window_{kGeometry, 4, 3};
};

TEST(LaneGeometry, CountsTheChunksOfALane) {
  // 10 chunks over 4 lanes: 0 4 8 | 1 5 9 | 2 6 | 3 7.
  const std::uint64_t elements = 9 * 32 + 1;
  EXPECT_EQ((LaneGeometry{0, 4, 32}.lane_chunks(elements)), 3U);
  EXPECT_EQ((LaneGeometry{1, 4, 32}.lane_chunks(elements)), 3U);
  EXPECT_EQ((LaneGeometry{2, 4, 32}.lane_chunks(elements)), 2U);
  EXPECT_EQ((LaneGeometry{3, 4, 32}.lane_chunks(elements)), 2U);
  EXPECT_EQ((LaneGeometry{3, 4, 32}.lane_chunks(3 * 32)), 1U) << "an empty one";
  EXPECT_EQ((LaneGeometry{1, 4, 32}.chunk_of(2)), 9U);
  EXPECT_EQ((LaneGeometry{1, 4, 32}.index_of(9)), 2U);
  EXPECT_TRUE((LaneGeometry{1, 4, 32}.owns(9)));
  EXPECT_FALSE((LaneGeometry{1, 4, 32}.owns(8)));
}

TEST_F(RoundWindowTest, CompletesASlotWithItsLastContributionInAnyOrder) {
  EXPECT_EQ(admit(2, 0).state, Admitted::kHeld);
  const std::byte* third = last_.data;
  EXPECT_FALSE(last_.keep) << "a taken payload is moved";
  EXPECT_EQ(admit(0, 0).state, Admitted::kHeld);
  const std::byte* first = last_.data;
  EXPECT_EQ(admit(1, 0).state, Admitted::kCompleted);
  const std::byte* second = last_.data;
  const auto inputs = window_.inputs(0);
  ASSERT_EQ(inputs.size(), 3U);
  EXPECT_EQ(inputs[0], first);
  EXPECT_EQ(inputs[1], second);
  EXPECT_EQ(inputs[2], third);
  EXPECT_EQ(pool_.in_use(), 3U);
  window_.release(0);
  EXPECT_EQ(pool_.in_use(), 0U);
  EXPECT_EQ(window_.base(), 1U);
}

TEST_F(RoundWindowTest, AReleaseKeepsABufferThatOthersHold) {
  admit(0, 0);
  admit(1, 0);
  Input shared;
  const BufferRef cached = BufferRef::adopt(pool_.allocate());
  shared.keep = cached.share();
  shared.data = shared.keep.data();
  window_.admit(2, 0, kFacts, shared, kChunkBytes, 100);
  window_.release(0);
  EXPECT_EQ(pool_.in_use(), 1U);
}

TEST_F(RoundWindowTest, ReceivesPastInOrderDuplicateFutureAndForeign) {
  finish(0);
  struct Row {
    const char* what;
    std::uint32_t index;
    Facts facts;
    std::size_t bytes;
    DropReason reason;
  };
  const Row rows[] = {
      {"in order", 1, kFacts, kChunkBytes, DropReason::kNone},
      {"past", 0, kFacts, kChunkBytes, DropReason::kRoundClosed},
      {"duplicate", 1, kFacts, kChunkBytes, DropReason::kDuplicateContribution},
      {"within the grant", 2, kFacts, kChunkBytes, DropReason::kNone},
      {"beyond the grant", 3, kFacts, kChunkBytes, DropReason::kBeyondGrant},
      {"far beyond the grant", 0xffffffff, kFacts, kChunkBytes, DropReason::kBeyondGrant},
      {"other size", 1, {8 * 32, Format::kFp32, Operation::kMean}, kChunkBytes, DropReason::kMismatch},
      {"other operation",
       1,
       {kFacts.update_elements, Format::kFp32, Operation::kSum},
       kChunkBytes,
       DropReason::kMismatch},
      {"other format",
       1,
       {kFacts.update_elements, Format::kInt32, Operation::kMean},
       kChunkBytes,
       DropReason::kMismatch},
      {"short payload", 1, kFacts, kChunkBytes - 4, DropReason::kMismatch},
      {"long payload", 1, kFacts, kChunkBytes + 4, DropReason::kMismatch},
      {"no payload", 1, kFacts, 0, DropReason::kMismatch},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const Admission admission = admit(1, row.index, row.facts, row.bytes);
    if (row.reason == DropReason::kNone) {
      EXPECT_EQ(admission.state, Admitted::kHeld);
    } else {
      expect_refused(row.reason, admission);
    }
  }
  last_ = {};
  EXPECT_EQ(pool_.in_use(), 2U);
}

TEST_F(RoundWindowTest, TheFirstContributionMustMakeSenseByItself) {
  expect_refused(DropReason::kMismatch, admit(0, 0, {0, Format::kFp32, Operation::kSum}));
  expect_refused(DropReason::kMismatch,
                 admit(0, 0, {kFacts.update_elements, Format::kInt32, Operation::kWeighted}));
  expect_refused(DropReason::kMismatch,
                 admit(0, 0, {kFacts.update_elements, Format::kFp32, Operation::kSum, Format::kInt32}));
  expect_refused(DropReason::kMismatch,
                 admit(0, 0, {kFacts.update_elements, Format::kNone, Operation::kSum}));
  expect_refused(DropReason::kMismatch, admit(0, 0, {~std::uint64_t{0}, Format::kFp32, Operation::kSum}));
  constexpr std::uint64_t kMostChunks = std::uint64_t{1} << 31;
  expect_refused(DropReason::kMismatch, admit(0, 0, {kMostChunks * 32 + 1, Format::kFp32, Operation::kSum}));
  expect_refused(DropReason::kMismatch, admit(0, 0, {5, Format::kFp32, Operation::kSum}, 20));
  expect_refused(DropReason::kMismatch, admit(0, 1, {2 * 32, Format::kFp32, Operation::kSum}));
  EXPECT_FALSE(window_.facts_known());
  EXPECT_EQ(window_.first_contribution_ns(), kNever);
  EXPECT_EQ(admit(0, 0, kFacts, kChunkBytes, 500).state, Admitted::kHeld);
  admit(1, 0, kFacts, kChunkBytes, 900);
  EXPECT_EQ(window_.facts(), kFacts);
  EXPECT_EQ(window_.first_contribution_ns(), 500U);
}

TEST_F(RoundWindowTest, ContributionsAndResultsMustFitPackets) {
  // Chunks of 32 elements: 33 bytes in one-byte formats, 64 in bf16, 128 in fp32.
  const auto admitted = [this](std::uint32_t max_payload_bytes, Format format, Format result) {
    RoundWindow window({0, 1, 32, max_payload_bytes}, 1, 1);
    window.open(1, 1, 1);
    Input input;
    input.keep = BufferRef::adopt(pool_.allocate());
    input.data = input.keep.data();
    return window.admit(0, 0, {32, format, Operation::kSum, result}, input, encoded_bytes(format, 32), 1)
        .taken();
  };
  EXPECT_TRUE(admitted(33, Format::kMxInt8, Format::kNone));
  EXPECT_FALSE(admitted(32, Format::kMxInt8, Format::kNone));
  EXPECT_FALSE(admitted(33, Format::kMxInt8, Format::kBf16)) << "the result would not fit";
  EXPECT_TRUE(admitted(64, Format::kMxInt8, Format::kBf16));
  EXPECT_FALSE(admitted(64, Format::kFp32, Format::kBf16)) << "the contribution does not fit";
  EXPECT_TRUE(admitted(128, Format::kFp32, Format::kBf16));
}

TEST_F(RoundWindowTest, TheLastChunkIsShorter) {
  for (std::uint32_t index = 0; index < 4; ++index) finish(index);
  EXPECT_EQ(window_.elements(3), 32U);
  EXPECT_EQ(window_.elements(4), 7U);
  expect_refused(DropReason::kMismatch, admit(0, 4, kFacts, kChunkBytes));
  EXPECT_FALSE(window_.complete());
  EXPECT_EQ(window_.missing(), 0b111U);
  finish(4);
  EXPECT_TRUE(window_.complete());
  EXPECT_EQ(window_.missing(), 0U);
  EXPECT_EQ(window_.late(), 0U);
  EXPECT_EQ(window_.granted(), kLaneChunks);
  expect_refused(DropReason::kMismatch, admit(0, 5));
}

TEST_F(RoundWindowTest, TheBaseWaitsForTheOldestSlot) {
  admit(0, 0);
  finish(1);
  EXPECT_EQ(window_.base(), 0U);
  EXPECT_EQ(window_.granted(), 2U);
  expect_refused(DropReason::kDuplicateContribution, admit(0, 1));
  expect_refused(DropReason::kBeyondGrant, admit(0, 2));
  EXPECT_EQ(window_.late(), 0b110U);
  admit(1, 0);
  admit(2, 0);
  EXPECT_EQ(window_.late(), 0U);
  window_.release(0);
  EXPECT_EQ(window_.base(), 2U);
  EXPECT_EQ(window_.granted(), 4U);
}

TEST_F(RoundWindowTest, TheGrantEndsWithTheLane) {
  EXPECT_EQ(window_.granted(), 2U);
  window_.close();
  window_.open(13, 3, 3);
  EXPECT_EQ(window_.granted(), 3U);
  admit(0, 0, {3 * 32, Format::kFp32, Operation::kSum});  // Chunks 0, 1, 2: this lane has chunk 1 only.
  EXPECT_EQ(window_.chunks_total(), 1U);
  EXPECT_EQ(window_.granted(), 1U);
}

TEST_F(RoundWindowTest, TakesBytesThatNobodyHasToKeep) {
  const std::array<std::byte, kChunkBytes> own{};
  Input local = {own.data(), {}};
  EXPECT_EQ(window_.admit(0, 0, kFacts, local, kChunkBytes, 1).state, Admitted::kHeld);
  admit(1, 0);
  admit(2, 0);
  EXPECT_EQ(window_.inputs(0)[0], own.data());
  window_.release(0);
  EXPECT_EQ(pool_.in_use(), 0U);
}

TEST_F(RoundWindowTest, ClosingDropsEverythingAndTheNextRoundStartsAfresh) {
  admit(0, 0);
  finish(1);
  admit(2, 0);
  EXPECT_EQ(pool_.in_use(), 2U);
  window_.close();
  EXPECT_EQ(pool_.in_use(), 0U);
  EXPECT_FALSE(window_.is_open());
  expect_refused(DropReason::kRoundClosed, admit(0, 0));
  window_.open(14, 2, 3);
  EXPECT_EQ(window_.round(), 14U);
  EXPECT_EQ(window_.base(), 0U);
  EXPECT_FALSE(window_.facts_known());
  EXPECT_EQ(window_.late(), 0b11U);
  EXPECT_EQ(window_.first_contribution_ns(), kNever);
  EXPECT_EQ(admit(0, 0, {64, Format::kFp32, Operation::kSum}).state, Admitted::kHeld);
  EXPECT_EQ(admit(1, 0, {64, Format::kFp32, Operation::kSum}).state, Admitted::kCompleted);
}

TEST(RoundWindow, ALaneThatTheUpdateDoesNotReachHasOneEmptyChunk) {
  const Facts small = {32, Format::kFp32, Operation::kSum};  // Only chunk 0, which is lane 0's.
  const std::byte nothing{};
  RoundWindow window({1, 2, 32}, 2, 4);
  window.open(0, 2, 4);
  Input first = {&nothing, {}};
  EXPECT_EQ(window.admit(0, 0, small, first, 4, 0).reason, DropReason::kMismatch);
  EXPECT_EQ(window.admit(0, 0, small, first, 0, 0).state, Admitted::kHeld);
  EXPECT_EQ(window.chunks_total(), 1U);
  Input second = {&nothing, {}};
  EXPECT_EQ(window.admit(1, 0, small, second, 0, 0).state, Admitted::kCompleted);
  EXPECT_EQ(window.elements(0), 0U);
  window.release(0);
  EXPECT_TRUE(window.complete());
  Input third = {&nothing, {}};
  EXPECT_EQ(window.admit(1, 1, small, third, 0, 0).reason, DropReason::kMismatch);
}

TEST(RoundWindow, SixtyFourMembersFillTheBitmap) {
  TestPool pool;
  RoundWindow window({0, 1, 32}, 64, 1);
  window.open(0, 64, 1);
  EXPECT_EQ(window.late(), ~std::uint64_t{0});
  for (std::size_t member = 0; member < 64; ++member) {
    Input input;
    input.keep = BufferRef::adopt(pool.allocate());
    input.data = input.keep.data();
    const Admission admission =
        window.admit(63 - member, 0, {32, Format::kFp32, Operation::kSum}, input, 128, 1);
    EXPECT_EQ(admission.state, member < 63 ? Admitted::kHeld : Admitted::kCompleted);
  }
  window.release(0);
  EXPECT_TRUE(window.complete());
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST_F(RoundWindowTest, TellsWhenAMemberHasContributedEverything) {
  for (std::uint32_t index = 0; index + 1 < kLaneChunks; ++index) finish(index);
  EXPECT_EQ(window_.first_member_done_ns(), kNever);
  EXPECT_TRUE(admit(2, kLaneChunks - 1, kFacts, kLastBytes, 500).member_done);
  EXPECT_EQ(window_.first_member_done_ns(), 500U);
  EXPECT_FALSE(admit(2, kLaneChunks - 1, kFacts, kLastBytes, 600).member_done) << "a repetition";
  EXPECT_TRUE(admit(0, kLaneChunks - 1, kFacts, kLastBytes, 700).member_done);
  EXPECT_EQ(window_.first_member_done_ns(), 500U) << "of the first one";
  window_.close();
  window_.open(13, 3, 2);
  EXPECT_EQ(window_.first_member_done_ns(), kNever);
  EXPECT_FALSE(admit(0, 0).member_done);
}

TEST_F(RoundWindowTest, CountsTheContributionsThatItHolds) {
  EXPECT_EQ(window_.held(), 0U);
  admit(0, 0);
  admit(0, 1);
  admit(1, 0);
  EXPECT_EQ(window_.held(), 3U);
  admit(1, 0);
  EXPECT_EQ(window_.held(), 3U) << "a duplicate is not held";
  admit(2, 0);
  window_.release(0);
  EXPECT_EQ(window_.held(), 1U);
  window_.close();
  EXPECT_EQ(window_.held(), 0U);
}

}  // namespace
}  // namespace tombolo::aggregation
