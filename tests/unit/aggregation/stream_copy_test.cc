#include "aggregation/stream_copy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tombolo::aggregation {
namespace {

TEST(StreamCopy, CopiesEveryLengthFromEveryAlignmentAndNothingElse) {
  constexpr std::size_t kMost = 300;
  constexpr std::byte kUntouched{0xee};
  std::vector<std::byte> from(kMost + 16);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + 1);
  alignas(64) std::byte to[kMost + 16];
  for (std::size_t offset = 0; offset < 16; ++offset)
    for (std::size_t bytes = 0; bytes <= kMost; ++bytes) {
      std::fill(std::begin(to), std::end(to), kUntouched);
      stream_copy(to, from.data() + offset, bytes);
      ASSERT_TRUE(std::equal(to, to + bytes, from.data() + offset)) << bytes << " from " << offset;
      ASSERT_TRUE(std::all_of(to + bytes, std::end(to), [](std::byte b) { return b == kUntouched; }))
          << bytes << " from " << offset;
    }
}

}  // namespace
}  // namespace tombolo::aggregation
