#include "dataplane/worker/runner.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "dataplane/edge/edge.h"
#include "dataplane/port/inproc_port.h"
#include "protocol/memory_pool.h"

namespace tombolo::dataplane {
namespace {

/// An edge with one neighbour that never answers.
class RunnerTest : public testing::Test {
 protected:
  RunnerTest() {
    pool_ = std::move(MemoryPool::create(256, PoolSharing::kShared)).value();
    far_pool_ = std::move(MemoryPool::create(256, PoolSharing::kShared)).value();
    const Address here{0x0a000001, 4700};
    const Address there{0x0a000002, 4700};
    auto ports = network_.connect({here, pool_.get(), 1}, {there, far_pool_.get(), 1}, {}, {});
    EXPECT_TRUE(ports.ok());
    port_ = ports->first;
    far_port_ = ports->second;
    EdgeConfig config;
    config.site = "A";
    config.session = 1;
    config.lane_count = 1;
    config.jobs[0].links.push_back({there});
    Port* const all[] = {port_};
    edge_ = std::move(Edge::create(config, all, *pool_)).value();
  }

  /// Runs the worker on a thread until `done`, or 20 s have passed.
  template <typename Done>
  bool run_until(Runner& runner, Done done) {
    std::thread thread([&runner] { runner.run(); });
    const Nanoseconds end_ns = clock_.now_ns() + 20 * kSecond;
    bool held = false;
    while (!(held = done()) && clock_.now_ns() < end_ns) std::this_thread::yield();
    runner.stop();
    thread.join();
    return held;
  }

  MonotonicClock clock_;
  std::unique_ptr<MemoryPool> pool_;
  std::unique_ptr<MemoryPool> far_pool_;
  InprocNetwork network_{1};
  InprocPort* port_ = nullptr;
  InprocPort* far_port_ = nullptr;
  std::unique_ptr<Edge> edge_;
};

TEST_F(RunnerTest, AnIdleWorkerSleepsAndStillSaysHello) {
  Runner runner(edge_->worker(0), clock_, {.idle_sleep_ns = 20 * kMicrosecond, .idle_polls = 4});
  EXPECT_TRUE(run_until(runner, [&] {
    return runner.times().asleep_ns.get() > 0 && runner.times().idle_ns.get() > 0 &&
           port_->tx().link_counters().tx_packets.get() > 0;
  }));
  EXPECT_GT(runner.times().busy_ns.get(), 0U) << "a HELLO was due";
}

TEST_F(RunnerTest, WithACoreOfItsOwnItNeverSleeps) {
  Runner runner(edge_->worker(0), clock_, {.idle_sleep_ns = 0, .idle_polls = 4});
  EXPECT_TRUE(run_until(runner, [&] { return edge_->worker(0).counters().idle_turns.get() > 10'000; }));
  EXPECT_EQ(runner.times().asleep_ns.get(), 0U);
}

TEST_F(RunnerTest, ItsTimesAddUpToTheTimeItRan) {
  Runner runner(edge_->worker(0), clock_, {.idle_sleep_ns = 20 * kMicrosecond, .idle_polls = 4});
  const Nanoseconds began_ns = clock_.now_ns();
  EXPECT_TRUE(run_until(runner, [&] { return edge_->worker(0).counters().turns.get() > 2'000; }));
  const Nanoseconds lasted_ns = clock_.now_ns() - began_ns;
  const WorkerTimes& times = runner.times();
  EXPECT_LE(times.busy_ns.get() + times.idle_ns.get() + times.asleep_ns.get(), lasted_ns);
  EXPECT_EQ(runner.stalled_ns(), 0U) << "it does not run any more";
}

}  // namespace
}  // namespace tombolo::dataplane
