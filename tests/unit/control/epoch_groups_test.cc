#include "control/epoch_groups.h"

#include <gtest/gtest.h>

namespace tombolo::control {
namespace {

using dataplane::LinkGroups;

constexpr std::uint32_t kOldOut = 0xefc00001, kOldIn = 0xefc00002;
constexpr std::uint32_t kNewOut = 0xefc10001, kNewIn = 0xefc10002;

/// Site 1 has a link to site 2, one to an island of the same number, and one to site 0.
EdgePlace place() { return {1, {{false, 2}, {true, 2}, {false, 0}}}; }

/// Groups on the link between sites 1 and 2 only; between 2 and 3 is none of ours.
schedule::EpochPlan plan(std::uint32_t out, std::uint32_t in) {
  schedule::EpochPlan plan;
  plan.links = {{0, 1, 1, 0}, {1, 0, 1, 0}, {1, 2, 1, 0, out}, {2, 1, 1, 0, in}, {2, 3, 1, 0, 0xefc20000}};
  return plan;
}

TEST(EpochGroups, NothingRunsAtFirst) {
  const EpochGroups groups(place());
  for (std::size_t link = 0; link < 3; ++link) EXPECT_EQ(groups.of(link), LinkGroups{});
}

TEST(EpochGroups, AStagedEpochIsHeardAndACommittedOneIsSpokenIn) {
  EpochGroups groups(place());
  groups.stage(plan(kOldOut, kOldIn));
  EXPECT_EQ(groups.of(0), (LinkGroups{0, {0, kOldIn}}));
  groups.commit();
  EXPECT_EQ(groups.of(0), (LinkGroups{kOldOut, {kOldIn, 0}}));
  groups.stage(plan(kNewOut, kNewIn));
  EXPECT_EQ(groups.of(0), (LinkGroups{kOldOut, {kOldIn, kNewIn}}));
  groups.commit();
  EXPECT_EQ(groups.of(0), (LinkGroups{kNewOut, {kNewIn, kOldIn}})) << "the older epoch has open rounds";
  EXPECT_EQ(groups.of(1), LinkGroups{}) << "islands are unicast";
  EXPECT_EQ(groups.of(2), LinkGroups{}) << "a link without groups";
}

TEST(EpochGroups, AnAbortedEpochIsForgotten) {
  EpochGroups groups(place());
  groups.stage(plan(kOldOut, kOldIn));
  groups.commit();
  groups.stage(plan(kNewOut, kNewIn));
  groups.abort();
  EXPECT_EQ(groups.of(0), (LinkGroups{kOldOut, {kOldIn, kOldIn}}));
}

TEST(EpochGroups, ALinkThatTheNextEpochDoesWithoutIsUnicastAgain) {
  EpochGroups groups(place());
  groups.stage(plan(kOldOut, kOldIn));
  groups.commit();
  groups.stage({});
  groups.commit();
  EXPECT_EQ(groups.of(0), (LinkGroups{0, {0, kOldIn}}));
}

}  // namespace
}  // namespace tombolo::control
