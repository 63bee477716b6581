#include "tools/testbed/netns/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "tools/testbed/netns/run_record.h"

namespace tombolo::testbed {
namespace {

std::unique_ptr<Process> shell(const std::string& script, bool pipes = false, const std::string& log = "") {
  ProcessOptions options;
  options.name = "shell";
  options.argument = {"/bin/sh", "-c", script};
  options.pipes = pipes;
  options.log_path = log;
  auto process = Process::spawn(options);
  EXPECT_TRUE(process.ok()) << process.error().message;
  return std::move(process).value();
}

void wait_for_end(Process& process) {
  while (process.running()) ::usleep(1000);
}

std::string read_line(int fd) {
  std::string line;
  for (char c = 0; c != '\n';) {
    if (::read(fd, &c, 1) == 1) {
      line += c;
    } else {
      ::usleep(1000);
    }
  }
  return line;
}

TEST(Process, SaysHowItEnded) {
  const auto fails = shell("exit 7");
  wait_for_end(*fails);
  EXPECT_EQ(fails->exit_code(), 7);
  EXPECT_EQ(fails->ending(), "ended with exit code 7");
  const auto killed = shell("exec sleep 600");
  EXPECT_TRUE(killed->running());
  EXPECT_EQ(killed->ending(), "runs");
  killed->signal(SIGKILL);
  wait_for_end(*killed);
  EXPECT_FALSE(killed->exit_code().has_value());
  EXPECT_EQ(killed->ending(), "was ended by signal 9 (Killed)");
}

TEST(Process, PipesAreItsInputAndOutputAndTheLogItsErrors) {
  const std::string log =
      (std::filesystem::temp_directory_path() / ("tombolo-log-" + std::to_string(::getpid()))).string();
  const auto process = shell("read -r x; echo got $x; for i in 1 2 3; do echo line $i >&2; done", true, log);
  ASSERT_EQ(::write(process->input(), "it\n", 3), 3);
  EXPECT_EQ(read_line(process->output()), "got it\n");
  wait_for_end(*process);
  EXPECT_EQ(last_lines(log, 2), "  line 2\n  line 3\n");
  EXPECT_EQ(last_lines("/nowhere", 2), "");
  std::filesystem::remove(log);
}

TEST(Process, WhatCannotBecomeAProgramIsAnError) {
  ProcessOptions options;
  options.name = "nothing";
  options.argument = {"/nowhere/program"};
  const auto none = Process::spawn(options);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message,
            "nothing: cannot start /nowhere/program: the program: No such file or directory");
  options.argument = {"/bin/true"};
  options.network_namespace = "tbl-none";
  const auto nowhere = Process::spawn(options);
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().message,
            "nothing: cannot start /bin/true: namespace tbl-none: No such file or directory");
}

TEST(Process, EndsTogetherAndByForceIfNeedBe) {
  const auto obedient = shell("read -r x", true);
  // `ready` is said once the signal is ignored.
  const auto stubborn = shell("trap '' TERM; echo ready; while true; do sleep 1; done", true);
  EXPECT_EQ(read_line(stubborn->output()), "ready\n");
  end_all({obedient.get(), stubborn.get()}, 100 * kMillisecond);
  EXPECT_FALSE(obedient->running());
  EXPECT_EQ(stubborn->ending(), "was ended by signal 9 (Killed)");
}

TEST(Process, DiesWithItsMaker) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t maker = ::fork();
  ASSERT_GE(maker, 0);
  if (maker == 0) {
    ProcessOptions options;
    options.name = "child";
    options.argument = {"/bin/sleep", "600"};
    const auto child = Process::spawn(options);
    const pid_t pid = child ? (*child)->pid() : -1;
    [[maybe_unused]] const auto written = ::write(ends[1], &pid, sizeof(pid));
    ::kill(::getpid(), SIGKILL);
  }
  pid_t child = 0;
  ASSERT_EQ(::read(ends[0], &child, sizeof(child)), ssize_t{sizeof(child)});
  ASSERT_GT(child, 0);
  const ProcessMark mark = mark_of(child);
  ::waitpid(maker, nullptr, 0);
  // Whoever inherits it may be slow to take note of its end: then it is a zombie, whose state is Z.
  const auto lives = [&] {
    std::ifstream stat("/proc/" + std::to_string(child) + "/stat");
    std::string text;
    std::getline(stat, text);
    return mark_of(child) == mark && text.find(") Z") == std::string::npos;
  };
  while (mark.start_ticks != 0 && lives()) ::usleep(1000);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace tombolo::testbed
