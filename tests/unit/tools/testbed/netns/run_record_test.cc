#include "tools/testbed/netns/run_record.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace tombolo::testbed {
namespace {

namespace fs = std::filesystem;

TEST(RunRecord, AProcessIsKnownByNumberAndStart) {
  const ProcessMark self = mark_of(::getpid());
  EXPECT_EQ(self.pid, ::getpid());
  EXPECT_GT(self.start_ticks, 0U);
  EXPECT_EQ(mark_of(::getpid()), self);
  EXPECT_EQ(mark_of(0x7ffffffe).start_ticks, 0U);
}

TEST(RunRecord, WhatIsWrittenIsRead) {
  RecordedRun run;
  run.owner = {1234, 99};
  run.namespaces = {"tbl-1234-NYC", "tbl-1234-A_b.c-island"};
  run.processes = {{1235, 100}, {1236, 101}};
  const auto read = parse_recorded_run(write_recorded_run(run));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->owner, run.owner);
  EXPECT_EQ(read->namespaces, run.namespaces);
  EXPECT_EQ(read->processes, run.processes);
}

TEST(RunRecord, ADamagedFileRemovesNothingOfOthers) {
  const char* const wrong[] = {
      "",
      "{}",
      R"({"owner":{"pid":1,"start_ticks":5},"namespaces":[],"processes":[]})",
      R"({"owner":{"pid":-7,"start_ticks":5},"namespaces":[],"processes":[]})",
      R"({"owner":{"pid":99999999999,"start_ticks":5},"namespaces":[],"processes":[]})",
      R"({"owner":{"pid":7,"start_ticks":5},"namespaces":["default"],"processes":[]})",
      R"({"owner":{"pid":7,"start_ticks":5},"namespaces":["tbl-1-../x"],"processes":[]})",
      R"({"owner":{"pid":7,"start_ticks":5},"namespaces":["tbl-1 x"],"processes":[]})",
      R"({"owner":{"pid":7,"start_ticks":5},"namespaces":[],"processes":[{"pid":0,"start_ticks":1}]})",
      R"({"owner":{"pid":7,"start_ticks":5},"namespaces":[],"processes":[7]})",
      R"({"owner":{"pid":7,"start_ticks":5},"namespaces":{},"processes":[]})",
  };
  for (const char* text : wrong) EXPECT_FALSE(parse_recorded_run(text).ok()) << text;
}

TEST(RunRecord, TheFileIsThereAsLongAsTheRun) {
  const std::string folder =
      (fs::temp_directory_path() / ("tombolo-record-" + std::to_string(::getpid()))).string();
  const std::string path = folder + "/testbed-" + std::to_string(::getpid()) + ".json";
  {
    auto record = RunRecord::create(folder);
    ASSERT_TRUE(record.ok()) << record.error().message;
    EXPECT_EQ((*record)->id(), std::to_string(::getpid()));
    ASSERT_TRUE((*record)->add_namespaces({"tbl-1-a"}).ok());
    ASSERT_TRUE((*record)->add_process(::getpid()).ok());
    std::ifstream file(path, std::ios::binary);
    const auto run = parse_recorded_run(std::string(std::istreambuf_iterator<char>(file), {}));
    ASSERT_TRUE(run.ok()) << run.error().message;
    EXPECT_EQ(run->owner, mark_of(::getpid()));
    EXPECT_EQ(run->namespaces, std::vector<std::string>{"tbl-1-a"});
    ASSERT_EQ(run->processes.size(), 1U);
    EXPECT_TRUE(clean_up_dead_runs(folder).empty());  // This run is not dead.
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tombolo::testbed
