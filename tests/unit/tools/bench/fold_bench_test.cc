#include "tools/bench/fold_bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "tools/bench/machine.h"
#include "tools/bench/payloads.h"

namespace tombolo::bench {
namespace {

FoldOptions tiny() {
  FoldOptions options;
  options.formats = all_formats();
  options.k = {2, 3};
  options.chunk_bytes = {1280};
  options.memory_bytes = 1 << 17;
  options.measure = {1, 0};
  return options;
}

const auto kSilent = [](const std::string&) {};

TEST(FoldBench, EveryCaseHasARowPerSideAndOnlyExactOnesOfOurs) {
  const Rivals rivals;
  const auto rows = run_fold(tiny(), rivals, kSilent);
  ASSERT_TRUE(rows) << rows.error().message;
  std::set<std::tuple<std::string, std::uint32_t, std::string>> ours, limits;
  for (const Row& row : *rows) {
    EXPECT_EQ(row.bench, "fold");
    EXPECT_EQ(row.chunk_bytes, 1280U);
    ASSERT_TRUE(row.gbytes_per_s && row.gbit_per_s && row.spread && row.of_limit);
    EXPECT_GT(*row.gbytes_per_s, 0);
    const std::tuple key{row.format, row.k, row.resident};
    if (row.impl == "limit") {
      EXPECT_TRUE(limits.insert(key).second);
      EXPECT_DOUBLE_EQ(*row.of_limit, 1);
      continue;
    }
    ASSERT_TRUE(row.exact.has_value());
    if (row.impl == "tombolo") {
      ours.insert(key);
      EXPECT_TRUE(*row.exact);
    } else if (row.format == "fp32") {
      // Pair-wise sums of fp32 in the order of the members are the contract's fold.
      EXPECT_TRUE(*row.exact) << row.impl;
    }
  }
  EXPECT_EQ(ours.size(), 7U * 2 * 2);
  EXPECT_EQ(limits, ours);
}

TEST(FoldBench, ARivalHasRowsWhereItHasTheFormatOrIsNamedAsAbsent) {
  const Rivals rivals;
  FoldOptions options = tiny();
  options.formats = {wire::Format::kFp32};
  const auto rows = run_fold(options, rivals, kSilent);
  ASSERT_TRUE(rows) << rows.error().message;
  for (const std::string name : {"openmpi", "gloo", "openblas"}) {
    const bool is_absent = std::any_of(rivals.absent().begin(), rivals.absent().end(),
                                       [&](const AbsentRival& absent) { return absent.impl == name; });
    const auto count =
        std::count_if(rows->begin(), rows->end(), [&](const Row& row) { return row.impl == name; });
    EXPECT_EQ(count, is_absent ? 0 : 4) << name;
  }
  for (const AbsentRival& absent : rivals.absent()) EXPECT_FALSE(absent.reason.empty()) << absent.impl;
}

TEST(FoldBench, OnlyTheInstructionSetsThatWereAskedFor) {
  const Rivals rivals;
  FoldOptions options = tiny();
  options.formats = {wire::Format::kBf16};
  options.isa = {"scalar"};
  const auto rows = run_fold(options, rivals, kSilent);
  ASSERT_TRUE(rows) << rows.error().message;
  for (const Row& row : *rows) {
    if (row.impl == "tombolo") {
      EXPECT_EQ(row.isa, "scalar");
    }
  }
  options.isa = {"abacus"};
  const auto refused = run_fold(options, rivals, kSilent);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidInput);
}

TEST(FoldBench, ChunksThatHoldNothingAreRefused) {
  const Rivals rivals;
  FoldOptions options = tiny();
  options.chunk_bytes = {16};
  const auto refused = run_fold(options, rivals, kSilent);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("--chunk-bytes 16"), std::string::npos);
}

TEST(Machine, SaysWhereAndRefusesAProcessorThatIsNotThere) {
  const Machine machine = read_machine();
  EXPECT_GE(machine.cpus, 1U);
  EXPECT_FALSE(machine.kernel.empty());
  EXPECT_NE(machine.compiler.find("g++"), std::string::npos);
  EXPECT_FALSE(machine.load.empty());
  const auto refused = pin_to_cpu(1023);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidInput);
}

}  // namespace
}  // namespace tombolo::bench
