#include "dataplane/worker/runner.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <string_view>

namespace tombolo::dataplane {
namespace {

/// The kernel may round a sleep up by the thread's slack, 50 microseconds unless told otherwise.
constexpr unsigned long kTimerSlackNs = 1000;

}  // namespace

void Runner::run() {
  prctl(PR_SET_TIMERSLACK, kTimerSlackNs);
  thread_id_.store(gettid(), std::memory_order_relaxed);
  std::uint32_t idle_polls = 0;
  Nanoseconds due_ns = 0;
  Nanoseconds now_ns = clock_.now_ns();
  while (!stop_.load(std::memory_order_relaxed)) {
    const Worker::Turn turn = worker_.turn(now_ns);
    const Nanoseconds after_ns = clock_.now_ns();
    const bool busy = turn.received > 0 || due_ns <= now_ns;
    (busy ? times_.busy_ns : times_.idle_ns).add(after_ns - now_ns);
    idle_polls = busy ? 0 : idle_polls + 1;
    now_ns = after_ns;
    due_ns = turn.next_ns;
    if (idle_polls >= options_.idle_polls && options_.idle_sleep_ns > 0) now_ns = rest(now_ns, due_ns);
  }
  thread_id_.store(0, std::memory_order_relaxed);
}

// lint: an idle worker gives its core up, as the options ask
Nanoseconds Runner::rest(Nanoseconds now_ns, Nanoseconds due_ns) {
  if (due_ns <= now_ns) return now_ns;
  const Nanoseconds length_ns = std::min(options_.idle_sleep_ns, due_ns - now_ns);
  const timespec length{static_cast<time_t>(length_ns / kSecond), static_cast<long>(length_ns % kSecond)};
  ::nanosleep(&length, nullptr);
  const Nanoseconds after_ns = clock_.now_ns();
  times_.asleep_ns.add(after_ns - now_ns);
  return after_ns;
}

// lint: control's thread, not a worker's
Nanoseconds Runner::stalled_ns() const {
  const int thread = thread_id_.load(std::memory_order_relaxed);
  if (thread == 0) return 0;
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/schedstat", thread);
  const int file = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<char, 128> text{};
  const ssize_t bytes = ::read(file, text.data(), text.size());
  ::close(file);
  if (bytes <= 0) return 0;
  // Nanoseconds on a core, nanoseconds in a run queue, number of turns on a core.
  const std::string_view line(text.data(), static_cast<std::size_t>(bytes));
  const std::size_t space = line.find(' ');
  Nanoseconds waited_ns = 0;
  if (space != std::string_view::npos)
    std::from_chars(line.data() + space + 1, line.data() + line.size(), waited_ns);
  return waited_ns;
}

}  // namespace tombolo::dataplane
