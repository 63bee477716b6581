#include "control/native_groups.h"

#include <gtest/gtest.h>

#include "schedule/check_plan.h"

namespace tombolo::control {
namespace {

using schedule::EpochPlan;
using schedule::Network;
using schedule::SiteId;
using Said = std::map<SiteId, std::vector<SiteId>>;

constexpr GroupRange kRange{0xefc00000, 256};  // 239.192.0.0/24

/// A - B - C: directed links A-B, B-A, B-C, C-B, in this order.
Network line() {
  Network network;
  network.site_names = {"A", "B", "C"};
  for (const auto& [from, to] : {std::pair<SiteId, SiteId>{0, 1}, {1, 0}, {1, 2}, {2, 1}}) {
    schedule::DirectedLink link;
    link.from = from;
    link.to = to;
    network.links.push_back(link);
  }
  return network;
}

EpochPlan plan_of(const std::vector<std::pair<SiteId, SiteId>>& links) {
  EpochPlan plan;
  for (const auto& [from, to] : links) plan.links.push_back({from, to, 1, 0});
  return plan;
}

TEST(NativeGroups, BothEndsOfALinkMustBeAble) {
  const Said said{{0, {1}}, {1, {0, 2}}, {2, {}}};
  EXPECT_EQ(native_links(line(), said, nullptr), (NativeLinks{{0, 1}, {1, 0}}));
  EXPECT_TRUE(native_links(line(), {}, nullptr).empty());
  // Who speaks of a site that is no neighbour speaks in vain.
  EXPECT_TRUE(native_links(line(), {{0, {2}}, {2, {0}}}, nullptr).empty());
}

TEST(NativeGroups, WhoHasSaidNothingIsTakenAtWhatRuns) {
  EpochPlan running = plan_of({{0, 1}, {1, 0}, {1, 2}, {2, 1}});
  running.links[0].group = kRange.first;
  running.links[1].group = kRange.first + 1;
  EXPECT_EQ(native_links(line(), {}, &running), (NativeLinks{{0, 1}, {1, 0}}));
  // Who speaks is believed.
  EXPECT_TRUE(native_links(line(), {{0, {}}}, &running).empty());
  EXPECT_EQ(native_links(line(), {{0, {1}}}, &running), (NativeLinks{{0, 1}, {1, 0}}));
}

TEST(NativeGroups, ALinkKeepsItsGroupWhateverElseIsLost) {
  const NativeLinks all{{0, 1}, {1, 0}, {1, 2}, {2, 1}};
  EpochPlan whole = plan_of({{0, 1}, {1, 0}, {1, 2}, {2, 1}});
  ASSERT_TRUE(assign_groups(whole, line(), kRange, all).ok());
  for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(whole.links[i].group, kRange.first + i);
  EpochPlan less = plan_of({{1, 2}, {2, 1}});
  ASSERT_TRUE(assign_groups(less, line(), kRange, all).ok());
  EXPECT_EQ(less.links[0].group, whole.links[2].group);
  EXPECT_EQ(less.links[1].group, whole.links[3].group);
}

TEST(NativeGroups, OtherLinksStayUnicast) {
  EpochPlan plan = plan_of({{0, 1}, {1, 0}, {1, 2}, {2, 1}});
  ASSERT_TRUE(assign_groups(plan, line(), kRange, {{1, 2}, {2, 1}}).ok());
  EXPECT_EQ(plan.links[0].group, 0u);
  EXPECT_EQ(plan.links[1].group, 0u);
  EXPECT_NE(plan.links[2].group, 0u);
  EpochPlan without = plan_of({{0, 1}, {1, 0}});
  ASSERT_TRUE(assign_groups(without, line(), {}, {{0, 1}, {1, 0}}).ok());
  EXPECT_EQ(without.links[0].group, 0u) << "there is no range";
}

TEST(NativeGroups, ARangeThatIsTooSmallIsRefused) {
  EpochPlan plan = plan_of({{0, 1}, {1, 0}});
  const Status assigned = assign_groups(plan, line(), {kRange.first, 3}, {{0, 1}});
  ASSERT_FALSE(assigned.ok());
  EXPECT_EQ(assigned.error().message, "native multicast: 3 groups for 4 directed links");
}

}  // namespace
}  // namespace tombolo::control
