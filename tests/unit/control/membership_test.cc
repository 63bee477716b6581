#include "control/membership.h"

#include <gtest/gtest.h>

#include <vector>

#include "schedule/schedule.h"

namespace tombolo::control {
namespace {

using schedule::Clique;
using schedule::Schedule;
using Rounds = std::vector<std::vector<Clique>>;

Schedule make(const Rounds& rounds) {
  Schedule schedule{.name = "test", .rounds = {}};
  for (const auto& cliques : rounds) schedule.rounds.push_back({cliques});
  return schedule;
}

Rounds rounds_of(const Result<Schedule>& schedule) {
  if (!schedule.ok()) return {};
  Rounds rounds;
  for (const schedule::Round& round : schedule->rounds) rounds.push_back(round.cliques);
  return rounds;
}

TEST(MembershipTest, TheLostLeaveTheirCliques) {
  const Schedule grid = make({{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}}, {{0, 3, 6}, {1, 4, 7}, {2, 5, 8}}});
  EXPECT_EQ(rounds_of(without(grid, {4})),
            (Rounds{{{0, 1, 2}, {3, 5}, {6, 7, 8}}, {{0, 3, 6}, {1, 7}, {2, 5, 8}}}));
  EXPECT_EQ(without(grid, {4})->name, "test");
  EXPECT_EQ(rounds_of(without(grid, {4, 5})), (Rounds{{{0, 1, 2}, {6, 7, 8}}, {{0, 3, 6}, {1, 7}, {2, 8}}}))
      << "a clique of one rests";
}

TEST(MembershipTest, ARoundWithoutACliqueIsDropped) {
  EXPECT_EQ(rounds_of(without(make({{{0, 1, 2}}, {{0, 3}}, {{1, 2}}}), {3})),
            (Rounds{{{0, 1, 2}}, {{1, 2}}}));
}

TEST(MembershipTest, NobodyLostOrUnknownIsNoChange) {
  const Schedule full = make({{{0, 1, 2}}});
  EXPECT_EQ(rounds_of(without(full, {})), (Rounds{{{0, 1, 2}}}));
  EXPECT_EQ(rounds_of(without(full, {7})), (Rounds{{{0, 1, 2}}}));
}

TEST(MembershipTest, NothingLeftIsAnError) {
  const auto result = without(make({{{0, 1}}}), {1});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::kFailed);
  EXPECT_EQ(result.error().message, "schedule test: without the lost islands no clique is left");
}

TEST(MembershipTest, IslandsThatWouldDriftApartAreNamed) {
  // A chain 0-1-2-3: losing 1 cuts 0 off; losing the end leaves a chain.
  const Schedule chain = make({{{0, 1}, {2, 3}}, {{1, 2}}});
  const auto cut = without(chain, {1});
  ASSERT_FALSE(cut.ok());
  EXPECT_NE(cut.error().message.find("ranks 0 and 2"), std::string::npos) << cut.error().message;
  EXPECT_EQ(rounds_of(without(chain, {0})), (Rounds{{{2, 3}}, {{1, 2}}}));
}

TEST(MembershipTest, IslandsThatNeverMetMayStayApart) {
  EXPECT_EQ(rounds_of(without(make({{{0, 1, 2}, {3, 4}}}), {2})), (Rounds{{{0, 1}, {3, 4}}}));
}

}  // namespace
}  // namespace tombolo::control
