#include "tools/testbed/netns/island_group.h"

#include <gtest/gtest.h>

namespace tombolo::testbed {
namespace {

constexpr Nanoseconds kLong = 60 * kSecond;

/// A shell that answers each line with an event, as an island would.
std::unique_ptr<Process> answering_shell(const std::string& script) {
  ProcessOptions options;
  options.name = "shell";
  options.argument = {"/bin/sh", "-c", script};
  options.pipes = true;
  auto process = Process::spawn(options);
  EXPECT_TRUE(process.ok()) << process.error().message;
  return std::move(process).value();
}

TEST(IslandGroup, CommandsReachAllAndEventsComeBack) {
  IslandGroup group("");
  for (int i = 0; i < 3; ++i)
    group.add(answering_shell(R"(while read -r word n; do echo "{\"event\":\"$word\",\"round\":$n}"; done)"));
  group.tell_all("start 4");
  group.tell(1, "check 5");
  std::vector<std::string> heard(3);
  std::size_t count = 0;
  const Status status = group.wait(
      [&](std::size_t rank, const IslandEvent& event) {
        heard[rank] += event.event + std::to_string(event.round) + " ";
        ++count;
      },
      [&] { return count == 4; }, [] { return ok_status(); }, kLong);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(heard, (std::vector<std::string>{"start4 ", "start4 check5 ", "start4 "}));
}

TEST(IslandGroup, AnIslandThatEndsIsAnErrorOnce) {
  IslandGroup group("");
  group.add(answering_shell("exit 3"));
  const auto nothing = [](std::size_t, const IslandEvent&) {};
  const auto never = [] { return false; };
  const auto fine = [] { return ok_status(); };
  const Status status = group.wait(nothing, never, fine, kLong);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kFailed);
  EXPECT_EQ(status.error().message.rfind("shell ", 0), 0U) << status.error().message;
  EXPECT_EQ(group.wait(nothing, never, fine, kMillisecond).error().code, ErrorCode::kDeadline);
}

TEST(IslandGroup, EndsWithTheErrorOfEachTurnAndOfALineThatIsNone) {
  IslandGroup group("");
  group.add(answering_shell("echo hello; cat"));
  const auto nothing = [](std::size_t, const IslandEvent&) {};
  const auto never = [] { return false; };
  const Status stopped = group.wait(
      nothing, never,
      []() -> Status {
        return Error{ErrorCode::kFailed, "enough"};
      },
      kLong);
  EXPECT_EQ(stopped.error().message, "enough");
  const Status unread = group.wait(
      nothing, never, [] { return ok_status(); }, kLong);
  EXPECT_EQ(unread.error().message, "shell: an island's line is not a JSON object");
}

}  // namespace
}  // namespace tombolo::testbed
