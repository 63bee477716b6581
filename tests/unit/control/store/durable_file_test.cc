#include "control/store/durable_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/unit/control/temporary_folder.h"

namespace tombolo::control {
namespace {

constexpr FileKind kKind{"test", "do this about it"};

/// Counts the system calls and lets one fail; after a crash nothing works any more. `write` takes few bytes
/// at a time, as a disk may.
class FailingOperations final : public FileOperations {
 public:
  int open(const char* path, int flags, mode_t mode) override {
    return fails() ? -1 : FileOperations::open(path, flags, mode);
  }
  ssize_t write(int file, const void* data, std::size_t bytes) override {
    return fails() ? -1 : FileOperations::write(file, data, std::min<std::size_t>(bytes, 16));
  }
  int fsync(int file) override { return fails() ? -1 : FileOperations::fsync(file); }
  int close(int file) override {
    // Closed all the same: the test must not run out of files.
    const int closed = FileOperations::close(file);
    return fails() ? -1 : closed;
  }
  int rename(const char* from, const char* to) override {
    return fails() ? -1 : FileOperations::rename(from, to);
  }

  int calls = 0;
  int fail_at = -1;
  bool crash = false;  ///< The call that fails is the last that works.

 private:
  bool fails() {
    const int call = calls++;
    const bool fail = fail_at >= 0 && (call == fail_at || (crash && call > fail_at));
    if (fail) errno = ENOSPC;
    return fail;
  }
};

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

TEST(DurableFile, AbsentThenWrittenThenReplaced) {
  const TemporaryFolder folder;
  DurableFile file(folder.file("a"), kKind);
  ASSERT_TRUE(file.read().ok());
  EXPECT_EQ(*file.read(), std::nullopt);
  ASSERT_TRUE(file.write("one").ok());
  EXPECT_EQ(*file.read(), "one");
  const std::string everything("\0\xff\n", 3);
  ASSERT_TRUE(file.write(everything).ok());
  EXPECT_EQ(*file.read(), everything);
  ASSERT_TRUE(file.write("").ok());
  EXPECT_EQ(*file.read(), "");
  EXPECT_FALSE(std::filesystem::exists(folder.file("a.new")));
}

TEST(DurableFile, AFailureOrCrashAtAnyCallLeavesOldOrNew) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a");
  FailingOperations counting;
  ASSERT_TRUE(DurableFile(path, kKind, &counting).write("the new content").ok());
  // Header, content and trailer in pieces of 16: the calls are open, 4 or so writes, fsync, close, rename and
  // open, fsync, close of the folder.
  ASSERT_GE(counting.calls, 9);
  for (const bool crash : {false, true})
    for (int fail_at = 0; fail_at < counting.calls; ++fail_at) {
      SCOPED_TRACE("call " + std::to_string(fail_at) + (crash ? ", crash" : ""));
      ASSERT_TRUE(DurableFile(path, kKind).write("the old content").ok());
      FailingOperations operations;
      operations.fail_at = fail_at;
      operations.crash = crash;
      const Status written = DurableFile(path, kKind, &operations).write("the new content");
      // Closing the folder cannot undo anything; all else is reported.
      EXPECT_EQ(written.ok(), fail_at == counting.calls - 1);
      if (!written) {
        EXPECT_EQ(written.error().code, ErrorCode::kUnavailable);
        EXPECT_NE(written.error().message.find(path + ": cannot "), std::string::npos);
        EXPECT_NE(written.error().message.find("No space left"), std::string::npos);
      }
      const auto read = DurableFile(path, kKind).read();
      ASSERT_TRUE(read.ok()) << read.error().message;
      const bool renamed = fail_at >= counting.calls - 3;
      EXPECT_EQ(*read, renamed ? "the new content" : "the old content");
      // A left-over of the failure is no obstacle.
      ASSERT_TRUE(DurableFile(path, kKind).write("again").ok());
      EXPECT_EQ(*DurableFile(path, kKind).read(), "again");
    }
}

TEST(DurableFile, ACutAtAnyByteIsNoticed) {
  const TemporaryFolder folder;
  DurableFile file(folder.file("a"), kKind);
  ASSERT_TRUE(file.write("some content").ok());
  const std::string whole = bytes_of(file.path());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    put(file.path(), whole.substr(0, length));
    const auto read = file.read();
    ASSERT_FALSE(read.ok()) << length;
    EXPECT_EQ(read.error().code, ErrorCode::kFailed);
    EXPECT_TRUE(read.error().message.starts_with(file.path() + ": is damaged")) << read.error().message;
    EXPECT_TRUE(read.error().message.ends_with("; do this about it"));
  }
  put(file.path(), whole + "x");
  EXPECT_FALSE(file.read().ok());
  put(file.path(), whole);
  EXPECT_EQ(*file.read(), "some content");
}

TEST(DurableFile, AnyChangedBitIsNoticed) {
  const TemporaryFolder folder;
  DurableFile file(folder.file("a"), kKind);
  ASSERT_TRUE(file.write("some content").ok());
  const std::string whole = bytes_of(file.path());
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string changed = whole;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    put(file.path(), changed);
    EXPECT_FALSE(file.read().ok()) << "bit " << bit;
  }
}

TEST(DurableFile, AnotherKindIsRefused) {
  const TemporaryFolder folder;
  ASSERT_TRUE(DurableFile(folder.file("a"), {"other", ""}).write("x").ok());
  const auto read = DurableFile(folder.file("a"), kKind).read();
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("holds no test state"), std::string::npos);
}

TEST(DurableFile, NamesWhatCannotBeOpened) {
  const TemporaryFolder folder;
  DurableFile file(folder.file("missing/a"), kKind);
  const Status written = file.write("x");
  ASSERT_FALSE(written.ok());
  EXPECT_NE(written.error().message.find("missing/a: cannot create its successor: No such file"),
            std::string::npos);
  std::filesystem::create_directory(folder.file("folder"));
  EXPECT_FALSE(DurableFile(folder.file("folder"), kKind).read().ok());
}

}  // namespace
}  // namespace tombolo::control
