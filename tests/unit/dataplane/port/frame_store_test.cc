#include "dataplane/port/frame_store.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <vector>

namespace tombolo::dataplane {
namespace {

TEST(FrameStore, FramesOfEverySizeAreAlignedAndDisjoint) {
  FrameStore store(0);
  const std::vector<std::uint32_t> sizes{0, 1, 64, 1472, 1536, 1537, 8000, kMaxPacketBytes};
  std::vector<Frame*> frames;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    frames.push_back(store.allocate(sizes[i]));
    ASSERT_NE(frames.back(), nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(frames.back()->data()) % 64, 0U);
    std::memset(frames.back()->data(), static_cast<int>(i + 1), sizes[i]);
  }
  for (std::size_t i = 0; i < sizes.size(); ++i)
    for (std::uint32_t at = 0; at < sizes[i]; ++at)
      ASSERT_EQ(frames[i]->data()[at], static_cast<std::byte>(i + 1)) << "frame " << i << " byte " << at;
}

TEST(FrameStore, RecyclesInsteadOfGrowing) {
  FrameStore store(0);
  std::set<Frame*> seen;
  for (int i = 0; i < 100'000; ++i) {
    Frame* a = store.allocate(1400);
    Frame* b = store.allocate(8000);
    seen.insert(a);
    seen.insert(b);
    store.recycle(a);
    store.recycle(b);
  }
  EXPECT_EQ(seen.size(), 2U);
  EXPECT_EQ(store.growths(), 0U);
}

TEST(FrameStore, TheReserveHoldsTheFlightInEitherSize) {
  constexpr std::uint64_t kFlightBytes = 10'000'000;
  for (const std::uint32_t bytes : {1472U, kMaxPacketBytes}) {
    FrameStore store(kFlightBytes);
    for (std::uint64_t held = 0; held < kFlightBytes; held += bytes)
      ASSERT_NE(store.allocate(bytes), nullptr);
    EXPECT_EQ(store.growths(), 0U);
  }
}

TEST(FrameStore, GrowsAndCountsBeyondTheReserve) {
  FrameStore store(0);
  std::set<Frame*> seen;
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(seen.insert(store.allocate(1400)).second);
  EXPECT_GT(store.growths(), 0U);
  EXPECT_LT(store.growths(), 10U);
}

}  // namespace
}  // namespace tombolo::dataplane
