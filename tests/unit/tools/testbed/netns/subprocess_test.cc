#include "tools/testbed/netns/subprocess.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace tombolo::testbed {
namespace {

TEST(Subprocess, GivesTheInputWhole) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("tombolo-sub-" + std::to_string(::getpid()))).string();
  const std::string input(1 << 20, 'x');  // More than a pipe holds.
  ASSERT_TRUE(run_with_input({"tee", path}, input).ok());
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), input);
  std::filesystem::remove(path);
}

TEST(Subprocess, AFailureHasTheCommandAndItsLastWords) {
  const Status failed =
      run_with_input({"sh", "-c", "echo first >&2; echo why >&2; echo where >&2; exit 1"}, "");
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message,
            "`sh -c echo first >&2; echo why >&2; echo where >&2; exit 1`: why; where");
  EXPECT_FALSE(run_with_input({"/nowhere/at/all"}, "x").ok());
  // It ends without reading; that is its own affair.
  ::signal(SIGPIPE, SIG_IGN);
  EXPECT_TRUE(run_with_input({"true"}, std::string(1 << 20, 'x')).ok());
}

}  // namespace
}  // namespace tombolo::testbed
