#include "base/units.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace tombolo {
namespace {

TEST(ParseBytes, DecimalAndBinarySuffixes) {
  const std::vector<std::pair<const char*, std::uint64_t>> cases{{"0", 0},
                                                                 {"64", 64},
                                                                 {"64B", 64},
                                                                 {"1k", 1000},
                                                                 {"1kB", 1000},
                                                                 {"1.5M", 1500000},
                                                                 {"1G", 1000000000},
                                                                 {"2GB", 2000000000},
                                                                 {"1Ki", 1024},
                                                                 {"3MiB", 3145728},
                                                                 {"1Gi", 1073741824},
                                                                 {"0.5k", 500},
                                                                 {"1T", 1000000000000}};
  for (const auto& [text, bytes] : cases) {
    const auto parsed = parse_bytes(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(*parsed, bytes) << text;
  }
}

TEST(ParseBytes, RefusesWhatIsNotASize) {
  for (const char* text :
       {"", "B", "-1", "1X", "1 G", "nan", "inf", "1e400", "0.3", "1Gb", "0x10", "99999999G"}) {
    const auto parsed = parse_bytes(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidInput);
    EXPECT_NE(parsed.error().message.find(text), std::string::npos);
  }
}

TEST(ParseNumber, WholeTextAndFinite) {
  EXPECT_EQ(*parse_number("0.25"), 0.25);
  EXPECT_EQ(*parse_number("-3"), -3.0);
  for (const char* text : {"", "1x", "nan", "inf", "1e999", " 1"})
    EXPECT_FALSE(parse_number(text).ok()) << text;
}

TEST(Format, ReadsLikeAPersonWouldWriteIt) {
  EXPECT_EQ(format_bytes(64), "64 B");
  EXPECT_EQ(format_bytes(1'390'000'000), "1.39 GB");
  EXPECT_EQ(format_bytes(999'600), "1 MB");
  EXPECT_EQ(format_duration_ns(967'000'000), "0.967 s");
  EXPECT_EQ(format_duration_ns(12'300'000), "12.3 ms");
  EXPECT_EQ(format_duration_ns(870'000), "870.0 us");
}

}  // namespace
}  // namespace tombolo
