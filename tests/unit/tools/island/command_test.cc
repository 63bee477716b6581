#include "tools/island/command.h"

#include <gtest/gtest.h>

namespace tombolo::tools {
namespace {

using Kind = IslandCommand::Kind;

TEST(IslandCommand, EachOfThem) {
  EXPECT_EQ(parse_island_command("status")->kind, Kind::kStatus);
  EXPECT_EQ(parse_island_command("quit\r")->kind, Kind::kQuit);
  EXPECT_EQ(parse_island_command("start 0")->kind, Kind::kStart);
  EXPECT_EQ(parse_island_command("start 4294967295")->round, 4294967295U);
  EXPECT_EQ(parse_island_command("check 12")->kind, Kind::kCheck);
  EXPECT_EQ(parse_island_command("check 12")->round, 12U);
  const auto with_orders = parse_island_command("check 12 [0,[1,2]] [3,4]");
  ASSERT_TRUE(with_orders.ok());
  ASSERT_EQ(with_orders->orders.size(), 2U);
  EXPECT_EQ(testbed::to_text(with_orders->orders[0]), "[0,[1,2]]");
  EXPECT_EQ(testbed::to_text(with_orders->orders[1]), "[3,4]");
}

TEST(IslandCommand, RefusesTheRest) {
  for (const char* line : {"", " ", "start", "start ", "start -1", "start 4294967296", "start 1 2",
                           "start  1", "check 1x", "check 1 ", "check 1 2", "check 1 [0,1", "check 1 [0,0]",
                           "start 1 [0,1]", "Status", "status 1", "quit now", "\x01\xff"}) {
    const auto command = parse_island_command(line);
    ASSERT_FALSE(command.ok()) << line;
    EXPECT_EQ(command.error().code, ErrorCode::kInvalidInput);
  }
  EXPECT_EQ(parse_island_command("a\x01").error().message,
            "'a?' is none of: status, start ROUND, check ROUND, quit");
  EXPECT_LT(parse_island_command(std::string(100000, 'x')).error().message.size(), 200U);
}

}  // namespace
}  // namespace tombolo::tools
