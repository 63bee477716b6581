#include "dataplane/port/dpdk/group_table.h"

#include <gtest/gtest.h>

#include "dataplane/port/dpdk/frame.h"

namespace tombolo::dataplane {
namespace {

constexpr std::uint32_t kNear = 0x0a000002;
constexpr std::uint32_t kFar = 0x0a010002;
constexpr std::uint32_t kOld = 0xefc00001;
constexpr std::uint32_t kNew = 0xefc00002;

TEST(GroupTable, TakesAGroupFromItsOwnSourceOnly) {
  GroupTable table({kNear, kFar});
  EXPECT_FALSE(table.accepts(kNear, kOld));
  table.set(0, {kNew, {kOld, 0}});
  EXPECT_TRUE(table.accepts(kNear, kOld));
  EXPECT_FALSE(table.accepts(kFar, kOld));
  EXPECT_FALSE(table.accepts(kNear + 1, kOld));
  // What it sends to is not what it receives from.
  EXPECT_FALSE(table.accepts(kNear, kNew));
  EXPECT_EQ(table.send_group(0), kNew);
  EXPECT_EQ(table.send_group(1), 0U);
  EXPECT_TRUE(table.listens_to(kOld));
  EXPECT_FALSE(table.listens_to(kNew));
}

TEST(GroupTable, TakesTheGroupsOfBothEpochsDuringAChange) {
  GroupTable table({kNear});
  table.set(0, {0, {kOld, kNew}});
  EXPECT_TRUE(table.accepts(kNear, kOld));
  EXPECT_TRUE(table.accepts(kNear, kNew));
  table.set(0, {0, {kNew, kNew}});
  EXPECT_FALSE(table.accepts(kNear, kOld));
  EXPECT_TRUE(table.accepts(kNear, kNew));
  table.set(0, {});
  EXPECT_FALSE(table.accepts(kNear, kNew));
}

TEST(GroupTable, WithoutNeighboursTakesNothing) {
  EXPECT_FALSE(GroupTable().accepts(kNear, kOld));
  EXPECT_FALSE(GroupTable().listens_to(kOld));
}

TEST(GroupTableDeathTest, ChecksWhatItIsGiven) {
  GroupTable table({kNear});
  EXPECT_DEATH(table.set(1, {}), "index");
  EXPECT_DEATH(table.set(0, {kFar, {}}), "is_group_or_none");
}

}  // namespace
}  // namespace tombolo::dataplane
