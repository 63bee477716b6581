#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/counter.h"
#include "dataplane/worker/worker.h"

namespace tombolo::dataplane {

struct RunnerOptions {
  /// How long an idle worker sleeps at most; 0: never. A core of its own needs no sleep; workers that share
  /// cores must give them up.
  Nanoseconds idle_sleep_ns = 50 * kMicrosecond;
  /// Polls in a row that find nothing before the worker sleeps: few, because with four ports and as many
  /// lanes sixty of them take as long as the sleep, and leave nothing to those that share the core.
  std::uint32_t idle_polls = 4;
};

/// Where a worker's time went, because a core that polls looks busy to everybody else. Written by the worker.
struct WorkerTimes {
  Counter busy_ns;    ///< Turns that received something or had something due.
  Counter idle_ns;    ///< Turns that found nothing to do.
  Counter asleep_ns;  ///< Between them.
};

/// Turns one worker on the thread that calls run(), until stop(). The only place of the dataplane that reads
/// a clock or sleeps.
class Runner {
 public:
  /// Worker and clock outlive the runner.
  Runner(Worker& worker, const Clock& clock, const RunnerOptions& options)
      : worker_(worker), clock_(clock), options_(options) {}

  void run();
  /// From any thread; run() returns after the turn under way.
  void stop() { stop_.store(true, std::memory_order_relaxed); }

  const WorkerTimes& times() const { return times_; }

  /// How long the thread wanted to run and had no core, as the kernel counts it; 0 where it does not, or
  /// before run(). For control: it reads a file.
  Nanoseconds stalled_ns() const;

 private:
  /// Sleeps until something is due, but no longer than the options say; returns the time then.
  Nanoseconds rest(Nanoseconds now_ns, Nanoseconds due_ns);

  Worker& worker_;
  const Clock& clock_;
  const RunnerOptions options_;
  WorkerTimes times_;
  std::atomic<bool> stop_{false};
  std::atomic<int> thread_id_{0};  ///< The kernel's number of the thread in run(); 0 outside of it.
};

}  // namespace tombolo::dataplane
