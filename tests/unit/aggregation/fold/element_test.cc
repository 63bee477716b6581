#include "aggregation/fold/element.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "aggregation/fold/format.h"
#include "base/random.h"
#include "tests/unit/aggregation/fold/patterns.h"

namespace tombolo::fold {
namespace {

using wire::Format;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A value whose sign and NaN count, as bits of a double.
void expect_same(double value, double expected, std::uint32_t code) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(value)) << code;
    return;
  }
  EXPECT_EQ(value, expected) << code;
  EXPECT_EQ(std::signbit(value), std::signbit(expected)) << code;
}

TEST(SmallFloat, Bf16IsTheUpperHalfOfFp32) {
  for (std::uint32_t code = 0; code < 0x10000; ++code)
    expect_same(kBf16.decode(code), float_of(code << 16), code);
}

TEST(SmallFloat, Fp16IsThatOfTheCompiler) {
  for (std::uint32_t code = 0; code < 0x10000; ++code)
    expect_same(kFp16.decode(code),
                static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(code))), code);
}

TEST(SmallFloat, E5M2IsTheUpperHalfOfFp16) {
  for (std::uint32_t code = 0; code < 0x100; ++code)
    expect_same(kE5M2.decode(code),
                static_cast<double>(std::bit_cast<_Float16>(static_cast<std::uint16_t>(code << 8))), code);
}

/// OCP 8-bit floating point (OFP8) 1.0, table 1: S.EEEE.MMM of bias 7, no infinity, S.1111.111 is NaN.
TEST(SmallFloat, E4M3IsThatOfItsDefinition) {
  for (std::uint32_t code = 0; code < 0x100; ++code) {
    const std::uint32_t exponent = code / 8 % 16;
    const double fraction = code % 8 / 8.0;
    double value = exponent == 0 ? fraction / 64 : (1 + fraction) / 128;
    for (std::uint32_t i = 0; i < exponent; ++i) value *= 2;
    if (code % 128 == 127) value = std::numeric_limits<double>::quiet_NaN();
    expect_same(kE4M3.decode(code), code < 128 ? value : -value, code);
  }
  EXPECT_EQ(kE4M3.decode(0x7e), 448);  // The largest, the least normal and the least number of table 1.
  EXPECT_EQ(kE4M3.decode(0x08), 0x1p-6);
  EXPECT_EQ(kE4M3.decode(0x01), 0x1p-9);
  EXPECT_EQ(kE5M2.decode(0x7b), 57344);
  EXPECT_EQ(kE5M2.decode(0x04), 0x1p-14);
  EXPECT_EQ(kE5M2.decode(0x01), 0x1p-16);
}

/// The nearest number by looking at all of them; of two that are as near, the one with the even code.
std::uint32_t nearest_code(const SmallFloat& format, double value, std::uint32_t codes) {
  const std::uint32_t sign = std::signbit(value) ? codes : 0;
  std::uint32_t best = 0;
  double best_distance = kInfinity;
  for (std::uint32_t code = 0; code < codes; ++code) {
    const double number = format.decode(code);
    if (!std::isfinite(number)) continue;
    const double distance = std::fabs(std::fabs(value) - number);
    if (distance > best_distance || (distance == best_distance && code % 2 != 0)) continue;
    best = code;
    best_distance = distance;
  }
  return sign | best;
}

TEST(SmallFloat, RoundsToTheNearestAndSaturates) {
  constexpr std::uint64_t kSeed = 20;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (const SmallFloat& format : {kE4M3, kE5M2}) {
    for (std::uint32_t code = 0; code < 127; ++code) {
      const double number = format.decode(code);
      if (!std::isfinite(number)) continue;
      EXPECT_EQ(format.encode(number, true), code);
      EXPECT_EQ(format.encode(-number, true), 0x80 | code);
      const double next = format.decode(code + 1);
      if (!std::isfinite(next)) continue;
      const double middle = (number + next) / 2;
      EXPECT_EQ(format.encode(middle, true), code % 2 == 0 ? code : code + 1);
      EXPECT_EQ(format.encode(std::nextafter(middle, 0), true), code);
      EXPECT_EQ(format.encode(std::nextafter(middle, next), true), code + 1);
    }
    for (int i = 0; i < 2000; ++i) {
      const double value = std::ldexp(random.unit() - 0.5, static_cast<int>(random.below(40)) - 22);
      EXPECT_EQ(format.encode(value, true), nearest_code(format, value, 128)) << value;
    }
  }
}

TEST(SmallFloat, Fp16RoundsAsTheCompilerDoes) {
  constexpr std::uint64_t kSeed = 21;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (int i = 0; i < 20000; ++i) {
    // Exponents from far below fp16's subnormals to beyond its largest number.
    const auto exponent = static_cast<std::uint32_t>(95 + random.below(50));
    const float value = float_of((static_cast<std::uint32_t>(random.bits()) & 0x807fffff) | exponent << 23);
    const auto expected = std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
    ASSERT_EQ(kFp16.encode(value, false), expected) << value;
  }
  EXPECT_EQ(kFp16.encode(65520, false), 0x7c00U) << "half way to the number that fp16 has no more";
  EXPECT_EQ(kFp16.encode(65519, false), 0x7bffU);
  EXPECT_EQ(kFp16.encode(65520, true), 0x7bffU);
}

TEST(SmallFloat, Bf16RoundsToNearestEven) {
  EXPECT_EQ(kBf16.encode(float_of(0x3f808000), false), 0x3f80U);  // A tie between an even and an odd code.
  EXPECT_EQ(kBf16.encode(float_of(0x3f818000), false), 0x3f82U);
  EXPECT_EQ(kBf16.encode(float_of(0x3f808001), false), 0x3f81U);
  EXPECT_EQ(kBf16.encode(float_of(0x00008001), false), 0x0001U) << "subnormals are kept";
  EXPECT_EQ(kBf16.encode(float_of(0x7f7fffff), false), 0x7f80U);
}

TEST(SmallFloat, HasOneNan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(kBf16.encode(-nan, false), 0x7fc0U);
  EXPECT_EQ(kFp16.encode(nan, false), 0x7e00U);
  EXPECT_EQ(kE5M2.encode(nan, true), 0x7eU);
  EXPECT_EQ(kE4M3.encode(nan, true), 0x7fU);
  EXPECT_EQ(kE4M3.encode(-kInfinity, true), 0x7fU) << "it has no infinity";
  EXPECT_EQ(kE5M2.encode(-kInfinity, true), 0xfcU);
}

/// A payload of one block with the given elements and scale.
std::vector<std::byte> block(const std::vector<int>& codes, int scale) {
  std::vector<std::byte> payload(33);
  for (std::size_t i = 0; i < codes.size(); ++i) payload[i] = static_cast<std::byte>(codes[i]);
  payload[32] = static_cast<std::byte>(scale);
  return payload;
}

TEST(MxBlock, AnElementIsItsValueTimesTheScale) {
  EXPECT_EQ(element_value(Format::kMxInt8, block({64}, 127).data(), 32, 0), 1.0F);
  EXPECT_EQ(element_value(Format::kMxInt8, block({127}, 128).data(), 32, 0), 2 * (1 + 63.0F / 64));
  EXPECT_EQ(element_value(Format::kMxInt8, block({0x80}, 127).data(), 32, 0), -2.0F);
  EXPECT_EQ(element_value(Format::kMxInt8, block({1}, 0).data(), 32, 0), 0x1p-133F) << "an fp32 subnormal";
  EXPECT_EQ(element_value(Format::kMxInt8, block({0x80}, 254).data(), 32, 0), -kInfinity) << "-2^128";
  EXPECT_EQ(element_value(Format::kMxInt8, block({0x81}, 254).data(), 32, 0), -0x1.fcp127F);
  EXPECT_EQ(element_value(Format::kMxFp8E4M3, block({0x7e}, 119).data(), 32, 0), 1.75F);
  EXPECT_EQ(element_value(Format::kMxFp8E4M3, block({0x7e}, 247).data(), 32, 0), kInfinity);
  EXPECT_EQ(element_value(Format::kMxFp8E5M2, block({0xfc}, 0).data(), 32, 0), -kInfinity);
  EXPECT_EQ(bits_of(element_value(Format::kMxFp8E5M2, block({0xfd}, 127).data(), 32, 0)), kCanonicalNan);
  EXPECT_EQ(bits_of(element_value(Format::kMxInt8, block({1}, 255).data(), 32, 0)), kCanonicalNan);
}

TEST(MxBlock, ScalesLieBehindAllElements) {
  std::vector<std::byte> payload(payload_bytes(Format::kMxInt8, 40));
  ASSERT_EQ(payload.size(), 66U);
  payload[3] = std::byte{64};
  payload[33] = std::byte{64};
  payload[64] = std::byte{127};
  payload[65] = std::byte{130};
  EXPECT_EQ(element_value(Format::kMxInt8, payload.data(), 40, 3), 1.0F);
  EXPECT_EQ(element_value(Format::kMxInt8, payload.data(), 40, 33), 8.0F);
}

/// Writes one block and gives its elements' codes and scale.
std::vector<int> written(Format format, const std::vector<float>& values, std::size_t* saturated = nullptr) {
  std::vector<std::byte> payload(33, std::byte{0xa5});
  const std::size_t count =
      write_block(format, values.data(), values.size(), 0, values.size(), payload.data());
  if (saturated != nullptr) *saturated = count;
  std::vector<int> codes;
  for (const std::byte b : payload) codes.push_back(static_cast<int>(b));
  return codes;
}

// OCP Microscaling Formats v1.0, 6.3: the shared exponent is floor(log2(max)) - emax of the element.
TEST(MxBlock, TheScaleFollowsTheLargestMagnitude) {
  EXPECT_EQ(written(Format::kMxInt8, {1.0F, -1.99F}).back(), 127);
  EXPECT_EQ(written(Format::kMxInt8, {2.0F, 0.5F}).back(), 128);
  EXPECT_EQ(written(Format::kMxFp8E4M3, {1.0F}).back(), 127 - 8);
  EXPECT_EQ(written(Format::kMxFp8E5M2, {1.0F}).back(), 127 - 15);
  EXPECT_EQ(written(Format::kMxFp8E5M2, {0x1p-120F}).back(), 0) << "no smaller one";
  EXPECT_EQ(written(Format::kMxInt8, {0x1.fp127F}).back(), 254);
  EXPECT_EQ(written(Format::kMxInt8, {0.0F, -0.0F}).back(), 127) << "2^0 where there is no largest";
}

TEST(MxBlock, ElementsAreRoundedToNearestEvenAndSaturate) {
  std::size_t saturated = 0;
  // Units of 2^-6 at the scale 1: 64, 0.5 (a tie to 0), 1.5 (to 2), -2.5 (to -2), 127.36 (beyond 127).
  std::vector<int> codes = written(Format::kMxInt8, {1, 0x1p-7F, 0x3p-7F, -0x5p-7F, 1.99F}, &saturated);
  EXPECT_EQ(std::vector<int>(codes.begin(), codes.begin() + 5), (std::vector<int>{64, 0, 2, 0xfe, 127}));
  EXPECT_EQ(saturated, 1U);
  EXPECT_EQ(codes[5], 0) << "padding";
  // At the scale 2^-8 the largest is 1.9 x 256 = 486, beyond 448; -1 is -256.
  codes = written(Format::kMxFp8E4M3, {1.9F, -1.0F, 1.75F}, &saturated);
  EXPECT_EQ(std::vector<int>(codes.begin(), codes.begin() + 3), (std::vector<int>{0x7e, 0xf8, 0x7e}));
  EXPECT_EQ(saturated, 1U);
}

TEST(MxBlock, WhatIsNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {nan, infinity, -infinity}) {
    const std::vector<int> codes = written(Format::kMxInt8, {1.0F, bad});
    EXPECT_EQ(codes.back(), kNanScale) << "int8 has neither: the block is NaN";
    EXPECT_EQ(codes[0], 0);
  }
  std::vector<int> codes = written(Format::kMxFp8E4M3, {1.0F, nan, -infinity});
  EXPECT_EQ(codes.back(), 119) << "they have no say in the scale";
  EXPECT_EQ(std::vector<int>(codes.begin(), codes.begin() + 3), (std::vector<int>{0x78, 0x7f, 0x7f}));
  codes = written(Format::kMxFp8E5M2, {1.0F, nan, -infinity});
  EXPECT_EQ(std::vector<int>(codes.begin(), codes.begin() + 3), (std::vector<int>{0x78, 0x7e, 0xfc}));
}

}  // namespace
}  // namespace tombolo::fold
