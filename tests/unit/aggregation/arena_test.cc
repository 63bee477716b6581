#include "aggregation/arena.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "aggregation/fold_point.h"
#include "base/random.h"
#include "protocol/memory_pool.h"

namespace tombolo::aggregation {
namespace {

using wire::Format;
using wire::Operation;

constexpr std::uint32_t kChunkElements = 32;
constexpr std::uint32_t kChunkBytes = 128;
constexpr std::uint32_t kSlots = 64;
constexpr Facts kFacts{1000 * kChunkElements, Format::kFp32, Operation::kSum};

/// Three ranks, one lane, and packets from a pool that says how many are out.
class ArenaTest : public testing::Test {
 protected:
  ArenaTest() {
    MemberEntry entry;
    entry.members = 3;
    entry.ranks = {1, 2, 3};
    entry.window_chunks = kSlots;
    entries_.push_back(entry);
    pool_ = std::move(MemoryPool::create(4 * kSlots, PoolSharing::kSingleOwner)).value();
  }
  void make_point(std::uint32_t held_bytes = 0) {
    FoldPointConfig config;
    config.entries = entries_;
    config.geometry = {0, 1, kChunkElements, kChunkBytes};
    config.held_bytes = held_bytes;
    point_.emplace(std::move(FoldPoint::create(config)).value());
    point_->advance();
  }
  static float value(std::uint16_t rank, std::uint32_t chunk) {
    return static_cast<float>(rank) * 1000 + static_cast<float>(chunk);
  }
  BufferRef packet(std::uint16_t rank, std::uint32_t chunk) {
    BufferRef packet = BufferRef::adopt(pool_->allocate());
    std::array<float, kChunkElements> values;
    values.fill(value(rank, chunk));
    std::memcpy(packet.data() + kHeaderBytes, values.data(), sizeof(values));
    return packet;
  }
  PointAdmission admit(std::uint16_t rank, std::uint32_t chunk, const BufferRef& packet) {
    Input input{packet.data() + kHeaderBytes, packet.share()};
    return point_->admit(0, rank, chunk, kFacts, input, kChunkBytes, 1);
  }
  PointAdmission contribute(std::uint16_t rank, std::uint32_t chunk) {
    return admit(rank, chunk, packet(rank, chunk));
  }
  void expect_sum(std::uint32_t chunk) {
    std::array<float, kChunkElements> out{};
    point_->fold(*point_->find(0), chunk, reinterpret_cast<std::byte*>(out.data()));
    const float sum = value(1, chunk) + value(2, chunk) + value(3, chunk);
    for (const float got : out) ASSERT_EQ(got, sum) << chunk;
  }
  const RoundWindow& window() { return point_->find(0)->window; }

  std::vector<MemberEntry> entries_;
  std::unique_ptr<MemoryPool> pool_;
  std::optional<FoldPoint> point_;
};

TEST_F(ArenaTest, OnlyTheNewestContributionsHoldPackets) {
  make_point();
  const std::size_t held = held_buffers(0, kChunkBytes);
  for (std::uint32_t chunk = 0; chunk < kSlots; ++chunk)
    for (const std::uint16_t rank : {std::uint16_t{1}, std::uint16_t{2}}) contribute(rank, chunk);
  EXPECT_EQ(window().held(), 2 * kSlots);
  EXPECT_EQ(window().in_arena(), 2 * kSlots - held);
  EXPECT_EQ(pool_->in_use(), held);
  // The late member comes, and everything is right, from wherever it lies.
  for (std::uint32_t chunk = 0; chunk < kSlots; ++chunk) {
    EXPECT_EQ(contribute(3, chunk).admission.state, Admitted::kCompleted);
    expect_sum(chunk);
  }
  EXPECT_EQ(window().held(), 0u);
  EXPECT_EQ(window().in_arena(), 0u);
  EXPECT_EQ(pool_->in_use(), 0u);
}

TEST_F(ArenaTest, WhatTheCacheOfALinkKeepsIsStoredOnce) {
  make_point();
  std::vector<BufferRef> cache;
  for (std::uint32_t chunk = 0; chunk < kSlots; ++chunk) {
    cache.push_back(packet(1, chunk));
    admit(1, chunk, cache.back());
  }
  EXPECT_EQ(window().in_arena(), 0u);
  EXPECT_EQ(pool_->in_use(), kSlots);
  cache.resize(kSlots / 2);  // The newer half is acknowledged.
  while (pool_->in_use() > kSlots / 2 + held_buffers(0, kChunkBytes)) point_->settle();
  EXPECT_GT(window().in_arena(), 0u);
  cache.clear();
  for (int turn = 0; turn < 100; ++turn) point_->settle();
  EXPECT_LE(pool_->in_use(), held_buffers(0, kChunkBytes));
}

TEST_F(ArenaTest, TwoFoldPointsWithOneBufferDoNotWaitForEachOther) {
  make_point();
  std::vector<BufferRef> other;  // Never gives up.
  for (std::uint32_t chunk = 0; chunk < kSlots; ++chunk) {
    other.push_back(packet(1, chunk));
    admit(1, chunk, other.back());
  }
  for (int turn = 0; turn < 256 * static_cast<int>(kSlots); ++turn) point_->settle();
  EXPECT_EQ(window().in_arena(), kSlots - held_buffers(0, kChunkBytes));
}

TEST_F(ArenaTest, ClosingARoundEmptiesIt) {
  make_point();
  for (std::uint32_t chunk = 0; chunk < kSlots; ++chunk) contribute(2, chunk);
  EXPECT_GT(window().in_arena(), 0u);
  point_->close(0, wire::RoundOutcome::kDeadline);
  EXPECT_EQ(pool_->in_use(), 0u);
  point_->advance();
  EXPECT_EQ(point_->find(1)->window.in_arena(), 0u);
}

TEST_F(ArenaTest, WithoutAnArenaEverythingHoldsItsPacket) {
  make_point(kHoldAll);
  EXPECT_EQ(point_->arena_bytes(), 0u);
  for (std::uint32_t chunk = 0; chunk < kSlots; ++chunk) contribute(1, chunk);
  EXPECT_FALSE(point_->settle());
  EXPECT_EQ(pool_->in_use(), kSlots);
}

TEST_F(ArenaTest, AnyOrderOfArrivalFoldsTheSame) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    SCOPED_TRACE(seed);
    Random random(seed);
    make_point();
    std::array<std::uint32_t, 3> next{};
    std::vector<BufferRef> cache;
    std::uint32_t folded = 0;
    while (folded < 900) {
      const auto rank = static_cast<std::uint16_t>(1 + random.below(3));
      std::uint32_t& chunk = next[rank - 1u];
      if (chunk >= window().base() + kSlots || chunk >= 1000) continue;
      BufferRef sent = packet(rank, chunk);
      if (random.chance(0.3)) cache.push_back(sent.share());
      if (cache.size() > 20) cache.erase(cache.begin());
      const auto admitted = admit(rank, chunk++, sent);
      ASSERT_TRUE(admitted.admission.taken());
      if (random.chance(0.2)) point_->settle();
      if (admitted.admission.state != Admitted::kCompleted) continue;
      expect_sum(admitted.index);
      ++folded;
    }
    point_.reset();
    cache.clear();
    EXPECT_EQ(pool_->in_use(), 0u);
  }
}

/// As many as leave the caches, so that they are copied past them and fetched ahead again.
TEST(LargeArenaTest, MoreThanTheCachesHoldFoldsTheSame) {
  constexpr std::uint32_t kBytes = kMaxPayloadBytes, kElements = kBytes / sizeof(float);
  constexpr std::uint32_t kMany = 2 * kCachedBytes / (2 * kBytes);  // Chunks, of each of which two wait.
  constexpr std::uint32_t kChunks = 2 * kMany + kMany / 2;
  MemberEntry entry;
  entry.members = 3;
  entry.ranks = {1, 2, 3};
  entry.window_chunks = kMany;
  const auto pool = std::move(MemoryPool::create(64, PoolSharing::kSingleOwner)).value();
  Random random(1);
  std::vector<std::vector<float>> payloads(7, std::vector<float>(kElements));
  for (auto& payload : payloads)
    for (float& value : payload) value = static_cast<float>(random.below(1000)) / 7;
  const auto payload_of = [&](std::uint16_t rank, std::uint32_t chunk) -> const std::vector<float>& {
    return payloads[(rank + 3 * chunk) % payloads.size()];
  };
  // What is completed next is what was expected to be, or the one before or behind it.
  for (const bool in_order : {true, false}) {
    FoldPointConfig config;
    config.entries = {&entry, 1};
    config.geometry = {0, 1, kElements, kBytes};
    config.held_bytes = 0;
    FoldPoint point = std::move(FoldPoint::create(config)).value();
    point.advance();
    const auto contribute = [&](std::uint16_t rank, std::uint32_t chunk) {
      BufferRef packet = BufferRef::adopt(pool->allocate());
      std::memcpy(packet.data() + kHeaderBytes, payload_of(rank, chunk).data(), kBytes);
      Input input{packet.data() + kHeaderBytes, packet.share()};
      return point.admit(0, rank, chunk, {std::uint64_t{kChunks} * kElements, Format::kFp32, Operation::kSum},
                         input, kBytes, 1);
    };
    const auto two_contribute = [&](std::uint32_t chunk) {
      if (chunk >= kChunks) return;
      for (const std::uint16_t rank : {std::uint16_t{1}, std::uint16_t{2}})
        ASSERT_EQ(contribute(rank, chunk).admission.state, Admitted::kHeld) << chunk;
    };
    for (std::uint32_t chunk = 0; chunk < kMany; ++chunk) two_contribute(chunk);
    EXPECT_TRUE(point.find(0)->window.is_cold());
    std::vector<float> out(kElements);
    for (std::uint32_t i = 0; i < kChunks; ++i) {
      const std::uint32_t chunk = in_order ? i : i ^ 1;
      ASSERT_EQ(contribute(3, chunk).admission.state, Admitted::kCompleted);
      point.fold(*point.find(0), chunk, reinterpret_cast<std::byte*>(out.data()));
      for (std::uint32_t e = 0; e < kElements; ++e)
        ASSERT_EQ(out[e], payload_of(1, chunk)[e] + payload_of(2, chunk)[e] + payload_of(3, chunk)[e])
            << chunk << " " << e;
      if (i % 2 == 0) continue;
      two_contribute(i - 1 + kMany);
      two_contribute(i + kMany);
    }
    EXPECT_EQ(point.find(0)->window.held(), 0U);
  }
}

}  // namespace
}  // namespace tombolo::aggregation
