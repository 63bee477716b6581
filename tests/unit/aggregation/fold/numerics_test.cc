#include "aggregation/fold/numerics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

namespace tombolo::fold {
namespace {

using wire::Format;

constexpr std::size_t kElements = 2048;

TEST(Numerics, ErrorsAreOfTheSizeThatTheirFormatsHave) {
  for (const ErrorRow& row : measure_errors(5, kElements)) {
    SCOPED_TRACE(std::to_string(static_cast<int>(row.format)) + ", " + std::to_string(row.inputs) +
                 " inputs");
    // Each of the k - 1 additions errs by at most 2^-24 of its result, and by a third of that on average.
    EXPECT_LE(row.fold, static_cast<double>(row.inputs) * 0x1p-24);
    if (row.format == Format::kFp32) {
      EXPECT_EQ(row.rounded_inputs, 0) << "nothing is rounded";
      EXPECT_EQ(row.own_result, row.fold);
    }
    // A mantissa of m bits errs by up to 2^-(m+1), evenly spread over the numbers between two powers of two:
    // between a third and a half of that as a root mean square.
    const double unit = row.format == Format::kBf16        ? 0x1p-8
                        : row.format == Format::kFp16      ? 0x1p-11
                        : row.format == Format::kMxFp8E4M3 ? 0x1p-4
                        : row.format == Format::kMxFp8E5M2 ? 0x1p-3
                                                           : 0;
    if (unit > 0) {
      EXPECT_GT(row.rounded_inputs, unit / 3);
      EXPECT_LT(row.rounded_inputs, unit / 2 * 1.1);
      // The result is rounded as much once more: errors that know nothing of one another.
      EXPECT_NEAR(row.own_result / row.rounded_inputs, std::sqrt(2.0), 0.15);
    }
  }
}

TEST(Numerics, ARingErrsByTheRootOfItsLength) {
  for (const RingRow& row : compare_with_ring(6, kElements)) {
    // With errors of relative size e: once each and once in the result, 2 k e^2 against a sum of variance k.
    // In the ring the partial sum of i inputs has variance i, and so e^2 (1 + 2 + ... + k).
    const auto k = static_cast<double>(row.inputs);
    const double expected = std::sqrt((k + 1) / 4);
    // E4M3 errs more: its scale lets a block's largest value lie up to 512 where 448 is the largest that it
    // has, and every hop cuts it off again.
    const double most = row.format == Format::kMxFp8E4M3 ? 1.5 : 1.15;
    EXPECT_GT(row.ring / row.once, 0.85 * expected) << static_cast<int>(row.format) << ", " << row.inputs;
    EXPECT_LT(row.ring / row.once, most * expected) << static_cast<int>(row.format) << ", " << row.inputs;
  }
}

TEST(Numerics, ThePageShowsWhatTheFoldsDo) {
  std::ifstream file(NUMERICS_PAGE);
  std::stringstream page;
  page << file.rdbuf();
  const std::string figures = numerics_figures();
  EXPECT_NE(page.str().find(figures), std::string::npos) << "the page should have:\n" << figures;
}

}  // namespace
}  // namespace tombolo::fold
