#include "control/store/state_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>

#include "tests/unit/control/temporary_folder.h"

namespace tombolo::control {
namespace {

TEST(StateFolder, IsMadeAndLocked) {
  const TemporaryFolder temporary;
  const std::string path = temporary.file("state");
  {
    auto first = StateFolder::open(path);
    ASSERT_TRUE(first.ok()) << first.error().message;
    EXPECT_EQ(first->file("x"), path + "/x");
    const auto second = StateFolder::open(path);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
    EXPECT_NE(second.error().message.find("process " + std::to_string(::getpid()) + " uses it"),
              std::string::npos)
        << second.error().message;
    const StateFolder moved = std::move(first).value();
    EXPECT_FALSE(StateFolder::open(path).ok()) << "a move keeps the lock";
  }
  EXPECT_TRUE(StateFolder::open(path).ok()) << "free again";
}

TEST(StateFolder, AnotherProcessIsRefusedAndAKilledOneLeavesNoLock) {
  const TemporaryFolder temporary;
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto held = StateFolder::open(temporary.path());
    const char said = held.ok() ? 'y' : 'n';
    if (::write(ready[1], &said, 1) == 1) ::pause();
    ::_exit(1);
  }
  char said = 0;
  ASSERT_EQ(::read(ready[0], &said, 1), 1);
  ASSERT_EQ(said, 'y');
  const auto refused = StateFolder::open(temporary.path());
  EXPECT_FALSE(refused.ok());
  if (!refused) {
    EXPECT_NE(refused.error().message.find("process " + std::to_string(child)), std::string::npos);
  }
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(StateFolder::open(temporary.path()).ok());
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(StateFolder, NamesWhatItCannotMake) {
  const TemporaryFolder temporary;
  const auto deep = StateFolder::open(temporary.file("a/b"));
  ASSERT_FALSE(deep.ok());
  EXPECT_NE(deep.error().message.find("state folder " + temporary.file("a/b")), std::string::npos);
  EXPECT_FALSE(StateFolder::open("").ok());
}

}  // namespace
}  // namespace tombolo::control
