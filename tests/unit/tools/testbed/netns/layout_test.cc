#include "tools/testbed/netns/layout.h"

#include <algorithm>
#include <map>
#include <set>

#include "tests/unit/tools/testbed/netns/test_layout.h"
#include "tools/testbed/netns/addresses.h"

namespace tombolo::testbed {
namespace {

TEST(Layout, NamesAreTheRunsOwnAndDistinct) {
  const Layout layout = line_layout("/runs/r");
  EXPECT_EQ(layout.edge_namespace(0), "tbl-77-A");
  EXPECT_EQ(layout.island_namespace(1), "tbl-77-Y-island");
  EXPECT_EQ(layout.edge_file(2), "/runs/r/edges/C.yaml");
  EXPECT_EQ(layout.edge_socket(2), "/run/tombolo/77/C.sock");
  const NamespacePlan plan = namespace_plan(layout);
  std::set<std::string> names(plan.namespaces.begin(), plan.namespaces.end());
  EXPECT_EQ(names.size(), 1U + 3U + 2U);
  for (const std::string& name : names) EXPECT_EQ(name.rfind("tbl-77-", 0), 0U) << name;
}

TEST(Layout, AVethPerLinkPerAccessAndPerNodeForManagement) {
  const NamespacePlan plan = namespace_plan(line_layout("/runs/r"));
  ASSERT_EQ(plan.veths.size(), 2U + 2U + 5U);
  std::map<std::string, int> interfaces;  // By namespace.
  for (const Veth& veth : plan.veths)
    for (const VethEnd* const end : {&veth.a, &veth.b}) {
      EXPECT_LE(end->interface.size(), 15U);
      ++interfaces[end->network_namespace];
    }
  EXPECT_EQ(interfaces["tbl-77-A"], 3);         // A link, an access link, management.
  EXPECT_EQ(interfaces["tbl-77-B"], 3);         // Two links, management.
  EXPECT_EQ(interfaces["tbl-77-X-island"], 2);  // Its edge, management.
  EXPECT_EQ(interfaces["tbl-77-ctl-net"], 5);
}

TEST(Layout, AnEdgesEndHasNoAddressAndAnIslandsSendsPlainPackets) {
  for (const Veth& veth : namespace_plan(line_layout("/runs/r")).veths) {
    if (veth.a.interface == kManagementInterface) continue;
    EXPECT_EQ(veth.mtu, 9018U);
    EXPECT_EQ(veth.a.ipv4, 0U);
    const bool access = veth.b.interface == kIslandInterface;
    EXPECT_EQ(veth.b.ipv4 != 0, access);
    EXPECT_EQ(veth.b.plain_packets, access);
  }
  for (const Veth& veth : namespace_plan(line_layout("/runs/r", false)).veths) EXPECT_EQ(veth.mtu, 1500U);
}

TEST(Layout, NetemGetsEachDirectionItsOwn) {
  std::map<std::string, NetemRule> rules;
  for (const NetemRule& rule : netem_rules(line_layout("/runs/r")))
    rules[rule.network_namespace + "/" + rule.interface] = rule;
  ASSERT_EQ(rules.size(), 4U + 4U);
  EXPECT_DOUBLE_EQ(rules["tbl-77-A/link0"].delay_ms, 5);
  EXPECT_EQ(rules["tbl-77-A/link0"].rate_bps, 100'000'000U);
  EXPECT_DOUBLE_EQ(rules["tbl-77-C/link1"].delay_ms, 5);
  EXPECT_EQ(rules["tbl-77-C/link1"].rate_bps, 20'000'000U);
  EXPECT_DOUBLE_EQ(rules["tbl-77-B/link1"].delay_ms, 7);
  EXPECT_EQ(rules["tbl-77-B/link1"].rate_bps, 10'000'000U);
  EXPECT_EQ(rules["tbl-77-A/access0"].rate_bps, 60'000'000U);  // To the island: its ingress.
  EXPECT_EQ(rules["tbl-77-X-island/edge"].rate_bps, 40'000'000U);
}

}  // namespace
}  // namespace tombolo::testbed
