#include "protocol/wire/crc.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace tombolo::wire {
namespace {

using Bytes = std::vector<std::byte>;

/// The definition, a bit at a time: reflected polynomial 0x1EDC6F41.
std::uint32_t crc32c_by_bits(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xffffffffu;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78u : 0);
  }
  return ~crc;
}

TEST(Crc32c, CheckValueOfTheStandard) {
  const std::string_view digits = "123456789";
  EXPECT_EQ(crc32c(std::as_bytes(std::span(digits))), 0xE3069283u);
  EXPECT_EQ(crc32c({}), 0u);
}

TEST(Crc32c, ExamplesOfRfc3720) {
  // Appendix B.4 of the RFC prints the bytes of the CRC in wire order, the least significant first.
  Bytes ascending(32);
  for (std::size_t i = 0; i < ascending.size(); ++i) ascending[i] = static_cast<std::byte>(i);
  const Bytes descending(ascending.rbegin(), ascending.rend());
  EXPECT_EQ(crc32c(Bytes(32, std::byte{0})), 0x8A9136AAu);
  EXPECT_EQ(crc32c(Bytes(32, std::byte{0xff})), 0x62A8AB43u);
  EXPECT_EQ(crc32c(ascending), 0x46DD794Eu);
  EXPECT_EQ(crc32c(descending), 0x113FDB5Cu);
}

TEST(Crc32c, EveryLengthAndAlignmentAsByBits) {
  Bytes data(600);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * i + 3 * i + 1);
  for (std::size_t start = 0; start < 9; ++start) {
    for (std::size_t length = 0; length + start <= data.size(); length += 1 + length / 40) {
      const auto part = std::span(data).subspan(start, length);
      ASSERT_EQ(crc32c(part), crc32c_by_bits(part)) << start << "+" << length;
    }
  }
}

}  // namespace
}  // namespace tombolo::wire
