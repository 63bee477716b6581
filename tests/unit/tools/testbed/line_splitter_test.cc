#include "tools/testbed/line_splitter.h"

#include <gtest/gtest.h>

namespace tombolo::testbed {
namespace {

using Lines = std::vector<std::string>;

TEST(LineSplitter, JoinsAndCutsWhateverThePiecesAre) {
  LineSplitter splitter(100);
  EXPECT_EQ(splitter.take("one\ntw"), Lines{"one"});
  EXPECT_EQ(splitter.take("o"), Lines{});
  EXPECT_EQ(splitter.take("\n\nthree\n"), (Lines{"two", "", "three"}));
  EXPECT_EQ(splitter.take(""), Lines{});
}

TEST(LineSplitter, CutsALineThatIsTooLong) {
  LineSplitter splitter(4);
  EXPECT_EQ(splitter.take("abcdef"), Lines{});
  EXPECT_EQ(splitter.take("ghi\njk\n"), (Lines{"abcd", "jk"}));
}

}  // namespace
}  // namespace tombolo::testbed
