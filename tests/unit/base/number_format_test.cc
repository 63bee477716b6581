#include "base/number_format.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace tombolo {
namespace {

constexpr std::array<NumberFormat, 7> kAll{
    NumberFormat::kFp32,   NumberFormat::kBf16,      NumberFormat::kFp16,     NumberFormat::kInt32,
    NumberFormat::kMxInt8, NumberFormat::kMxFp8E4M3, NumberFormat::kMxFp8E5M2};

TEST(NumberFormat, BytesOfElements) {
  EXPECT_EQ(encoded_bytes(NumberFormat::kFp32, 320), 1280u);
  EXPECT_EQ(encoded_bytes(NumberFormat::kInt32, 3), 12u);
  EXPECT_EQ(encoded_bytes(NumberFormat::kBf16, 4096), 8192u);
  EXPECT_EQ(encoded_bytes(NumberFormat::kFp16, 1), 2u);
  for (const NumberFormat mx : {NumberFormat::kMxInt8, NumberFormat::kMxFp8E4M3, NumberFormat::kMxFp8E5M2}) {
    EXPECT_EQ(encoded_bytes(mx, 0), 0u);
    EXPECT_EQ(encoded_bytes(mx, 1), 33u);  // A block is sent whole.
    EXPECT_EQ(encoded_bytes(mx, 32), 33u);
    EXPECT_EQ(encoded_bytes(mx, 33), 66u);
    EXPECT_EQ(elements_within(mx, 32), 0u);
    EXPECT_EQ(elements_within(mx, 66), 64u);
  }
  EXPECT_EQ(encoded_bytes(NumberFormat::kNone, 5), 0u);
  EXPECT_EQ(elements_within(NumberFormat::kNone, 5), 0u);
}

TEST(NumberFormat, TheLargestChunkFitsInEveryFormatAndTheNextDoesNot) {
  for (const std::uint32_t payload : {1280u, 8192u})
    for (const NumberFormat input : kAll)
      for (const NumberFormat result : kAll) {
        const std::array formats{input, result};
        const std::uint32_t elements = chunk_elements_for(formats, payload);
        EXPECT_EQ(elements % 32, 0u);
        const auto widest = [&](std::uint64_t count) {
          return std::max(encoded_bytes(input, count), encoded_bytes(result, count));
        };
        EXPECT_LE(widest(elements), payload);
        EXPECT_GT(widest(elements + 32), payload);
      }
  // By hand: 248 blocks of 33 bytes are 8184; 38 are 1254; two bytes each fill 8192.
  EXPECT_EQ(chunk_elements_for(std::array{NumberFormat::kMxInt8}, 8192), 7936u);
  EXPECT_EQ(chunk_elements_for(std::array{NumberFormat::kMxFp8E4M3}, 1280), 1216u);
  EXPECT_EQ(chunk_elements_for(std::array{NumberFormat::kMxInt8, NumberFormat::kBf16}, 8192), 4096u);
  EXPECT_EQ(chunk_elements_for(std::array{NumberFormat::kBf16, NumberFormat::kFp32}, 1280), 320u);
}

TEST(NumberFormat, NamesReadBack) {
  for (const NumberFormat format : kAll) {
    EXPECT_EQ(number_format(name(format)), format);
    EXPECT_NE(number_format_names().find(name(format)), std::string_view::npos);
  }
  for (const char* const none : {"none", "", "FP32", "fp8", "fp32 "})
    EXPECT_FALSE(number_format(none)) << none;
  for (const NonFinitePolicy policy :
       {NonFinitePolicy::kPropagate, NonFinitePolicy::kZero, NonFinitePolicy::kReject})
    EXPECT_EQ(non_finite_policy(name(policy)), policy);
  EXPECT_FALSE(non_finite_policy("ignore"));
}

}  // namespace
}  // namespace tombolo
