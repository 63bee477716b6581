// lint-file: set-up, runs before the first packet
#include "dataplane/port/dpdk/eal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "dataplane/port/dpdk/eal_arguments.h"
#include "dataplane/port/dpdk/eal_log.h"

namespace tombolo::dataplane {
namespace {

/// EAL is one per process, and so is this. Used by the main thread only; a worker reads its own body.
struct EalState {
  bool tried = false;
  bool running = false;
  std::uint32_t workers = 0;
  std::string summary;
  std::array<std::function<void()>, kMaxWorkers> bodies;
};
EalState& state() {
  static EalState instance;
  return instance;
}

/// While it lives, what anybody writes to standard error goes to memory: EAL prints its last words there,
/// whatever its log does. What was written is given back unless EAL failed.
class QuietStandardError {
 public:
  QuietStandardError() {
    std::fflush(stderr);
    memory_ = ::memfd_create("stderr", MFD_CLOEXEC);
    saved_ = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (memory_ >= 0 && saved_ >= 0) ::dup2(memory_, STDERR_FILENO);
  }
  ~QuietStandardError() {
    if (saved_ >= 0) ::dup2(saved_, STDERR_FILENO);
    if (give_back_ && memory_ >= 0) copy_out();
    if (memory_ >= 0) ::close(memory_);
    if (saved_ >= 0) ::close(saved_);
  }
  QuietStandardError(const QuietStandardError&) = delete;
  QuietStandardError& operator=(const QuietStandardError&) = delete;
  void swallow() { give_back_ = false; }

 private:
  void copy_out() const {
    std::array<char, 4096> bytes;
    off_t offset = 0;
    for (ssize_t count = 0; (count = ::pread(memory_, bytes.data(), bytes.size(), offset)) > 0;
         offset += count)
      if (::write(STDERR_FILENO, bytes.data(), static_cast<std::size_t>(count)) < 0) return;
  }

  int memory_ = -1;
  int saved_ = -1;
  bool give_back_ = true;
};

/// Two that start at a time would both count on the same huge pages, and the later would die: there is no
/// second try. While this lives, others that would use huge pages wait. Without any it holds nothing.
class HugepageTurn {
 public:
  explicit HugepageTurn(const EalOptions& options) {
    if (options.hugepages == Hugepages::kOff || read_machine("").free_hugepage_bytes == 0) return;
    folder_ = ::open("/sys/kernel/mm/hugepages", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder_ >= 0) ::flock(folder_, LOCK_EX);
  }
  ~HugepageTurn() {
    if (folder_ >= 0) ::close(folder_);
  }
  HugepageTurn(const HugepageTurn&) = delete;
  HugepageTurn& operator=(const HugepageTurn&) = delete;

 private:
  int folder_ = -1;
};

Error start_error(int code, const EalPlan& plan, const EalOptions& options) {
  const std::string reason = take_dpdk_log();
  std::string advice;
  if (code == EACCES || code == EPERM)
    advice = "no permission: run as root, or see REAL_NIC.md for the capabilities that it takes";
  else if (plan.hugepages)
    advice =
        "start without huge pages (hugepages: off), or reserve more: echo 1024 > /proc/sys/vm/nr_hugepages";
  else
    advice = fmt::format(
        "is there enough memory for {} MB (see free -m), and may this user write to /var/run or "
        "$XDG_RUNTIME_DIR?",
        options.memory_mb);
  return {ErrorCode::kUnavailable,
          fmt::format("DPDK does not start: {}; {}{}", rte_strerror(code), advice, reason)};
}

int run_body(void* body) {
  (*static_cast<std::function<void()>*>(body))();
  return 0;
}

}  // namespace

Status start_eal(const EalOptions& options) {
  EalState& eal = state();
  if (eal.tried)
    return Error{ErrorCode::kUnavailable, "DPDK was started before: a process can do so only once"};
  const HugepageTurn turn(options);
  auto plan = plan_eal(options, read_machine(""));
  if (!plan.ok()) return std::move(plan).error();
  eal.tried = true;
  capture_dpdk_log();

  // rte_eal_init() may reorder its array, but changes no character.
  std::vector<char*> arguments;
  for (std::string& argument : plan->arguments) arguments.push_back(argument.data());
  int result = 0;
  {
    QuietStandardError quiet;
    result = rte_eal_init(static_cast<int>(arguments.size()), arguments.data());
    if (result < 0) quiet.swallow();
  }
  if (result < 0) return start_error(rte_errno, *plan, options);
  take_dpdk_log();
  eal.running = true;
  eal.workers = options.workers;
  eal.summary = plan->summary;
  return ok_status();
}

const std::string& eal_summary() { return state().summary; }

bool is_eal_running() { return state().running; }

void stop_eal() {
  if (!std::exchange(state().running, false)) return;
  join_workers();
  const std::string folder = rte_eal_get_runtime_dir();
  rte_eal_cleanup();
  // Empty unless another process uses it; then it stays.
  ::rmdir(folder.c_str());
}

Status launch_worker(std::uint32_t index, std::function<void()> body) {
  EalState& eal = state();
  if (!eal.running || index >= eal.workers)
    return invalid_input(fmt::format("worker {}: EAL was started with {}", index, eal.workers));
  const unsigned lcore = index + 1;
  if (rte_eal_get_lcore_state(lcore) != WAIT)
    return Error{ErrorCode::kUnavailable, fmt::format("worker {} still runs", index)};
  eal.bodies[index] = std::move(body);
  if (rte_eal_remote_launch(run_body, &eal.bodies[index], lcore) != 0)
    return Error{ErrorCode::kUnavailable, fmt::format("worker {} does not start", index)};
  return ok_status();
}

void join_workers() { rte_eal_mp_wait_lcore(); }

}  // namespace tombolo::dataplane
