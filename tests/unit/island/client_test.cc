#include "island/client.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "tests/unit/island/scripted_edge.h"

namespace tombolo::island {
namespace {

constexpr auto kPatience = std::chrono::seconds(5);

/// A port on which, while it is busy, a packet arrives in every turn, so that the client never sleeps.
class BusyPort final : public Port {
 public:
  explicit BusyPort(BufferPool& pool) : inner(pool), pool_(pool) {}

  std::size_t receive(std::uint32_t queue, std::span<RxPacket> out, Nanoseconds now_ns) override {
    const std::size_t count = inner.receive(queue, out, now_ns);
    if (count > 0 || !busy.load()) return count;
    BufferRef buffer = BufferRef::adopt(pool_.allocate());
    std::memset(buffer.data(), 0, kHeaderBytes);
    out[0] = {ScriptedEdge::kAddress, 0, kHeaderBytes, std::move(buffer)};
    return 1;
  }
  std::size_t transmit(std::uint32_t, std::span<TxPacket> packets, Nanoseconds) override {
    return packets.size();
  }

  FakePort inner;
  std::atomic<bool> busy{false};

 private:
  BufferPool& pool_;
};

/// An island whose every round is a rest: it needs nothing from its edge but its configuration, so that the
/// tests are about threads.
class ClientTest : public testing::Test {
 protected:
  ClientTest() : pool_(std::move(MemoryPool::create(256, PoolSharing::kSingleOwner)).value()), port_(*pool_) {
    endpoint_ = std::move(Endpoint::create(ScriptedEdge::island_config(), port_, *pool_)).value();
  }
  /// Before the thread starts: the edge's HELLO and one resting entry.
  void configure() {
    ScriptedEdge edge;
    wire::Config rest = ScriptedEdge::clique();
    rest.members = rest.self = rest.send_tree_count = 0;
    edge.epoch = 1;
    edge.configs = {rest};
    edge.hello(0);
    edge.hello(1);
    edge.config(rest);
    port_.inner.arrivals = edge.port.arrivals;
  }

  MonotonicClock clock_;
  std::unique_ptr<MemoryPool> pool_;
  BusyPort port_;
  std::unique_ptr<Endpoint> endpoint_;
};

TEST_F(ClientTest, RunsAnOperationAndWaitsForIt) {
  configure();
  Client client(*endpoint_, clock_);
  Buffers buffers(100);
  const auto handle = client.allreduce_async(buffers.request(0));
  ASSERT_TRUE(handle.ok());
  const auto outcome = client.wait(*handle, Stage::kReleased);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->stage, Stage::kReleased);
  EXPECT_EQ(buffers.output, buffers.input);
  EXPECT_EQ(client.poll(*handle)->stage, Stage::kReleased);
  EXPECT_TRUE(client.drop(*handle));
  EXPECT_FALSE(client.poll(*handle).has_value());
  EXPECT_FALSE(client.wait(*handle).has_value());
}

TEST_F(ClientTest, PassesErrorsOn) {
  Client client(*endpoint_, clock_);
  EXPECT_FALSE(client.allreduce_async(Allreduce{}).ok());
  EXPECT_FALSE(client.cancel(99));
  EXPECT_FALSE(client.drop(99));
}

TEST_F(ClientTest, WaitEndsWithADeadline) {
  Client client(*endpoint_, clock_);
  Buffers buffers(10);
  Allreduce request = buffers.request(0);
  request.deadline_ns = 10 * kMillisecond;
  const auto handle = client.allreduce_async(request);
  ASSERT_TRUE(handle.ok());
  const auto outcome = client.wait(*handle);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_EQ(outcome->stage, Stage::kFailed);
  EXPECT_EQ(outcome->error.code, ErrorCode::kDeadline);
}

TEST_F(ClientTest, CancelAndStopWakeThoseWhoWait) {
  Client client(*endpoint_, clock_);
  Buffers first(10);
  Buffers second(10);
  const auto cancelled = client.allreduce_async(first.request(0));
  const auto stopped = client.allreduce_async(second.request(1));
  ASSERT_TRUE(cancelled.ok() && stopped.ok());
  std::optional<Outcome> from_cancel;
  std::optional<Outcome> from_stop = Outcome{};
  std::thread one([&] { from_cancel = client.wait(*cancelled); });
  std::thread two([&] { from_stop = client.wait(*stopped); });
  EXPECT_TRUE(client.cancel(*cancelled));
  one.join();
  ASSERT_TRUE(from_cancel.has_value());
  EXPECT_EQ(from_cancel->stage, Stage::kFailed);
  client.stop();
  two.join();
  EXPECT_FALSE(from_stop.has_value());
  client.stop();  // Once more does no harm.
}

TEST_F(ClientTest, CallsGetTheirTurnWhileTheEndpointIsBusy) {
  configure();
  port_.busy.store(true);
  Client client(*endpoint_, clock_);
  Buffers buffers(10);
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint32_t round = 0; round < 50; ++round) {
    const auto handle = client.allreduce_async(buffers.request(round));
    ASSERT_TRUE(handle.ok());
    ASSERT_TRUE(client.wait(*handle, Stage::kReleased).has_value());
    ASSERT_TRUE(client.drop(*handle));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kPatience);
}

TEST_F(ClientTest, ManyThreadsMayCallAtOnce) {
  configure();
  Client client(*endpoint_, clock_);
  std::atomic<std::uint32_t> finished{0};
  std::atomic<std::uint32_t> refused{0};
  std::mutex order;  // Rounds are started in growing order.
  std::uint32_t next_round = 0;
  const auto work = [&] {
    Buffers buffers(50);
    for (int i = 0; i < 25; ++i) {
      std::optional<Handle> handle;
      {
        const std::lock_guard lock(order);
        if (auto started = client.allreduce_async(buffers.request(next_round++)); started) handle = *started;
      }
      if (!handle) {
        ++refused;  // Four are under way.
        continue;
      }
      if (client.wait(*handle, Stage::kReleased)->stage == Stage::kReleased) ++finished;
      client.with([](Endpoint& endpoint, Nanoseconds) { EXPECT_EQ(endpoint.epoch(), 1U); });
      EXPECT_TRUE(client.drop(*handle));
    }
  };
  std::array<std::thread, 4> threads;
  for (std::thread& thread : threads) thread = std::thread(work);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(finished.load() + refused.load(), 100U);
  EXPECT_GT(finished.load(), 0U);
}

}  // namespace
}  // namespace tombolo::island
