// EAL starts once per process, so each start happens in a child.
#include "dataplane/port/dpdk/eal.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "dataplane/port/dpdk/mbuf_pool.h"

namespace tombolo::dataplane {
namespace {

/// A child that runs `body`, which returns what to report; what it prints to standard error is kept apart.
class Child {
 public:
  explicit Child(const std::function<std::string()>& body) {
    int report[2], errors[2];
    EXPECT_EQ(::pipe(report) | ::pipe(errors), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(errors[1], STDERR_FILENO);
      const std::string text = body();
      const ssize_t written = ::write(report[1], text.data(), text.size());
      ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    ::close(report[1]);
    ::close(errors[1]);
    report_ = report[0];
    errors_ = errors[0];
  }
  ~Child() {
    ::close(report_);
    ::close(errors_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  std::string report() {
    const std::string text = read_all(report_);
    EXPECT_EQ(read_all(errors_), "");
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    EXPECT_EQ(status, 0);
    return text;
  }

 private:
  static std::string read_all(int descriptor) {
    std::string text;
    char bytes[256];
    for (ssize_t count = 0; (count = ::read(descriptor, bytes, sizeof bytes)) > 0;)
      text.append(bytes, static_cast<std::size_t>(count));
    return text;
  }

  pid_t pid_ = 0;
  int report_ = -1;
  int errors_ = -1;
};

std::string outcome(const Status& status) { return status.ok() ? "started" : status.error().message; }

EalOptions small() {
  EalOptions options;
  options.hugepages = Hugepages::kOff;
  options.memory_mb = 32;
  return options;
}

TEST(Eal, StartsOnceAndSaysHow) {
  Child child([] {
    std::string text = outcome(start_eal(small()));
    text += "|" + eal_summary() + "|" + (is_eal_running() ? "runs" : "does not run");
    text += "|" + outcome(start_eal(small()));
    stop_eal();
    return text + "|" + (is_eal_running() ? "runs" : "does not run");
  });
  EXPECT_EQ(child.report(),
            "started|no huge pages (switched off), 32 MB of ordinary memory; 1 worker on any CPU|runs|"
            "DPDK was started before: a process can do so only once|does not run");
}

TEST(Eal, ProcessesOfOneNameCoexist) {
  const auto body = [] {
    std::string text = outcome(start_eal(small()));
    const auto pool = MbufPool::create({64, kStandardFrameBytes, 64});
    text += pool.ok() && (*pool)->in_use() == 0 ? " with a pool" : " without a pool";
    return text;
  };
  Child first(body), second(body), third(body);
  for (Child* child : {&first, &second, &third}) EXPECT_EQ(child->report(), "started with a pool");
}

TEST(Eal, WorkersRunWhatTheyAreGivenAsOftenAsAsked) {
  Child child([] {
    EalOptions options = small();
    options.workers = 3;
    std::string text = outcome(start_eal(options));
    std::atomic<unsigned> done{0};
    for (unsigned round = 0; round < 4; ++round) {
      for (std::uint32_t i = 0; i < 3; ++i)
        if (!launch_worker(i, [&done, i] { done += 1U << (8 * i); }).ok()) return std::string("not launched");
      join_workers();
    }
    char hex[16];
    std::snprintf(hex, sizeof hex, " %06x", done.load());
    return text + hex + " " + outcome(launch_worker(3, [] {}));
  });
  EXPECT_EQ(child.report(), "started 040404 worker 3: EAL was started with 3");
}

TEST(Eal, AWorkerIsPinnedWhereItIsAskedTo) {
  cpu_set_t mine;
  ASSERT_EQ(::sched_getaffinity(0, sizeof mine, &mine), 0);
  std::uint32_t last = 0;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &mine)) last = cpu;
  Child child([last] {
    EalOptions options = small();
    options.cpus = {last};
    std::string text = outcome(start_eal(options));
    cpu_set_t worker;
    CPU_ZERO(&worker);
    (void)launch_worker(0, [&worker] { ::sched_getaffinity(0, sizeof worker, &worker); });
    join_workers();
    return text + (CPU_COUNT(&worker) == 1 && CPU_ISSET(last, &worker) ? " pinned" : " not pinned");
  });
  EXPECT_EQ(child.report(), "started pinned");
}

#ifndef __SANITIZE_ADDRESS__  // Which itself needs more address space than is allowed here.
TEST(Eal, AFailureIsOneLineWithAReasonAndACommand) {
  Child child([] {
    // EAL loads its drivers, and then finds no room for the memory.
    const rlimit limit{std::uint64_t{1} << 30, std::uint64_t{1} << 30};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) return std::string("setrlimit");
    EalOptions options = small();
    options.memory_mb = 1024;
    return outcome(start_eal(options));
  });
  const std::string text = child.report();
  EXPECT_EQ(text.rfind("DPDK does not start: ", 0), 0U) << text;
  EXPECT_NE(text.find("see free -m"), std::string::npos) << text;
  EXPECT_NE(text.find("DPDK says: "), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}
#endif

TEST(Eal, MoreMemoryThanThereIsIsRefusedBeforeAnythingStarts) {
  Child child([] {
    EalOptions options = small();
    options.memory_mb = 1U << 20;
    const std::string text = outcome(start_eal(options));
    return text + "|" + outcome(start_eal(small()));
  });
  const std::string text = child.report();
  EXPECT_EQ(text.rfind("memory_mb 1048576: ", 0), 0U) << text;
  EXPECT_EQ(text.substr(text.find('|')), "|started");
}

TEST(Eal, ABadOptionIsRefusedBeforeAnythingStarts) {
  Child child([] {
    EalOptions options = small();
    options.workers = 0;
    const std::string text = outcome(start_eal(options));
    return text + "|" + outcome(start_eal(small()));
  });
  EXPECT_EQ(child.report(), "workers 0: must be 1 to 126|started");
}

TEST(Eal, APoolBeforeTheStartIsAnError) {
  EXPECT_EQ(MbufPool::create({64, kStandardFrameBytes, 64}).error().message,
            "a packet pool before DPDK was started");
}

}  // namespace
}  // namespace tombolo::dataplane
