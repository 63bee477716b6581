#include "multicast/forwarding.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tombolo::multicast {
namespace {

constexpr std::size_t kLinks = 5;
constexpr std::size_t kIslands = 2;

BranchSpec spec(std::uint16_t tree, std::uint8_t parent, std::uint64_t children, std::uint64_t deliver) {
  return {tree, {.parent_link = parent, .rank = 7, .entry = 3, .child_links = children, .deliver = deliver}};
}

TEST(ForwardingTable, FindsEachTreeAndNoOther) {
  const std::vector<BranchSpec> specs = {spec(9, 4, 0b00011, 0b10), spec(2, 0, 0, 0b01),
                                         spec(65534, 1, 0b10000, 0)};
  const auto table = ForwardingTable::build(specs, kLinks, kIslands);
  ASSERT_TRUE(table.ok()) << table.error().message;
  for (const BranchSpec& each : specs) {
    const Branch* branch = table->find(each.tree);
    ASSERT_NE(branch, nullptr) << each.tree;
    EXPECT_TRUE(branch->valid);
    EXPECT_EQ(branch->parent_link, each.branch.parent_link);
    EXPECT_EQ(branch->rank, 7);
    EXPECT_EQ(branch->entry, 3U);
    EXPECT_EQ(branch->child_links, each.branch.child_links);
    EXPECT_EQ(branch->deliver, each.branch.deliver);
  }
  std::size_t found = 0;
  for (std::uint32_t tree = 0; tree <= 0xffff; ++tree) {
    found += table->find(static_cast<std::uint16_t>(tree)) != nullptr ? 1 : 0;
  }
  EXPECT_EQ(found, specs.size());
}

TEST(ForwardingTable, EmptyKnowsNoTree) {
  EXPECT_EQ(ForwardingTable().find(0), nullptr);
  EXPECT_EQ(ForwardingTable().find(0xffff), nullptr);
}

TEST(ForwardingTable, AllSixtyFourLinksAndIslands) {
  const std::vector<BranchSpec> specs = {spec(0, 63, ~std::uint64_t{0} >> 1, ~std::uint64_t{0})};
  EXPECT_TRUE(ForwardingTable::build(specs, 64, 64).ok());
}

TEST(ForwardingTable, RefusesWhatCannotBe) {
  struct Row {
    const char* in_message;
    std::vector<BranchSpec> specs;
    std::size_t links = kLinks;
    std::size_t islands = kIslands;
  };
  const Row rows[] = {
      {"tree 4: given twice", {spec(4, 0, 2, 0), spec(5, 0, 2, 0), spec(4, 1, 1, 0)}},
      {"tree 65535: the number is reserved", {spec(0xffff, 0, 2, 0)}},
      {"tree 1: parent link 5", {spec(1, 5, 2, 0)}},
      {"tree 1: a child link outside", {spec(1, 0, 0b100000, 0)}},
      {"tree 1: delivery to a fold point outside", {spec(1, 0, 0, 0b100)}},
      {"tree 1: a copy would go back over parent link 3", {spec(1, 3, 0b01010, 0)}},
      {"tree 1: neither", {spec(1, 3, 0, 0)}},
      {"at most 64 links", {}, 65},
      {"at most 64 fold points", {}, 1, 65},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.in_message);
    const auto table = ForwardingTable::build(row.specs, row.links, row.islands);
    ASSERT_FALSE(table.ok());
    EXPECT_EQ(table.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(table.error().message.find(row.in_message), std::string::npos) << table.error().message;
  }
}

}  // namespace
}  // namespace tombolo::multicast
