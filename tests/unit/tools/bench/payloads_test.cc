#include "tools/bench/payloads.h"

#include <gtest/gtest.h>

namespace tombolo::bench {
namespace {

TEST(Payloads, ElementsFillAPacketInWholeBlocks) {
  EXPECT_EQ(elements_in(wire::Format::kFp32, 1280), 320U);
  EXPECT_EQ(elements_in(wire::Format::kBf16, 1280), 640U);
  EXPECT_EQ(elements_in(wire::Format::kInt32, 8192), 2048U);
  // A Microscaling block of 32 elements takes 33 bytes: 38 of them are 1254.
  EXPECT_EQ(elements_in(wire::Format::kMxInt8, 1280), 38U * 32);
  EXPECT_EQ(elements_in(wire::Format::kFp32, 127), 0U);
  EXPECT_EQ(elements_in(wire::Format::kNone, 1280), 0U);
}

TEST(Payloads, EveryFormatHasANameThatIsRead) {
  EXPECT_EQ(all_formats().size(), 7U);
  for (const wire::Format format : all_formats()) {
    const auto read = parse_format(format_name(format));
    ASSERT_TRUE(read) << format_name(format);
    EXPECT_EQ(*read, format);
  }
  const auto wrong = parse_format("fp64");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().code, ErrorCode::kInvalidInput);
  EXPECT_NE(wrong.error().message.find("fp64"), std::string::npos);
}

TEST(Payloads, SameSeedSameBytes) {
  for (const wire::Format format : all_formats()) {
    EXPECT_EQ(make_payload(format, 64, 7), make_payload(format, 64, 7));
    EXPECT_NE(make_payload(format, 64, 7), make_payload(format, 64, 8));
  }
}

}  // namespace
}  // namespace tombolo::bench
