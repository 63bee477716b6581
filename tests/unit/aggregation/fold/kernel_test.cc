#include "aggregation/fold/kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "aggregation/fold/kind_table.h"
#include "aggregation/fold/reference.h"
#include "base/random.h"
#include "tests/unit/aggregation/fold/patterns.h"

namespace tombolo::fold {
namespace {

using wire::Format;
using wire::Operation;

constexpr std::size_t kBoundary = 64;

/// Memory whose payload begins at a chosen distance from a 64-byte boundary, between bytes that nobody may
/// touch, and that ends where the payload ends, so that a sanitizer sees the first byte read beyond it.
class Place {
 public:
  Place(std::size_t bytes, std::size_t shift) : room_(3 * kBoundary + bytes, kUntouched), bytes_(bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(room_.data());
    begin_ = kBoundary + (kBoundary - address % kBoundary) % kBoundary + shift % kBoundary;
    room_.resize(begin_ + bytes);
  }
  Place(const std::vector<std::byte>& payload, std::size_t shift) : Place(payload.size(), shift) {
    std::copy(payload.begin(), payload.end(), data());
  }

  std::byte* data() { return room_.data() + begin_; }
  bool surroundings_untouched() const {
    return std::all_of(room_.begin(), room_.begin() + begin_, [](std::byte b) { return b == kUntouched; });
  }
  std::vector<std::byte> payload() const { return {room_.begin() + begin_, room_.end()}; }

 private:
  static constexpr auto kUntouched = std::byte{0xa5};
  std::vector<std::byte> room_;
  std::size_t bytes_ = 0;
  std::ptrdiff_t begin_ = 0;
};

std::string describe(const Kind& kind, const Call& call) {
  return "input " + std::to_string(static_cast<int>(kind.input)) + ", output " +
         std::to_string(static_cast<int>(output_format(kind))) + ", operation " +
         std::to_string(static_cast<int>(kind.operation)) + ", partial " +
         std::to_string(static_cast<int>(kind.partial)) + (kind.finish ? "" : ", unfinished") + ", " +
         std::to_string(call.input_count) + " inputs of " + std::to_string(call.elements) +
         " elements, partial inputs " + std::to_string(call.partial_inputs) + (call.cold ? ", cold" : "");
}

/// One fold's inputs, made by chance.
struct Case {
  Case(Random& random, const Kind& of, std::size_t count, std::size_t elements, Pattern pattern,
       std::size_t shift, bool partials = true)
      : kind(of), step(shift) {
    call.input_count = count;
    call.elements = elements;
    call.divisor = static_cast<std::uint32_t>(1 + random.below(2 * count));
    call.cold = random.chance(0.5);
    if (partials && random.chance(0.5)) call.partial_inputs = random.bits();
    for (std::size_t i = 0; i < count; ++i) {
      const bool partial = (call.partial_inputs >> i & 1) != 0;
      const Format format = partial ? partial_format(kind) : kind.input;
      places.emplace_back(random_payload(random, format, elements, pattern), step * (i + 1));
      weights.push_back(
          float_of(random_code(random, random.chance(0.9) ? Pattern::kComparable : Pattern::kFinite, 8, 23)));
    }
    for (Place& place : places) inputs.push_back(place.data());
    call.inputs = inputs.data();
    call.weights = weights.data();
  }

  /// Runs `fold` into memory of its own and gives what it wrote.
  void run(FoldFunction fold, std::vector<std::byte>& result, Findings& findings) {
    Place out(payload_bytes(output_format(kind), call.elements), step * call.elements);
    call.out = out.data();
    call.findings = &findings;
    fold(call);
    ASSERT_TRUE(out.surroundings_untouched()) << describe(kind, call);
    result = out.payload();
  }

  void expect_reference(InstructionSet set) {
    std::vector<std::byte> expected;
    std::vector<std::byte> result;
    Findings expected_findings;
    Findings findings{true, 99};
    ASSERT_NO_FATAL_FAILURE(run(select(kind, InstructionSet::kScalar), expected, expected_findings));
    ASSERT_NO_FATAL_FAILURE(run(select(kind, set), result, findings));
    const auto at = std::mismatch(expected.begin(), expected.end(), result.begin()).first - expected.begin();
    ASSERT_TRUE(result == expected) << describe(kind, call) << ", first at byte " << at;
    ASSERT_EQ(findings.non_finite, expected_findings.non_finite) << describe(kind, call);
    ASSERT_EQ(findings.saturated, expected_findings.saturated) << describe(kind, call);
  }

  Kind kind;
  Call call;
  std::size_t step;
  std::vector<Place> places;
  std::vector<const std::byte*> inputs;
  std::vector<float> weights;
};

std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  for (std::size_t i = 0; i < kKinds; ++i)
    if (is_entry(i)) kinds.push_back(kind_at(i));
  return kinds;
}

class KernelTest : public testing::TestWithParam<InstructionSet> {
 protected:
  void SetUp() override {
    if (!is_available(GetParam())) GTEST_SKIP() << "this machine has no " << name_of(GetParam());
  }
};

TEST_P(KernelTest, EveryKindEqualsTheReferenceBitForBit) {
  constexpr std::uint64_t kSeed = 7;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (const Kind& kind : all_kinds()) {
    for (const Pattern pattern : kPatterns) {
      for (int trial = 0; trial < 3; ++trial) {
        const std::size_t count = 1 + random.below(trial == 0 ? kMaxInputs : 9);
        const std::size_t elements = random.below(trial == 0 ? 70 : 300);
        Case one(random, kind, count, elements, pattern, random.below(64));
        ASSERT_NO_FATAL_FAILURE(one.expect_reference(GetParam()));
      }
    }
  }
}

TEST_P(KernelTest, EveryLengthAndEveryNumberOfInputs) {
  constexpr std::uint64_t kSeed = 8;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  std::vector<Kind> kinds;
  for (const Format format : kFloatingFormats)
    kinds.push_back({.input = format, .operation = Operation::kMean});
  kinds.push_back({.input = Format::kInt32, .operation = Operation::kMean});
  kinds.push_back({.input = Format::kMxInt8, .output = Format::kBf16, .operation = Operation::kWeighted});
  kinds.push_back({.input = Format::kFp32, .operation = Operation::kWeighted});
  for (const Kind& kind : kinds) {
    for (std::size_t elements = 0; elements <= 135; ++elements) {
      Case one(random, kind, 1 + random.below(5), elements, Pattern::kComparable, random.below(64));
      ASSERT_NO_FATAL_FAILURE(one.expect_reference(GetParam()));
    }
    for (const std::size_t elements : {320, 512, 513, 1024, 1279, 2048}) {
      Case one(random, kind, 3, elements, Pattern::kComparable, random.below(64));
      ASSERT_NO_FATAL_FAILURE(one.expect_reference(GetParam()));
    }
    for (std::size_t count = 1; count <= kMaxInputs; ++count) {
      Case one(random, kind, count, 33, Pattern::kComparable, random.below(64));
      ASSERT_NO_FATAL_FAILURE(one.expect_reference(GetParam()));
    }
  }
}

TEST_P(KernelTest, EveryMisalignment) {
  constexpr std::uint64_t kSeed = 9;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (const Format format : kFloatingFormats) {
    for (std::size_t step = 0; step < kBoundary; ++step) {
      Case one(random, {.input = format, .operation = Operation::kSum}, 3, 150, Pattern::kComparable, step);
      ASSERT_NO_FATAL_FAILURE(one.expect_reference(GetParam()));
    }
  }
}

TEST_P(KernelTest, MayReplaceTheFirstInput) {
  constexpr std::uint64_t kSeed = 10;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (const Kind& kind : all_kinds()) {
    if (output_format(kind) != kind.input) continue;
    for (const std::size_t count : {1, 2, 17, 64}) {
      Case one(random, kind, count, 150, Pattern::kComparable, 4, false);
      std::vector<std::byte> expected;
      Findings findings;
      ASSERT_NO_FATAL_FAILURE(one.run(select(kind, InstructionSet::kScalar), expected, findings));
      one.call.out = one.places[0].data();
      select(kind, GetParam())(one.call);
      ASSERT_TRUE(one.places[0].payload() == expected) << describe(kind, one.call);
    }
  }
}

TEST_P(KernelTest, FindingsMayBeLeftOut) {
  Random random(11);
  for (const Format format : {Format::kFp32, Format::kInt32, Format::kMxInt8}) {
    Case one(random, {.input = format, .operation = Operation::kSum}, 3, 50, Pattern::kSpecial, 0);
    std::vector<std::byte> out(payload_bytes(format, 50));
    one.call.out = out.data();
    select(one.kind, GetParam())(one.call);
    std::vector<std::byte> expected;
    Findings findings;
    ASSERT_NO_FATAL_FAILURE(one.run(select(one.kind, InstructionSet::kScalar), expected, findings));
    EXPECT_TRUE(out == expected);
  }
}

// The canary: if order made no difference, the comparisons above could not tell a left fold from another one.
TEST_P(KernelTest, ADifferentOrderGivesDifferentBits) {
  const float values[] = {1e8F, 1.0F, -1e8F};
  const auto at = [&](std::size_t i) { return reinterpret_cast<const std::byte*>(&values[i]); };
  const auto sum = [&](const std::byte* a, const std::byte* b, const std::byte* c) {
    const std::byte* const inputs[] = {a, b, c};
    float out = -1;
    select({.input = Format::kFp32, .operation = Operation::kSum}, GetParam())(
        {.inputs = inputs, .input_count = 3, .elements = 1, .out = reinterpret_cast<std::byte*>(&out)});
    return out;
  };
  EXPECT_EQ(sum(at(0), at(1), at(2)), 0.0F);
  EXPECT_EQ(sum(at(0), at(2), at(1)), 1.0F);

  constexpr std::uint64_t kSeed = 12;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  Random random(kSeed);
  for (const std::size_t count : {3, 16, 17, 64}) {
    Case one(random, {.input = Format::kFp32, .operation = Operation::kSum}, count, 300, Pattern::kComparable,
             0, false);
    std::vector<std::byte> in_order;
    std::vector<std::byte> reversed;
    Findings findings;
    ASSERT_NO_FATAL_FAILURE(one.run(select(one.kind, GetParam()), in_order, findings));
    std::reverse(one.inputs.begin(), one.inputs.end());
    ASSERT_NO_FATAL_FAILURE(one.run(select(one.kind, GetParam()), reversed, findings));
    EXPECT_FALSE(in_order == reversed) << count;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, KernelTest,
                         testing::Values(InstructionSet::kScalar, InstructionSet::kBaseline,
                                         InstructionSet::kAvx2, InstructionSet::kAvx512),
                         [](const auto& set) { return std::string(name_of(set.param)); });

TEST(Kernel, RefusesWhatItCannotFold) {
  const auto defined = [](Format input, Format output, Operation operation, Format partial) {
    return is_supported({input, output, operation, partial, true});
  };
  EXPECT_TRUE(defined(Format::kFp32, Format::kNone, Operation::kMean, Format::kFp32));
  EXPECT_TRUE(defined(Format::kMxInt8, Format::kBf16, Operation::kWeighted, Format::kMxInt8));
  EXPECT_FALSE(defined(Format::kNone, Format::kNone, Operation::kSum, Format::kFp32));
  EXPECT_FALSE(defined(Format::kFp32, Format::kNone, Operation::kNone, Format::kFp32));
  EXPECT_FALSE(defined(Format::kFp32, Format::kInt32, Operation::kSum, Format::kFp32));
  EXPECT_FALSE(defined(Format::kInt32, Format::kFp32, Operation::kSum, Format::kFp32));
  EXPECT_FALSE(defined(Format::kInt32, Format::kNone, Operation::kWeighted, Format::kFp32));
  EXPECT_FALSE(defined(Format::kFp16, Format::kNone, Operation::kSum, Format::kBf16)) << "foreign partials";
  EXPECT_FALSE(defined(static_cast<Format>(99), Format::kNone, Operation::kSum, Format::kFp32));
  EXPECT_FALSE(defined(Format::kFp32, static_cast<Format>(99), Operation::kSum, Format::kFp32));
  EXPECT_FALSE(defined(Format::kFp32, Format::kNone, static_cast<Operation>(99), Format::kFp32));
}

TEST(Kernel, HasAFunctionForEveryKindThatIsDefined) {
  // Six floating formats to six, five operations, finished with partials in fp32 or the input's own format
  // (one and the same for fp32), and unfinished to each of these; int32 without weights, finished or not.
  EXPECT_EQ(all_kinds().size(), 5U * (5 * (6 * 2 + 2) + (6 + 1)) + 4 * 2);
  for (const Kind& kind : all_kinds()) {
    for (const InstructionSet set : kInstructionSets) ASSERT_TRUE(select(kind, set) != nullptr);
  }
}

TEST(Kernel, PartialsOfInt32AreInt32) {
  EXPECT_EQ(partial_format({.input = Format::kInt32}), Format::kInt32);
  EXPECT_EQ(output_format({.input = Format::kInt32, .finish = false}), Format::kInt32);
  EXPECT_EQ(output_format({.input = Format::kBf16, .finish = false}), Format::kFp32);
}

TEST(Kernel, ChoosesAnInstructionSetByName) {
  EXPECT_EQ(*choose_instruction_set("baseline"), InstructionSet::kBaseline);
  EXPECT_EQ(*choose_instruction_set("scalar"), InstructionSet::kScalar);
  const auto unknown = choose_instruction_set("avx9");
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("avx9"), std::string::npos);
  for (const InstructionSet set : kInstructionSets) {
    const auto chosen = choose_instruction_set(name_of(set));
    EXPECT_EQ(chosen.ok(), is_available(set)) << name_of(set);
    EXPECT_TRUE(!is_available(set) || *choose_instruction_set("") >= set);
  }
}

}  // namespace
}  // namespace tombolo::fold
