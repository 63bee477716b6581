#include "dataplane/port/dpdk/mbuf_pool.h"

#include <gtest/gtest.h>
#include <rte_mbuf.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

namespace tombolo::dataplane {
namespace {

TEST(MbufPool, EveryBufferIsAlignedDistinctAndWithinItsMbuf) {
  for (const std::uint32_t frame_bytes : {kStandardFrameBytes, kJumboFrameBytes, 1500U}) {
    auto pool = std::move(MbufPool::create({100, frame_bytes, 16})).value();
    std::set<std::byte*> seen;
    std::vector<BufferRef> held;
    for (int i = 0; i < 100; ++i) {
      held.push_back(BufferRef::adopt(pool->allocate()));
      ASSERT_TRUE(held.back());
      std::byte* const data = held.back().data();
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0U);
      EXPECT_EQ(held.back().capacity(), frame_bytes - 42);
      EXPECT_TRUE(seen.insert(data).second);
      for (std::uint32_t byte = 0; byte < held.back().capacity(); ++byte) data[byte] = std::byte{0xab};
    }
    EXPECT_EQ(pool->allocate(), nullptr);
    EXPECT_EQ(pool->in_use(), 100U);
    EXPECT_EQ(pool->empties(), 1U);
    // Nothing that was written has touched another buffer, or an mbuf.
    for (const BufferRef& buffer : held) EXPECT_EQ(buffer.get()->pool, pool.get());
    held.clear();
    EXPECT_EQ(pool->in_use(), 0U);
    EXPECT_EQ(pool->high_water(), 100U);
  }
}

TEST(MbufPool, SaysToDriversWhatIsThere) {
  auto pool = std::move(MbufPool::create({10, kJumboFrameBytes, 16})).value();
  rte_mbuf* const mbuf = rte_pktmbuf_alloc(pool->mempool());
  ASSERT_NE(mbuf, nullptr);
  EXPECT_EQ(rte_pktmbuf_data_room_size(pool->mempool()), mbuf->buf_len);
  EXPECT_EQ(rte_pktmbuf_tailroom(mbuf), kJumboFrameBytes);
  // A driver that writes at the usual place puts a payload behind 42 + 64 bytes on a cache line.
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(rte_pktmbuf_mtod_offset(mbuf, std::byte*, 106)) % 64, 0U);
  const char* reason = nullptr;
  EXPECT_EQ(rte_mbuf_check(mbuf, 1, &reason), 0) << reason;
  rte_pktmbuf_free(mbuf);
}

TEST(MbufPool, AFrameOnItsWayKeepsABufferThatWasRecycled) {
  auto pool = std::move(MbufPool::create({1, kStandardFrameBytes, 16})).value();
  BufferRef buffer = BufferRef::adopt(pool->allocate());
  rte_mbuf* const mbuf = MbufPool::mbuf_of(const_cast<Buffer*>(buffer.get()));
  rte_mbuf_refcnt_update(mbuf, 1);
  buffer.reset();
  EXPECT_EQ(pool->in_use(), 1U);
  EXPECT_EQ(pool->allocate(), nullptr);
  rte_pktmbuf_free_seg(mbuf);
  EXPECT_EQ(pool->in_use(), 0U);
  buffer = BufferRef::adopt(pool->allocate());
  EXPECT_TRUE(buffer);
}

TEST(MbufPool, HeadersHaveMarksOfTheirOwn) {
  auto pool = std::move(MbufPool::create({16, kStandardFrameBytes, 8})).value();
  std::vector<rte_mbuf*> headers;
  for (int i = 0; i < 5; ++i) headers.push_back(pool->allocate_header());
  pool->sample();
  for (rte_mbuf* const header : headers) rte_pktmbuf_free(header);
  pool->sample();
  EXPECT_EQ(pool->headers_in_use(), 0U);
  EXPECT_EQ(pool->headers_high_water(), 5U);
  EXPECT_EQ(pool->header_empties(), 0U);
  EXPECT_EQ(pool->high_water(), 0U);
  headers.clear();
  while (rte_mbuf* const header = pool->allocate_header()) headers.push_back(header);
  EXPECT_EQ(headers.size(), 8U);
  EXPECT_EQ(pool->headers_high_water(), 8U);
  EXPECT_EQ(pool->header_empties(), 1U);
  for (rte_mbuf* const header : headers) rte_pktmbuf_free(header);
}

TEST(MbufPool, RefusesWhatIsOutOfRangeOrTooMuch) {
  for (const MbufPoolOptions& options :
       {MbufPoolOptions{0, 2048, 1}, {1, 2048, 0}, {1, 106, 1}, {1, 16385, 1}, {1U << 25, 2048, 1}})
    EXPECT_EQ(MbufPool::create(options).error().code, ErrorCode::kInvalidInput);
  const auto pool = MbufPool::create({100'000, kJumboFrameBytes, 1});
  ASSERT_FALSE(pool.ok());
  EXPECT_EQ(pool.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(pool.error().message.find("raise memory_mb by"), std::string::npos) << pool.error().message;
  EXPECT_EQ(pool.error().message.find('\n'), std::string::npos);
}

TEST(MbufPool, ThreadsNeverShareABuffer) {
  auto pool = std::move(MbufPool::create({8, kStandardFrameBytes, 1})).value();
  std::atomic<int> clashes{0};
  std::vector<std::thread> threads;
  for (std::uint32_t id = 1; id <= 3; ++id)
    threads.emplace_back([&, id] {
      for (int i = 0; i < 20'000; ++i) {
        BufferRef buffer = BufferRef::adopt(pool->allocate());
        if (!buffer) continue;
        auto& owner = *reinterpret_cast<std::atomic<std::uint32_t>*>(buffer.data());
        owner.store(id);
        if (owner.load() != id) ++clashes;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(clashes, 0);
  EXPECT_EQ(pool->in_use(), 0U);
}

}  // namespace
}  // namespace tombolo::dataplane
