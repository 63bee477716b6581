#include "base/bits.h"

#include <gtest/gtest.h>

#include <bit>

namespace tombolo {
namespace {

TEST(Bits, SoManyFromTheLowestOn) {
  for (int count = 0; count <= 64; ++count) {
    EXPECT_EQ(std::popcount(lowest_bits(static_cast<std::size_t>(count))), count);
    EXPECT_EQ(std::countr_one(lowest_bits(static_cast<std::size_t>(count))), count);
  }
}

}  // namespace
}  // namespace tombolo
