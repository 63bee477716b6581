#include "aggregation/fold/kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "aggregation/fold/reference.h"
#include "base/random.h"
#include "tests/unit/aggregation/fold/float_bits.h"

namespace tombolo::fold {
namespace {

using wire::Format;
using wire::Operation;

constexpr std::size_t kMaxElements = 2048;
constexpr std::size_t kRoom = kMaxElements * sizeof(float) + 256;
constexpr Operation kOperations[] = {Operation::kSum, Operation::kMean};

FoldFunction select_fp32(Operation operation, InstructionSet set) {
  return select({.input = Format::kFp32, .operation = operation}, set);
}

Call call_of(const std::byte* const* inputs, std::size_t count, std::size_t elements, std::byte* out) {
  return {.inputs = inputs,
          .input_count = count,
          .elements = elements,
          .divisor = static_cast<std::uint32_t>(count),
          .out = out};
}

/// Sixty-four inputs of random values, and a copy of each at a chosen distance from a 64-byte boundary.
class Inputs {
 public:
  explicit Inputs(std::uint64_t seed) {
    Random random(seed);
    for (auto& input : aligned_) input.resize(kMaxElements);
    for (std::size_t column = 0; column < kMaxElements; ++column) {
      for (auto& input : aligned_) input[column] = random_float(random, column);
    }
    for (std::size_t i = 0; i < kMaxInputs; ++i) {
      aligned_bytes_.push_back(std::as_bytes(std::span(aligned_[i])).data());
      shifted_[i].resize(kRoom);
    }
  }

  /// Places input i at (step x (i + 1)) mod 64 bytes behind a boundary.
  void shift(std::size_t step) {
    bytes_.clear();
    for (std::size_t i = 0; i < kMaxInputs; ++i) {
      std::byte* start = boundary(shifted_[i]) + step * (i + 1) % 64;
      std::memcpy(start, aligned_[i].data(), kMaxElements * sizeof(float));
      bytes_.push_back(start);
    }
  }

  std::vector<float> expected(std::size_t count, std::size_t elements, Operation operation) const {
    std::vector<float> result(elements);
    reference_fold(
        {.input = Format::kFp32, .operation = operation},
        call_of(aligned_bytes_.data(), count, elements, std::as_writable_bytes(std::span(result)).data()));
    return result;
  }

  std::byte* const* bytes() const { return bytes_.data(); }

  static std::byte* boundary(std::vector<std::byte>& room) {
    const auto address = reinterpret_cast<std::uintptr_t>(room.data());
    return room.data() + (64 - address % 64) % 64;
  }

 private:
  std::vector<float> aligned_[kMaxInputs];
  std::vector<std::byte> shifted_[kMaxInputs];
  std::vector<const std::byte*> aligned_bytes_;
  std::vector<std::byte*> bytes_;
};

std::vector<std::size_t> lengths() {
  std::vector<std::size_t> result = {320, 2048};
  for (std::size_t n = 0; n <= 70; ++n) result.push_back(n);
  return result;
}

/// Folds into memory at `shift` behind a boundary and checks every bit of it and its surroundings.
void expect_fold(FoldFunction fold, const Inputs& inputs, std::size_t count, std::size_t elements,
                 std::size_t shift, const std::vector<float>& expected) {
  constexpr auto kUntouched = std::byte{0xa5};
  static std::vector<std::byte> room(kRoom);
  std::fill(room.begin(), room.end(), kUntouched);
  std::byte* out = Inputs::boundary(room) + 64 + shift;
  fold(call_of(inputs.bytes(), count, elements, out));
  const std::size_t bytes = elements * sizeof(float);
  ASSERT_TRUE(bytes == 0 || std::memcmp(out, expected.data(), bytes) == 0)
      << count << " inputs of " << elements << " elements, out at " << shift;
  for (std::size_t i = 1; i <= 64; ++i) ASSERT_EQ(out[-static_cast<std::ptrdiff_t>(i)], kUntouched);
  for (std::size_t i = 0; i < 64; ++i) ASSERT_EQ(out[bytes + i], kUntouched);
}

class KernelTest : public testing::TestWithParam<InstructionSet> {};

TEST_P(KernelTest, EqualsTheReferenceBitForBit) {
  constexpr std::uint64_t kSeed = 7;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Inputs inputs(kSeed);
  // 0: all aligned; 4: input i at a shift of its own, over all that floats can have; 5: fit for no float at
  // all.
  for (const std::size_t step : {0, 4, 5}) {
    inputs.shift(step);
    for (const Operation operation : kOperations) {
      const FoldFunction fold = select_fp32(operation, GetParam());
      ASSERT_NE(fold, nullptr);
      for (std::size_t count = 1; count <= kMaxInputs; ++count) {
        // An element does not depend on the others, so the longest expectation holds all shorter ones.
        const std::vector<float> expected = inputs.expected(count, kMaxElements, operation);
        for (const std::size_t elements : lengths()) {
          const std::size_t shift = step * elements % 64;
          ASSERT_NO_FATAL_FAILURE(expect_fold(fold, inputs, count, elements, shift, expected));
        }
      }
    }
  }
}

TEST_P(KernelTest, EveryMisalignmentOfFloats) {
  constexpr std::uint64_t kSeed = 8;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Inputs inputs(kSeed);
  for (std::size_t step = 0; step < 64; step += 4) {
    inputs.shift(step);
    for (const Operation operation : kOperations) {
      for (const std::size_t count : {1, 2, 3, 9, 16, 17, 31, 32, 46, 64}) {
        const std::vector<float> expected = inputs.expected(count, 70, operation);
        for (const std::size_t elements : {1, 3, 4, 31, 64, 70}) {
          ASSERT_NO_FATAL_FAILURE(
              expect_fold(select_fp32(operation, GetParam()), inputs, count, elements, step, expected));
        }
      }
    }
  }
}

TEST_P(KernelTest, MayReplaceTheFirstInput) {
  constexpr std::uint64_t kSeed = 9;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Inputs inputs(kSeed);
  for (const Operation operation : kOperations) {
    for (std::size_t count = 1; count <= kMaxInputs; ++count) {
      inputs.shift(4);
      const std::vector<float> expected = inputs.expected(count, 333, operation);
      select_fp32(operation, GetParam())(call_of(inputs.bytes(), count, 333, inputs.bytes()[0]));
      ASSERT_EQ(std::memcmp(inputs.bytes()[0], expected.data(), 333 * sizeof(float)), 0) << count;
    }
  }
}

TEST_P(KernelTest, ADifferentOrderGivesDifferentBits) {
  // The canary: if this held no difference, the comparisons above could not tell a left fold from another
  // one.
  const std::vector<float> values = {1e8F, 1.0F, -1e8F};
  const auto at = [&](std::size_t i) { return reinterpret_cast<const std::byte*>(&values[i]); };
  const FoldFunction fold = select_fp32(Operation::kSum, GetParam());
  float in_order = -1;
  float permuted = -1;
  const std::byte* first[] = {at(0), at(1), at(2)};
  const std::byte* second[] = {at(0), at(2), at(1)};
  fold(call_of(first, 3, 1, reinterpret_cast<std::byte*>(&in_order)));
  fold(call_of(second, 3, 1, reinterpret_cast<std::byte*>(&permuted)));
  EXPECT_EQ(in_order, 0.0F);
  EXPECT_EQ(permuted, 1.0F);

  constexpr std::uint64_t kSeed = 10;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Inputs inputs(kSeed);
  inputs.shift(0);
  for (const std::size_t count : {3, 16, 17, 64}) {
    std::vector<const std::byte*> reversed(inputs.bytes(), inputs.bytes() + count);
    std::reverse(reversed.begin(), reversed.end());
    std::vector<float> out(kMaxElements);
    fold(call_of(reversed.data(), count, kMaxElements, reinterpret_cast<std::byte*>(out.data())));
    const std::vector<float> expected = inputs.expected(count, kMaxElements, Operation::kSum);
    EXPECT_NE(std::memcmp(out.data(), expected.data(), kMaxElements * sizeof(float)), 0) << count;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, KernelTest,
                         testing::Values(InstructionSet::kScalar, InstructionSet::kBaseline),
                         [](const auto& set) {
                           return set.param == InstructionSet::kScalar ? "Scalar" : "Baseline";
                         });

TEST(Kernel, RefusesWhatItCannotFold) {
  EXPECT_EQ(select({.input = Format::kNone, .operation = Operation::kSum}, InstructionSet::kScalar), nullptr);
  EXPECT_TRUE(is_supported({.input = Format::kFp32, .operation = Operation::kMean}));
  EXPECT_FALSE(is_supported({.input = Format::kFp32, .operation = Operation::kNone}));
  EXPECT_FALSE(is_supported({.input = Format::kInt32, .operation = Operation::kWeighted}));
  EXPECT_FALSE(
      is_supported({.input = Format::kInt32, .output = Format::kFp32, .operation = Operation::kSum}));
  EXPECT_EQ(payload_bytes(Format::kFp32, 320), 1280U);
  EXPECT_EQ(payload_bytes(Format::kMxInt8, 320), 330U);
}

TEST(Kernel, ChoosesAnInstructionSetByName) {
  EXPECT_EQ(*choose_instruction_set(""), InstructionSet::kBaseline);
  EXPECT_EQ(*choose_instruction_set("baseline"), InstructionSet::kBaseline);
  EXPECT_EQ(*choose_instruction_set("scalar"), InstructionSet::kScalar);
  const auto unknown = choose_instruction_set("avx9");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("avx9"), std::string::npos);
}

}  // namespace
}  // namespace tombolo::fold
