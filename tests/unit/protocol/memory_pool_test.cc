#include "protocol/memory_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"

namespace tombolo {
namespace {

std::unique_ptr<MemoryPool> make_pool(std::uint32_t buffers, PoolSharing sharing,
                                      std::uint32_t bytes = kMaxPacketBytes) {
  return std::move(MemoryPool::create(buffers, sharing, bytes)).value();
}

class MemoryPoolOfBothKinds : public testing::TestWithParam<PoolSharing> {};
INSTANTIATE_TEST_SUITE_P(Sharing, MemoryPoolOfBothKinds,
                         testing::Values(PoolSharing::kSingleOwner, PoolSharing::kShared));

TEST_P(MemoryPoolOfBothKinds, GivesEveryBufferOnceAndThenNone) {
  const auto pool = make_pool(5, GetParam());
  std::vector<BufferRef> held;
  std::set<std::byte*> seen;
  for (std::uint32_t i = 0; i < 5; ++i) {
    held.push_back(BufferRef::adopt(pool->allocate()));
    ASSERT_TRUE(held.back());
    EXPECT_TRUE(seen.insert(held.back().data()).second);
    EXPECT_EQ(pool->in_use(), i + 1);
  }
  EXPECT_EQ(pool->allocate(), nullptr);
  EXPECT_EQ(pool->allocate(), nullptr);
  EXPECT_EQ(pool->empties(), 2U);
  held.pop_back();
  EXPECT_EQ(pool->in_use(), 4U);
  EXPECT_EQ(pool->high_water(), 5U);
  EXPECT_TRUE(BufferRef::adopt(pool->allocate()));
}

TEST_P(MemoryPoolOfBothKinds, TheLastBackIsTheFirstOut) {
  const auto pool = make_pool(4, GetParam());
  BufferRef a = BufferRef::adopt(pool->allocate());
  BufferRef b = BufferRef::adopt(pool->allocate());
  const std::byte* a_data = a.data();
  const std::byte* b_data = b.data();
  a.reset();
  b.reset();
  EXPECT_EQ((a = BufferRef::adopt(pool->allocate())).data(), b_data);
  EXPECT_EQ((b = BufferRef::adopt(pool->allocate())).data(), a_data);
}

TEST_P(MemoryPoolOfBothKinds, BuffersAreAlignedDisjointAndWritable) {
  for (const std::uint32_t bytes : {65U, 1472U, 1500U, kMaxPacketBytes}) {
    const auto pool = make_pool(3, GetParam(), bytes);
    std::vector<BufferRef> held;
    for (int i = 0; i < 3; ++i) {
      held.push_back(BufferRef::adopt(pool->allocate()));
      EXPECT_GE(held.back().capacity(), bytes);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(held.back().data()) % 64, 0U);
      std::memset(held.back().data(), i + 1, held.back().capacity());
    }
    for (int i = 0; i < 3; ++i)
      for (std::uint32_t at = 0; at < held[0].capacity(); ++at)
        ASSERT_EQ(held[i].data()[at], static_cast<std::byte>(i + 1));
  }
}

TEST_P(MemoryPoolOfBothKinds, SharedBuffersReturnWithTheirLastReference) {
  const auto pool = make_pool(1, GetParam());
  BufferRef first = BufferRef::adopt(pool->allocate());
  BufferRef second = first.share();
  first.reset();
  EXPECT_EQ(pool->in_use(), 1U);
  second.reset();
  EXPECT_EQ(pool->in_use(), 0U);
}

TEST(MemoryPool, RefusesImpossibleSizes) {
  for (const auto& [buffers, bytes] :
       std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, kMaxPacketBytes},
                                                            {MemoryPool::kMaxBuffers + 1, kMaxPacketBytes},
                                                            {1, kHeaderBytes},
                                                            {1, 1U << 17}}) {
    const auto pool = MemoryPool::create(buffers, PoolSharing::kShared, bytes);
    ASSERT_FALSE(pool.ok());
    EXPECT_EQ(pool.error().code, ErrorCode::kInvalidInput);
  }
}

TEST(MemoryPoolDeathTest, DiesRatherThanLeaveABufferWithoutMemory) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_DEATH(
      {
        auto pool = make_pool(1, PoolSharing::kShared);
        BufferRef held = BufferRef::adopt(pool->allocate());
        pool.reset();
      },
      "broken invariant");
}

/// Every thread marks what it holds; a buffer given to two at once shows up as somebody else's mark.
TEST(MemoryPool, ThreadsNeverHoldTheSameBuffer) {
  constexpr std::uint32_t kThreads = 4;
  constexpr std::uint32_t kBuffers = 16;
  constexpr int kTurns = 20'000;
  const auto pool = make_pool(kBuffers, PoolSharing::kShared, 128);
  std::vector<std::uint64_t> wrong(kThreads), failed(kThreads);
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      Random random(thread);
      std::vector<BufferRef> held;
      for (int turn = 0; turn < kTurns; ++turn) {
        if (held.empty() || random.below(2) == 0) {
          BufferRef buffer = BufferRef::adopt(pool->allocate());
          if (!buffer) {
            ++failed[thread];
            continue;
          }
          std::memset(buffer.data(), static_cast<int>(thread), 128);
          held.push_back(std::move(buffer));
        } else {
          const BufferRef buffer = std::move(held.back());
          held.pop_back();
          for (int at = 0; at < 128; ++at)
            wrong[thread] += buffer.data()[at] != static_cast<std::byte>(thread);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t failures = 0;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    EXPECT_EQ(wrong[thread], 0U);
    failures += failed[thread];
  }
  EXPECT_EQ(pool->empties(), failures);
  EXPECT_EQ(pool->in_use(), 0U);
  EXPECT_LE(pool->high_water(), kBuffers);
  EXPECT_GE(pool->high_water(), 1U);
  // Nothing was lost on the way: all buffers can still be had.
  std::vector<BufferRef> all;
  for (std::uint32_t i = 0; i < kBuffers; ++i) all.push_back(BufferRef::adopt(pool->allocate()));
  EXPECT_TRUE(all.back());
}

}  // namespace
}  // namespace tombolo
