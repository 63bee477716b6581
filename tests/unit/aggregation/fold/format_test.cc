#include "aggregation/fold/format.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "aggregation/fold/element.h"
#include "base/random.h"
#include "tests/unit/aggregation/fold/patterns.h"

namespace tombolo::fold {
namespace {

using wire::Format;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<std::byte> encoded(Format format, const std::vector<float>& values,
                               Findings* findings = nullptr) {
  std::vector<std::byte> payload(payload_bytes(format, values.size()));
  encode(format, values.data(), values.size(), payload.data(), findings);
  return payload;
}

std::vector<float> decoded(Format format, const std::vector<std::byte>& payload, std::size_t elements) {
  std::vector<float> values(elements);
  decode(format, payload.data(), elements, values.data());
  return values;
}

TEST(Format, PayloadBytes) {
  EXPECT_EQ(payload_bytes(Format::kFp32, 320), 1280U);
  EXPECT_EQ(payload_bytes(Format::kInt32, 1), 4U);
  EXPECT_EQ(payload_bytes(Format::kBf16, 320), 640U);
  EXPECT_EQ(payload_bytes(Format::kFp16, 7), 14U);
  EXPECT_EQ(payload_bytes(Format::kMxInt8, 7936), 8184U);
  EXPECT_EQ(payload_bytes(Format::kMxFp8E4M3, 33), 66U) << "a last block is whole";
  EXPECT_EQ(payload_bytes(Format::kMxFp8E5M2, 0), 0U);
  EXPECT_EQ(payload_bytes(Format::kNone, 32), 0U);
  EXPECT_EQ(payload_bytes(static_cast<Format>(99), 32), 0U);
}

// The two directions by kernels, against the definitions an element at a time.
TEST(Format, EncodesAndDecodesAsTheDefinitionsSay) {
  constexpr std::uint64_t kSeed = 30;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (const Format format : kFloatingFormats) {
    for (const Pattern pattern : kPatterns) {
      const std::size_t elements = 1 + random.below(700);
      std::vector<float> values;
      while (values.size() < elements) values.push_back(float_of(random_code(random, pattern, 8, 23)));
      std::vector<std::byte> expected(payload_bytes(format, elements));
      std::size_t saturated = 0;
      for (std::size_t first = 0; first < elements; first += kMxBlockElements)
        saturated += write_block(format, values.data() + first, std::min(elements - first, kMxBlockElements),
                                 first, elements, expected.data());
      Findings findings;
      const std::vector<std::byte> payload = encoded(format, values, &findings);
      EXPECT_TRUE(payload == expected) << static_cast<int>(format);
      EXPECT_EQ(findings.saturated, saturated);
      EXPECT_EQ(findings.non_finite,
                !std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); }));

      const std::vector<float> back = decoded(format, payload, elements);
      for (std::size_t i = 0; i < elements; ++i)
        ASSERT_EQ(
            bits_of(back[i]),
            bits_of(element_value(format, payload.data(), elements, i)) > 0x7f800000 && std::isnan(back[i])
                ? kCanonicalNan
                : bits_of(element_value(format, payload.data(), elements, i)));
    }
  }
}

TEST(Format, WhatWasEncodedStaysAsItIs) {
  constexpr std::uint64_t kSeed = 31;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (const Format format : kFloatingFormats) {
    std::vector<float> values;
    while (values.size() < 200) values.push_back(float_of(random_code(random, Pattern::kComparable, 8, 23)));
    const std::vector<std::byte> once = encoded(format, values);
    EXPECT_TRUE(encoded(format, decoded(format, once, 200)) == once) << static_cast<int>(format);
  }
}

TEST(Format, Int32RoundsAndSaturates) {
  Findings findings;
  const std::vector<float> values = {0.5F, 1.5F, -2.5F, 0x1p31F, -0x1p31F, -0x1.000002p31F, 2147483520.0F};
  const std::vector<std::byte> payload = encoded(Format::kInt32, values, &findings);
  std::vector<std::int32_t> codes(values.size());
  std::memcpy(codes.data(), payload.data(), payload.size());
  EXPECT_EQ(codes,
            (std::vector<std::int32_t>{0, 2, -2, 2147483647, -2147483647 - 1, -2147483647 - 1, 2147483520}));
  EXPECT_EQ(findings.saturated, 2U);
  EXPECT_FALSE(findings.non_finite);
  EXPECT_EQ(decoded(Format::kInt32, encoded(Format::kInt32, {-7.0F}), 1)[0], -7.0F);
  EXPECT_EQ(decoded(Format::kInt32, encoded(Format::kInt32, {kNan}, &findings), 1)[0], 0.0F);
  EXPECT_TRUE(findings.non_finite);
}

TEST(Format, CountsWhatIsNotFinite) {
  for (const Format format : {Format::kFp32, Format::kBf16, Format::kFp16, Format::kMxFp8E5M2}) {
    const std::vector<float> values = {1.0F, kNan, kInfinity, -kInfinity, -kNan, 0.0F, kInfinity};
    const NonFinite found = count_non_finite(format, encoded(format, values).data(), values.size());
    EXPECT_EQ(found.nan, 2U) << static_cast<int>(format);
    EXPECT_EQ(found.infinity, 3U) << static_cast<int>(format);
  }
  const std::vector<std::byte> payload = encoded(Format::kMxInt8, {1.0F, kNan, 2.0F});
  EXPECT_EQ(count_non_finite(Format::kMxInt8, payload.data(), 3).nan, 3U)
      << "the whole block, without padding";
  const std::vector<std::byte> integers(16, std::byte{0xff});
  EXPECT_EQ(count_non_finite(Format::kInt32, integers.data(), 4).nan, 0U);
}

TEST(Format, ReplacesWhatIsNotFiniteByZeros) {
  for (const Format format : {Format::kFp32, Format::kBf16, Format::kFp16, Format::kMxFp8E5M2}) {
    const std::vector<float> values = {1.0F, kNan, kInfinity, -1.5F};
    const std::vector<std::byte> payload = encoded(format, values);
    std::vector<std::byte> out(payload.size());
    replace_non_finite(format, payload.data(), values.size(), out.data());
    EXPECT_EQ(decoded(format, out, 4), (std::vector<float>{1.0F, 0.0F, 0.0F, -1.5F}))
        << static_cast<int>(format);
    std::vector<std::byte> same = payload;
    replace_non_finite(format, same.data(), values.size(), same.data());
    EXPECT_TRUE(same == out);
  }
  std::vector<float> values(40, 1.0F);
  values[3] = kNan;
  std::vector<std::byte> payload = encoded(Format::kMxInt8, values);
  replace_non_finite(Format::kMxInt8, payload.data(), values.size(), payload.data());
  std::vector<float> expected(32, 0.0F);
  expected.resize(40, 1.0F);
  EXPECT_EQ(decoded(Format::kMxInt8, payload, 40), expected);
}

}  // namespace
}  // namespace tombolo::fold
