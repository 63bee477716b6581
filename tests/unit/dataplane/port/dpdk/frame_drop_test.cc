#include "dataplane/port/dpdk/frame_drop.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tombolo::dataplane {
namespace {

TEST(FrameDrop, NamesAreDistinctAndFitForMetrics) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < kFrameDrops; ++i) {
    const std::string text(name(static_cast<FrameDrop>(i)));
    EXPECT_EQ(text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos) << text;
    EXPECT_FALSE(text.empty());
    EXPECT_TRUE(names.insert(text).second) << text;
  }
  // A name at each end and in the middle: the table is in the enum's order.
  EXPECT_EQ(name(FrameDrop::kNone), "none");
  EXPECT_EQ(name(FrameDrop::kBadIpHeader), "bad_ip_header");
  EXPECT_EQ(name(FrameDrop::kNoBuffer), "no_buffer");
  EXPECT_EQ(name(FrameDrop::kUnresolved), "unresolved");
  EXPECT_EQ(name(FrameDrop::kHeldFull), "held_full");
}

TEST(FrameDrop, EachReasonHasItsOwnCounter) {
  FrameDropCounters counters;
  for (std::size_t i = 0; i < kFrameDrops; ++i) counters.add(static_cast<FrameDrop>(i), i);
  for (std::size_t i = 0; i < kFrameDrops; ++i) EXPECT_EQ(counters.get(static_cast<FrameDrop>(i)), i);
}

}  // namespace
}  // namespace tombolo::dataplane
