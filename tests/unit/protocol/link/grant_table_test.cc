#include "protocol/link/grant_table.h"

#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

namespace tombolo::link {
namespace {

using Upward = GrantTable::Upward;
using wire::RoundOutcome;

/// Takes the next thing to tell, which must be there.
Upward tell(GrantTable& table) {
  Upward upward;
  EXPECT_TRUE(table.next_upward(upward));
  table.told(upward);
  return upward;
}

TEST(GrantTable, WhatGoesUpIsTheLeastOverTheChildren) {
  GrantTable table(1, std::array<std::uint8_t, 1>{3});
  table.grant(0, 5, 0, 40);
  table.grant(0, 5, 1, 60);
  EXPECT_EQ(table.pending(), 0u) << "the third child has granted nothing";
  EXPECT_EQ(table.granted(0, 5), 0u);
  table.grant(0, 5, 2, 50);
  ASSERT_EQ(table.pending(), 1u);
  EXPECT_EQ(table.granted(0, 5), 0u) << "what is not told does not bind the source";
  const Upward upward = tell(table);
  EXPECT_EQ(upward.tree, 0u);
  EXPECT_EQ(upward.round, 5u);
  EXPECT_EQ(upward.granted, 40u);
  EXPECT_FALSE(upward.ended);
  EXPECT_EQ(table.granted(0, 5), 40u);
  EXPECT_EQ(table.pending(), 0u);
}

TEST(GrantTable, LostChildrenLimitNobodyAndEndWithEveryRound) {
  GrantTable table(1, std::array<std::uint8_t, 2>{3, 1});
  table.grant(0, 5, 0, 40);
  table.grant(0, 5, 2, 50);
  EXPECT_EQ(table.pending(), 0u);
  table.lose(0, 0b010);
  EXPECT_EQ(tell(table).granted, 40u) << "of a round that is under way";
  table.grant(0, 6, 0, 7);
  EXPECT_EQ(table.pending(), 0u) << "child 2 has granted nothing of round 6";
  table.grant(0, 6, 2, 9);
  EXPECT_EQ(tell(table).granted, 7u) << "of a round to come";
  EXPECT_EQ(table.unfinished(), 2u);
  for (const std::uint32_t round : {5u, 6u}) {
    table.end(0, round, 0, {RoundOutcome::kComplete, 0});
    table.end(0, round, 2, {RoundOutcome::kComplete, 0});
    Upward upward = tell(table);
    while (!upward.ended) upward = tell(table);
    EXPECT_EQ(upward.round, round);
    EXPECT_EQ(upward.end.outcome, RoundOutcome::kLost);
  }
  EXPECT_EQ(table.unfinished(), 0u);
  table.grant(1, 5, 0, 3);
  EXPECT_EQ(tell(table).granted, 3u) << "another tree has lost nothing";
}

TEST(GrantTable, ATreeThatHasLostAllItsChildrenIsOver) {
  GrantTable table(1, std::array<std::uint8_t, 1>{2});
  table.grant(0, 5, 0, 40);
  table.lose(0, 0b11);
  EXPECT_TRUE(table.ended(0, 5));
  EXPECT_TRUE(tell(table).ended);
  EXPECT_EQ(table.unfinished(), 0u);
  table.lose(0, 0b11);
  EXPECT_EQ(table.pending(), 0u) << "said twice, told once";
}

TEST(GrantTable, AGrantOnlyGrows) {
  GrantTable table(1, std::array<std::uint8_t, 1>{1});
  const struct {
    std::uint32_t up_to;
    std::size_t pending;
    std::uint32_t granted;
  } steps[] = {{10, 1, 10},
               {10, 0, 10},
               {7, 0, 10},
               {0, 0, 10},
               {11, 1, 11},
               {GrantTable::kEverything, 1, GrantTable::kEverything},
               {12, 0, GrantTable::kEverything}};
  for (const auto& step : steps) {
    SCOPED_TRACE(step.up_to);
    table.grant(0, 1, 0, step.up_to);
    ASSERT_EQ(table.pending(), step.pending);
    if (step.pending > 0) tell(table);
    EXPECT_EQ(table.granted(0, 1), step.granted);
  }
}

TEST(GrantTable, SeveralGrantsBeforeTheyAreToldAreOne) {
  GrantTable table(1, std::array<std::uint8_t, 1>{1});
  for (std::uint32_t up_to = 1; up_to <= 9; ++up_to) table.grant(0, 1, 0, up_to);
  EXPECT_EQ(table.pending(), 1u);
  EXPECT_EQ(tell(table).granted, 9u);
}

TEST(GrantTable, TheEndGoesUpOnceAllChildrenAreDoneWithTheWorstOutcome) {
  GrantTable table(1, std::array<std::uint8_t, 1>{3});
  table.grant(0, 2, 0, 8);
  table.grant(0, 2, 1, 9);
  table.end(0, 2, 2, {RoundOutcome::kDeadline, 0b100});
  EXPECT_EQ(tell(table).granted, 8u) << "a child that is done limits nobody";
  table.end(0, 2, 2, {RoundOutcome::kSuperseded, 0b1000});  // Repeated: the first word stands.
  table.end(0, 2, 0, {RoundOutcome::kComplete, 0});
  EXPECT_EQ(tell(table).granted, 9u);
  EXPECT_FALSE(table.ended(0, 2));
  EXPECT_EQ(table.end_of(0, 2), nullptr);
  table.end(0, 2, 1, {RoundOutcome::kAbandoned, 0b10});
  EXPECT_TRUE(table.ended(0, 2));
  const Upward upward = tell(table);
  EXPECT_TRUE(upward.ended);
  EXPECT_EQ(upward.granted, GrantTable::kEverything);
  EXPECT_EQ(upward.end.outcome, RoundOutcome::kAbandoned);
  EXPECT_EQ(upward.end.missing, 0b110u);
  ASSERT_NE(table.end_of(0, 2), nullptr);
  EXPECT_EQ(table.end_of(0, 2)->missing, 0b110u);
  table.end(0, 2, 1, {RoundOutcome::kSuperseded, 1});
  table.grant(0, 2, 1, 100);
  EXPECT_EQ(table.pending(), 0u) << "it is over";
}

TEST(GrantTable, SixtyFourChildrenAreAllCounted) {
  GrantTable table(1, std::array<std::uint8_t, 1>{64});
  for (std::uint32_t child = 0; child < 64; ++child) {
    EXPECT_FALSE(table.ended(0, 1)) << child;
    table.end(0, 1, child, {RoundOutcome::kComplete, 0});
  }
  EXPECT_TRUE(table.ended(0, 1));
}

TEST(GrantTable, KeepsTheFourNewestRoundsOfATree) {
  constexpr std::uint32_t kPeriod = 3;
  GrantTable table(kPeriod, std::array<std::uint8_t, 1>{1});
  for (std::uint32_t i = 0; i < 4; ++i) {
    table.grant(0, 1 + i * kPeriod, 0, 10 + i);
    EXPECT_EQ(tell(table).round, 1 + i * kPeriod);
  }
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(table.granted(0, 1 + i * kPeriod), 10 + i);
  table.grant(0, 13, 0, 99);  // The fifth takes the place of the first.
  EXPECT_EQ(tell(table).granted, 99u);
  EXPECT_EQ(table.granted(0, 1), 0u);
  EXPECT_EQ(table.granted(0, 4), 11u);
  EXPECT_EQ(table.granted(0, 13), 99u);

  table.grant(0, 1, 0, 1000);
  table.end(0, 1, 0, {RoundOutcome::kDeadline, 1});
  EXPECT_EQ(table.pending(), 0u) << "an older round is ignored";
  EXPECT_FALSE(table.ended(0, 1));
  EXPECT_EQ(table.granted(0, 13), 99u);
}

TEST(GrantTable, ANewRoundStartsFromNothing) {
  GrantTable table(1, std::array<std::uint8_t, 1>{2});
  table.end(0, 0, 0, {RoundOutcome::kDeadline, 5});
  table.end(0, 0, 1, {RoundOutcome::kComplete, 0});
  tell(table);
  table.grant(0, 4, 0, 7);
  EXPECT_EQ(table.pending(), 0u) << "the other child's grant was for the former round";
  table.grant(0, 4, 1, 6);
  const Upward upward = tell(table);
  EXPECT_EQ(upward.round, 4u);
  EXPECT_EQ(upward.granted, 6u);
  EXPECT_FALSE(upward.ended);
  EXPECT_EQ(upward.end.missing, 0u);
}

TEST(GrantTable, TreesDoNotTouchEachOther) {
  GrantTable table(2, std::array<std::uint8_t, 4>{1, 0, 2, 1});
  table.grant(0, 2, 0, 5);
  table.grant(2, 2, 0, 6);
  table.grant(2, 2, 1, 7);
  table.grant(3, 3, 0, 8);
  const std::vector<std::pair<std::uint16_t, std::uint32_t>> expected = {{0, 5}, {2, 6}, {3, 8}};
  for (const auto& [tree, granted] : expected) {
    const Upward upward = tell(table);
    EXPECT_EQ(upward.tree, tree) << "first come, first told";
    EXPECT_EQ(upward.granted, granted);
  }
  EXPECT_EQ(table.granted(1, 2), 0u);
  EXPECT_FALSE(table.ended(1, 2)) << "a tree that does not pass here never ends here";
}

TEST(GrantTable, PostponeLetsTheOthersGoFirst) {
  GrantTable table(1, std::array<std::uint8_t, 3>{1, 1, 1});
  for (std::uint16_t tree = 0; tree < 3; ++tree) table.grant(tree, 1, 0, 10u + tree);
  table.postpone();
  EXPECT_EQ(table.pending(), 3u);
  EXPECT_EQ(table.granted(0, 1), 0u);
  EXPECT_EQ(tell(table).tree, 1u);
  table.grant(0, 1, 0, 50);  // What is postponed grows.
  EXPECT_EQ(tell(table).tree, 2u);
  EXPECT_EQ(tell(table).granted, 50u);
  Upward upward;
  EXPECT_FALSE(table.next_upward(upward));
}

TEST(GrantTable, ANewParentIsToldEverythingOfItsTreeAgain) {
  GrantTable table(1, std::array<std::uint8_t, 2>{1, 1});
  table.grant(0, 1, 0, 10);
  table.grant(0, 2, 0, 20);
  table.end(0, 3, 0, {RoundOutcome::kDeadline, 9});
  table.grant(1, 1, 0, 30);
  while (table.pending() > 0) tell(table);
  table.tell_again(0);
  table.tell_again(0);
  EXPECT_EQ(table.pending(), 3u) << "each once";
  std::vector<std::uint32_t> rounds;
  while (table.pending() > 0) {
    const Upward upward = tell(table);
    EXPECT_EQ(upward.tree, 0u);
    EXPECT_EQ(upward.ended, upward.round == 3);
    EXPECT_EQ(upward.end.missing, upward.round == 3 ? 9u : 0u);
    rounds.push_back(upward.round);
  }
  std::sort(rounds.begin(), rounds.end());
  EXPECT_EQ(rounds, (std::vector<std::uint32_t>{1, 2, 3}));
}

TEST(GrantTable, AForeignTreeOrChildIsABrokenInvariant) {
  GrantTable table(1, std::array<std::uint8_t, 2>{2, 0});
  EXPECT_DEATH(table.grant(2, 0, 0, 1), "broken invariant");
  EXPECT_DEATH(table.grant(0, 0, 2, 1), "broken invariant");
  EXPECT_DEATH(table.grant(1, 0, 0, 1), "broken invariant");
  EXPECT_DEATH(table.end(0, 0, 2, {}), "broken invariant");
  EXPECT_DEATH(table.postpone(), "broken invariant");
  EXPECT_DEATH(table.told({}), "broken invariant");
  EXPECT_DEATH(GrantTable(0, std::array<std::uint8_t, 1>{1}), "broken invariant");
  EXPECT_DEATH(GrantTable(1, std::array<std::uint8_t, 1>{65}), "broken invariant");
}

}  // namespace
}  // namespace tombolo::link
