#include "aggregation/fold_point.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/aggregation/test_pool.h"

namespace tombolo::aggregation {
namespace {

using wire::RoundOutcome;

constexpr std::uint32_t kFirstRound = 100;
constexpr Nanoseconds kDeadline = 1000;
constexpr LaneGeometry kGeometry = {1, 2, 32};
constexpr Facts kFacts = {64 * 32, wire::Format::kFp32, wire::Operation::kSum};  // 32 chunks in this lane.
constexpr std::size_t kChunkBytes = 128;

MemberEntry clique(std::vector<std::uint16_t> ranks, std::uint8_t self, std::uint32_t window_chunks) {
  MemberEntry entry;
  entry.members = static_cast<std::uint8_t>(ranks.size());
  entry.self = self;
  entry.window_chunks = window_chunks;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    entry.ranks[i] = ranks[i];
    entry.receive_trees[i] = static_cast<std::uint16_t>(ranks[i] + 1000);
  }
  return entry;
}

/// Period 3: {2, 5, 9}, a rest, {5, 7}; the island is rank 5.
std::vector<MemberEntry> three_entries() {
  return {clique({2, 5, 9}, 1, 32), MemberEntry{}, clique({5, 7}, 0, 4)};
}

class FoldPointTest : public testing::Test {
 protected:
  static FoldPoint make(const std::vector<MemberEntry>& entries, std::uint32_t first_round) {
    auto point = FoldPoint::create({entries, first_round, kGeometry, kDeadline});
    CHECK(point.ok());
    return std::move(point).value();
  }

  static std::vector<std::uint32_t> rounds(const OpenRounds& open) {
    std::vector<std::uint32_t> result;
    for (const OpenRound* round : open) result.push_back(round->window.round());
    return result;
  }

  PointAdmission admit(std::uint32_t round, std::uint16_t rank, std::uint32_t chunk,
                       Nanoseconds now_ns = 10) {
    Input input;
    input.keep = BufferRef::adopt(pool_.allocate());
    input.data = input.keep.data();
    return point_.admit(round, rank, chunk, kFacts, input, kChunkBytes, now_ns);
  }
  DropReason reason(std::uint32_t round, std::uint16_t rank, std::uint32_t chunk) {
    return admit(round, rank, chunk).admission.reason;
  }

  using Rounds = std::vector<std::uint32_t>;
  TestPool pool_;
  std::vector<MemberEntry> entries_ = three_entries();
  FoldPoint point_ = make(entries_, kFirstRound);
};

TEST_F(FoldPointTest, OpensTwoRoundsAndSkipsRests) {
  EXPECT_FALSE(point_.highest_opened().has_value());
  EXPECT_EQ(rounds(point_.advance()), (Rounds{100, 102}));
  EXPECT_EQ(rounds(point_.open_rounds()), (Rounds{100, 102}));
  EXPECT_EQ(point_.highest_opened(), 102U);
  EXPECT_EQ(point_.advance().size(), 0U);
  EXPECT_EQ(point_.find(100)->window.members(), 3U);
  EXPECT_EQ(point_.find(100)->window.window_slots(), 16U);
  EXPECT_EQ(point_.find(102)->window.members(), 2U);
  EXPECT_EQ(point_.find(102)->window.window_slots(), 2U);
  EXPECT_EQ(point_.find(102)->entry->receive_trees[1], 1007U);
  EXPECT_EQ(point_.find(101), nullptr);
}

TEST_F(FoldPointTest, OlderRoundsStayFirstWhenTheNewerOneEndsFirst) {
  point_.advance();
  EXPECT_TRUE(point_.close(102, RoundOutcome::kComplete));
  EXPECT_EQ(rounds(point_.advance()), (Rounds{103}));
  EXPECT_EQ(rounds(point_.open_rounds()), (Rounds{100, 103}));
  EXPECT_TRUE(point_.close(100, RoundOutcome::kDeadline));
  EXPECT_EQ(rounds(point_.advance()), (Rounds{105}));
  EXPECT_EQ(rounds(point_.open_rounds()), (Rounds{103, 105}));
  EXPECT_FALSE(point_.close(100, RoundOutcome::kComplete)) << "already closed";
  EXPECT_EQ(point_.closed(RoundOutcome::kComplete), 1U);
  EXPECT_EQ(point_.closed(RoundOutcome::kDeadline), 1U);
  EXPECT_EQ(point_.closed(RoundOutcome::kAbandoned), 0U);
}

TEST_F(FoldPointTest, ReceivesPastPresentFutureAndForeign) {
  EXPECT_EQ(reason(100, 2, 1), DropReason::kRoundNotOpen);
  point_.advance();
  EXPECT_EQ(reason(100, 2, 1), DropReason::kNone);
  EXPECT_EQ(reason(100, 2, 1), DropReason::kDuplicateContribution);
  EXPECT_EQ(reason(102, 7, 1), DropReason::kNone);
  EXPECT_EQ(reason(103, 2, 1), DropReason::kRoundNotOpen);
  EXPECT_EQ(reason(0xffffffff, 2, 1), DropReason::kRoundNotOpen);
  EXPECT_EQ(reason(101, 2, 1), DropReason::kRoundClosed) << "the island rests in it";
  EXPECT_EQ(reason(99, 2, 1), DropReason::kRoundClosed) << "before the epoch";
  EXPECT_EQ(reason(100, 7, 1), DropReason::kWrongRank) << "of the other clique";
  EXPECT_EQ(reason(102, 2, 1), DropReason::kWrongRank);
  EXPECT_EQ(reason(102, 0, 1), DropReason::kWrongRank) << "what unused places of the table hold";
  EXPECT_EQ(reason(100, 5, 2), DropReason::kWrongLane);
  EXPECT_EQ(reason(102, 7, 5), DropReason::kBeyondGrant) << "index 2 of two slots";
  EXPECT_EQ(pool_.in_use(), 2U);
  point_.close(100, RoundOutcome::kAbandoned);
  EXPECT_EQ(pool_.in_use(), 1U);
  EXPECT_EQ(reason(100, 2, 3), DropReason::kRoundClosed);
}

TEST_F(FoldPointTest, CompletesAChunkOfTheRightRound) {
  point_.advance();
  EXPECT_EQ(admit(102, 5, 3).admission.state, Admitted::kHeld);
  EXPECT_EQ(admit(100, 5, 3).admission.state, Admitted::kHeld);
  const PointAdmission done = admit(102, 7, 3);
  EXPECT_EQ(done.admission.state, Admitted::kCompleted);
  ASSERT_EQ(done.round, point_.find(102));
  EXPECT_EQ(done.index, 1U);
  EXPECT_EQ(done.round->window.inputs(done.index).size(), 2U);
}

TEST_F(FoldPointTest, DeadlinesCountFromTheFirstContribution) {
  point_.advance();
  EXPECT_EQ(point_.next_deadline_ns(), kNever);
  EXPECT_EQ(point_.expire(1'000'000'000).size(), 0U) << "nobody has begun";
  admit(102, 7, 1, 50);
  admit(102, 5, 1, 900);
  EXPECT_EQ(point_.next_deadline_ns(), 50 + kDeadline);
  admit(100, 2, 1, 20);
  EXPECT_EQ(point_.next_deadline_ns(), 20 + kDeadline);
  EXPECT_EQ(point_.expire(20 + kDeadline - 1).size(), 0U);
  EXPECT_EQ(rounds(point_.expire(20 + kDeadline)), (Rounds{100}));
  EXPECT_EQ(rounds(point_.expire(50 + kDeadline)), (Rounds{100, 102}));
  for (const OpenRound* round : point_.expire(50 + kDeadline)) {
    EXPECT_TRUE(point_.close(round->window.round(), RoundOutcome::kDeadline));
  }
  EXPECT_EQ(point_.open_rounds().size(), 0U);
  EXPECT_EQ(pool_.in_use(), 0U);
  EXPECT_EQ(point_.next_deadline_ns(), kNever);
}

TEST_F(FoldPointTest, ADeadlineBeyondTheEndOfTimeNeverComes) {
  auto point = FoldPoint::create({entries_, kFirstRound, kGeometry, kNever});
  point->advance();
  Input input = {pool_.allocate()->data, {}};
  EXPECT_TRUE(point->admit(100, 2, 1, kFacts, input, kChunkBytes, 5).admission.taken());
  EXPECT_EQ(point->next_deadline_ns(), kNever);
  EXPECT_EQ(point->expire(kNever).size(), 0U);
}

TEST_F(FoldPointTest, StopsBeforeTheNextEpoch) {
  point_.advance();
  EXPECT_EQ(point_.stop_before(104).size(), 0U);
  EXPECT_EQ(reason(103, 2, 1), DropReason::kRoundNotOpen);
  EXPECT_EQ(reason(105, 5, 1), DropReason::kRoundClosed) << "it will never open here";
  point_.close(100, RoundOutcome::kComplete);
  EXPECT_EQ(rounds(point_.advance()), (Rounds{103}));
  point_.close(102, RoundOutcome::kComplete);
  EXPECT_EQ(point_.advance().size(), 0U);
  EXPECT_EQ(rounds(point_.stop_before(103)), (Rounds{103})) << "an earlier end supersedes open rounds";
  EXPECT_EQ(rounds(point_.stop_before(200)), (Rounds{103})) << "a later end changes nothing";
  point_.close(103, RoundOutcome::kSuperseded);
  EXPECT_EQ(point_.advance().size(), 0U);
}

TEST_F(FoldPointTest, RoundsThatTheIslandSkipsAreNeverOpened) {
  // Rests at 101, 104, 107, ...
  point_.advance();
  EXPECT_TRUE(point_.skip(100, 102)) << "open already: closing them is the caller's";
  EXPECT_EQ(rounds(point_.open_rounds()), (Rounds{100, 102}));
  EXPECT_TRUE(point_.skip(105, 107));
  EXPECT_TRUE(point_.skip(1000000, 2000000000));
  EXPECT_EQ(reason(105, 5, 1), DropReason::kRoundNotOpen);
  point_.close(100, RoundOutcome::kAbandoned);
  point_.close(102, RoundOutcome::kAbandoned);
  EXPECT_EQ(rounds(point_.advance()), (Rounds{103, 108}));
  EXPECT_EQ(reason(105, 5, 1), DropReason::kRoundClosed);
  point_.close(103, RoundOutcome::kComplete);
  EXPECT_EQ(rounds(point_.advance()), (Rounds{109})) << "the far range is still to come";
}

TEST_F(FoldPointTest, OverlappingAndOutOfOrderSkips) {
  EXPECT_TRUE(point_.skip(110, 120));
  EXPECT_TRUE(point_.skip(100, 109));
  EXPECT_TRUE(point_.skip(115, 130));
  EXPECT_EQ(rounds(point_.advance()), (Rounds{132, 133})) << "131 is a rest";
}

TEST_F(FoldPointTest, TooManySkipsToComeAreRefused) {
  for (std::uint32_t i = 0; i < FoldPoint::kMaxSkips; ++i)
    EXPECT_TRUE(point_.skip(200 + 10 * i, 205 + 10 * i));
  EXPECT_FALSE(point_.skip(500, 500));
  point_.advance();
  EXPECT_TRUE(point_.skip(100, 101)) << "behind what is open: nothing to keep";
}

TEST_F(FoldPointTest, StopsBeforeAnythingOpened) {
  EXPECT_EQ(point_.stop_before(kFirstRound).size(), 0U);
  EXPECT_EQ(point_.advance().size(), 0U);
  EXPECT_FALSE(point_.highest_opened().has_value());
}

TEST_F(FoldPointTest, AnIslandThatAlwaysRestsOpensNothing) {
  const std::vector<MemberEntry> rests(4);
  FoldPoint point = make(rests, 0);
  EXPECT_EQ(point.advance().size(), 0U);
  EXPECT_FALSE(point.member_index(0, 0).has_value());
}

TEST_F(FoldPointTest, OpensRoundsForEver) {
  for (std::uint32_t i = 0; i < 3000; ++i) {
    point_.advance();
    const std::uint32_t oldest = point_.open_rounds()[0]->window.round();
    EXPECT_EQ(oldest, kFirstRound + i / 2 * 3 + i % 2 * 2);
    EXPECT_EQ(point_.open_rounds().size(), 2U);
    EXPECT_TRUE(point_.close(oldest, RoundOutcome::kComplete));
  }
}

TEST_F(FoldPointTest, EndsWithTheLastRoundNumber) {
  FoldPoint point = make(entries_, 0xfffffffe);
  EXPECT_EQ(rounds(point.advance()), (Rounds{0xfffffffe}));
  EXPECT_EQ(point.advance().size(), 0U);
  EXPECT_EQ(point.open_rounds().size(), 1U);
}

TEST_F(FoldPointTest, KnowsMembersOfRoundsThatAreNotOpen) {
  EXPECT_EQ(point_.member_index(100, 2), std::uint8_t{0});
  EXPECT_EQ(point_.member_index(103, 9), std::uint8_t{2});
  EXPECT_EQ(point_.member_index(105, 7), std::uint8_t{1});
  EXPECT_FALSE(point_.member_index(105, 9).has_value());
  EXPECT_FALSE(point_.member_index(101, 5).has_value());
  EXPECT_FALSE(point_.member_index(99, 5).has_value());
}

/// All three members of round 100 contribute the chunk at `index`, and it is folded.
class GrantTest : public FoldPointTest {
 protected:
  void SetUp() override { point_.advance(); }
  OpenRound& round() { return *point_.find(100); }
  void finish(std::uint32_t index) {
    for (const std::uint16_t rank : {std::uint16_t{2}, std::uint16_t{5}, std::uint16_t{9}})
      ASSERT_TRUE(admit(100, rank, index * 2 + 1).admission.taken());
    round().window.release(index);
  }
};

TEST_F(GrantTest, RenewsByEighthsOfTheWindow) {
  ASSERT_TRUE(FoldPoint::grant_due(round())) << "the first grant";
  FoldPoint::mark_granted(round());
  EXPECT_EQ(round().granted_sent, 16U);
  EXPECT_FALSE(FoldPoint::grant_due(round()));
  finish(0);
  EXPECT_FALSE(FoldPoint::grant_due(round())) << "one slot of 16 is less than an eighth";
  finish(1);
  EXPECT_TRUE(FoldPoint::grant_due(round()));
  FoldPoint::mark_granted(round());
  EXPECT_EQ(round().granted_sent, 18U);
  EXPECT_FALSE(FoldPoint::grant_due(round()));
}

TEST_F(GrantTest, GrantsTheLastChunksHoweverFew) {
  FoldPoint::mark_granted(round());
  // 32 chunks, 16 slots: marks at odd bases leave exactly one chunk for the end.
  for (std::uint32_t index = 0; index < 15; ++index) finish(index);
  FoldPoint::mark_granted(round());
  EXPECT_EQ(round().granted_sent, 31U);
  finish(15);
  EXPECT_TRUE(FoldPoint::grant_due(round()));
  FoldPoint::mark_granted(round());
  EXPECT_EQ(round().granted_sent, 32U);
  for (std::uint32_t index = 16; index < 32; ++index) {
    finish(index);
    EXPECT_FALSE(FoldPoint::grant_due(round())) << "nothing is left to grant";
  }
  EXPECT_TRUE(round().window.complete());
}

TEST_F(GrantTest, ASmallWindowRenewsSlotBySlot) {
  OpenRound& small = *point_.find(102);
  FoldPoint::mark_granted(small);
  admit(102, 5, 1);
  admit(102, 7, 1);
  small.window.release(0);
  EXPECT_TRUE(FoldPoint::grant_due(small));
}

TEST_F(GrantTest, ANewRoundInAnUsedPlaceStartsWithoutAGrant) {
  FoldPoint::mark_granted(round());
  point_.close(100, RoundOutcome::kComplete);
  OpenRound& next = *point_.advance()[0];
  EXPECT_EQ(next.window.round(), 103U);
  EXPECT_EQ(next.granted_sent, 0U);
  EXPECT_TRUE(FoldPoint::grant_due(next));
}

TEST_F(GrantTest, AShortUpdateTakesNoGrantBack) {
  FoldPoint::mark_granted(round());
  Input input = {pool_.allocate()->data, {}};
  const Facts small = {4 * 32, wire::Format::kFp32, wire::Operation::kSum};  // Two chunks in this lane.
  ASSERT_TRUE(point_.admit(100, 2, 1, small, input, kChunkBytes, 1).admission.taken());
  EXPECT_EQ(round().window.granted(), 2U);
  EXPECT_FALSE(FoldPoint::grant_due(round()));
}

TEST(FoldPointCreate, RefusesUnsoundTables) {
  struct Row {
    const char* in_message;
    std::vector<MemberEntry> entries;
    LaneGeometry geometry = kGeometry;
  };
  MemberEntry big = clique({1, 2}, 0, 4);
  big.members = 65;
  const Row rows[] = {
      {"no entry", {}},
      {"entry 1: 65 members", {clique({1, 2}, 0, 4), big}},
      {"own position", {clique({1, 2}, 2, 4)}},
      {"ascend", {clique({2, 1}, 0, 4)}},
      {"ascend", {clique({1, 1}, 0, 4)}},
      {"multiple", {clique({1, 2}, 0, 3)}},
      {"multiple", {clique({1, 2}, 0, 0)}},
      {"lane 2 of 2", {clique({1, 2}, 0, 4)}, {2, 2, 32}},
      {"chunk", {clique({1, 2}, 0, 4)}, {0, 2, 0}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.in_message);
    const auto point = FoldPoint::create({row.entries, 0, row.geometry, kDeadline});
    ASSERT_FALSE(point.ok());
    EXPECT_EQ(point.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(point.error().message.find(row.in_message), std::string::npos) << point.error().message;
  }
}

}  // namespace
}  // namespace tombolo::aggregation
