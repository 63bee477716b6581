#include "tools/bench/limit_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace tombolo::bench {
namespace {

using Bytes = std::vector<std::byte>;
using Choose = LimitKernel (*)(std::size_t);

Bytes random_bytes(std::size_t size, Random& random) {
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.bits());
  return bytes;
}

/// Reads and writes what it should, wherever it lies: the exclusive or of all inputs, and not a byte more.
void check(Choose choose, std::size_t k, std::size_t bytes, std::size_t out_bytes) {
  Random random(bytes * 64 + k);
  std::vector<Bytes> inputs;
  std::vector<const std::byte*> pointers;
  Bytes expected(bytes);
  for (std::size_t i = 0; i < k; ++i) {
    inputs.push_back(random_bytes(bytes, random));
    for (std::size_t at = 0; at < bytes; ++at) expected[at] ^= inputs[i][at];
  }
  for (const Bytes& input : inputs) pointers.push_back(input.data());
  const Bytes before = random_bytes(out_bytes + 64, random);
  Bytes out = before;
  choose(k)(pointers.data(), bytes, out.data(), out_bytes);
  if (out_bytes >= bytes) {
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), out.begin())) << k << " " << bytes;
  }
  EXPECT_TRUE(std::equal(out.begin() + out_bytes, out.end(), before.begin() + out_bytes))
      << k << " " << bytes;
  // All but a tail of less than a vector is written, at both places of a wider result.
  for (std::size_t at = 0; at + 64 <= out_bytes && out_bytes > bytes && at < bytes / 64 * 64; ++at)
    if (bytes + at + 64 <= out_bytes) {
      ASSERT_EQ(out[bytes + at], expected[at]) << at;
    }
}

void check_all(Choose choose) {
  for (std::size_t k = 1; k <= kMaxLimitInputs; ++k)
    for (const std::size_t bytes : {2U, 64U, 130U, 1254U, 1280U})
      for (const std::size_t out_bytes : {bytes / 2, bytes, 2 * bytes}) check(choose, k, bytes, out_bytes);
}

TEST(LimitKernel, BaselineReadsAllAndWritesOnce) { check_all(limit_baseline); }

TEST(LimitKernel, Avx2Likewise) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "this machine has no AVX2";
  check_all(limit_avx2);
}

TEST(LimitKernel, Avx512Likewise) {
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw"))
    GTEST_SKIP() << "this machine has no AVX-512";
  check_all(limit_avx512);
}

TEST(LimitKernel, ThereIsNoneForMoreInputs) {
  EXPECT_EQ(limit_baseline(0), nullptr);
  EXPECT_EQ(limit_baseline(kMaxLimitInputs + 1), nullptr);
  EXPECT_NE(choose_limit(2).kernel, nullptr);
}

}  // namespace
}  // namespace tombolo::bench
