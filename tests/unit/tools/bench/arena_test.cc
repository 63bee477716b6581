#include "tools/bench/arena.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <set>

namespace tombolo::bench {
namespace {

std::vector<std::vector<std::byte>> payloads(std::size_t count, std::size_t bytes) {
  std::vector<std::vector<std::byte>> all;
  for (std::size_t i = 0; i < count; ++i) all.emplace_back(bytes, static_cast<std::byte>(i + 1));
  return all;
}

TEST(Arena, HoldsAsManyChunksAsFitEachAtItsOwnAlignedPlace) {
  auto arena = Arena::create(1 << 20);
  ASSERT_TRUE(arena);
  const auto bytes = payloads(5, 100);
  // 3 inputs of 100 bytes and a result of 200, each padded to whole cache lines: 3 * 128 + 256.
  ASSERT_TRUE(arena->fill({3, 100, 200, 64'000}, bytes));
  EXPECT_EQ(arena->chunks(), 100U);
  std::set<std::uintptr_t> places;
  for (std::size_t chunk = 0; chunk < arena->chunks(); ++chunk) {
    for (std::size_t member = 0; member < 3; ++member) {
      const std::byte* const input = arena->input(member, chunk);
      EXPECT_EQ(std::memcmp(input, bytes[(member + chunk) % 5].data(), 100), 0);
      const auto place = reinterpret_cast<std::uintptr_t>(input);
      EXPECT_EQ(place % 64, 0U);
      EXPECT_TRUE(places.insert(place).second);
    }
    std::memset(arena->result(chunk), 0xff, 200);  // Overlaps no input: they are compared after it.
  }
  EXPECT_EQ(arena->input(1, 8) - arena->input(1, 7), 128) << "a member's chunks lie one behind the other";
  EXPECT_EQ(std::memcmp(arena->input(2, 99), bytes[101 % 5].data(), 100), 0);
}

TEST(Arena, OneChunkAtLeast) {
  auto arena = Arena::create(1 << 16);
  ASSERT_TRUE(arena);
  ASSERT_TRUE(arena->fill({2, 1280, 1280, 0}, payloads(2, 1280)));
  EXPECT_EQ(arena->chunks(), 1U);
  EXPECT_FALSE(arena->fill({64, 1280, 1280, 0}, payloads(2, 1280)));
}

}  // namespace
}  // namespace tombolo::bench
