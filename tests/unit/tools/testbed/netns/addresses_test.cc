#include "tools/testbed/netns/addresses.h"

#include <gtest/gtest.h>

#include <set>

namespace tombolo::testbed {
namespace {

TEST(Addresses, ALinkHasASubnetOfFour) {
  EXPECT_EQ(ipv4_text(link_addresses(0).first), "10.1.0.1");
  EXPECT_EQ(ipv4_text(link_addresses(0).second), "10.1.0.2");
  // Link i: 10.1.(i / 64).((i % 64) * 4) and the next.
  EXPECT_EQ(ipv4_text(link_addresses(63).second), "10.1.0.254");
  EXPECT_EQ(ipv4_text(link_addresses(64).first), "10.1.1.1");
  EXPECT_EQ(ipv4_text(access_addresses(0).second), "10.2.0.2");
  EXPECT_EQ(ipv4_text(access_addresses(130).first), "10.2.2.9");
}

TEST(Addresses, ManagementIsUniqueAndLooksLikeAHost) {
  EXPECT_EQ(ipv4_text(management_address(0)), "10.99.0.1");
  std::set<std::uint32_t> seen;
  for (std::size_t node = 0; node < 2100; ++node) {
    const std::uint32_t address = management_address(node);
    EXPECT_TRUE(seen.insert(address).second) << node;
    EXPECT_EQ(address >> 16, 0x0a63U) << node;
    EXPECT_NE(address & 255U, 0U) << node;
    EXPECT_NE(address & 255U, 255U) << node;
  }
}

}  // namespace
}  // namespace tombolo::testbed
