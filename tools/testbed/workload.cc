#include "tools/testbed/workload.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "aggregation/fold/kernel.h"
#include "aggregation/fold/reference.h"

namespace tombolo::testbed {
namespace {

/// One step of the SplitMix64 generator: cheap, and good enough for test data.
std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15u;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
  return value ^ (value >> 31);
}

/// By wire::Operation.
constexpr std::array<std::string_view, 6> kOperationNames{"none", "sum", "mean", "weighted", "min", "max"};

/// The scalar reference. One input is not weighed: an island that rests keeps what it has.
void fold_reference(const Numbers& numbers, std::span<const std::vector<std::byte>> inputs,
                    std::span<const float> weights, std::uint64_t count, std::byte* out) {
  fold::Kind kind;
  kind.input = numbers.format;
  kind.output = numbers.result_format;
  kind.operation = numbers.operation;
  if (weights.empty() && numbers.operation == wire::Operation::kWeighted)
    kind.operation = wire::Operation::kSum;
  std::vector<const std::byte*> pointers;
  for (const auto& input : inputs) pointers.push_back(input.data());
  fold::Call call;
  call.inputs = pointers.data();
  call.input_count = pointers.size();
  call.elements = count;
  call.weights = weights.data();
  call.divisor = static_cast<std::uint32_t>(pointers.size());
  call.out = out;
  fold::select(kind, fold::InstructionSet::kScalar)(call);
}

/// Elements [first, first + count) of an update as an array of their own, and back. Microscaling arrays have
/// their scales behind their elements.
struct Slice {
  wire::Format format = wire::Format::kNone;
  std::uint64_t whole = 0;
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  template <typename Copy>
  void each_part(Copy copy) const {
    if (!fold::is_mx(format)) {
      copy(encoded_bytes(format, first), std::uint64_t{0}, encoded_bytes(format, count));
      return;
    }
    const std::uint64_t block = fold::kMxBlockElements;
    const std::uint64_t blocks = (count + block - 1) / block;
    const std::uint64_t whole_blocks = (whole + block - 1) / block;
    copy(first, std::uint64_t{0}, blocks * block);
    copy(whole_blocks * block + first / block, blocks * block, blocks);
  }
};

/// Leaves out, chunk by chunk, the members with a value that is not finite; all of them only if all have.
void reject_by_chunk(const Numbers& numbers, std::span<const std::vector<std::byte>> inputs,
                     std::span<const float> weights, std::uint64_t count, Expected& expected) {
  const std::vector<std::uint16_t> members = expected.contributors;
  for (std::uint64_t first = 0; first < count; first += numbers.chunk_elements) {
    const std::uint64_t elements = std::min<std::uint64_t>(numbers.chunk_elements, count - first);
    std::vector<std::vector<std::byte>> all, kept;
    std::vector<float> kept_weights;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      std::vector<std::byte>& chunk = all.emplace_back(encoded_bytes(numbers.format, elements));
      Slice{numbers.format, count, first, elements}.each_part([&](auto from, auto to, auto bytes) {
        std::memcpy(chunk.data() + to, inputs[i].data() + from, bytes);
      });
      const fold::NonFinite found = fold::count_non_finite(numbers.format, chunk.data(), elements);
      if (found.nan + found.infinity > 0) {
        std::erase(expected.contributors, members[i]);
        continue;
      }
      kept.push_back(chunk);
      if (!weights.empty()) kept_weights.push_back(weights[i]);
    }
    std::vector<std::byte> result(encoded_bytes(numbers.output(), elements));
    if (kept.empty())
      fold_reference(numbers, all, weights, elements, result.data());
    else
      fold_reference(numbers, kept, kept_weights, elements, result.data());
    Slice{numbers.output(), count, first, elements}.each_part([&](auto to, auto from, auto bytes) {
      std::memcpy(expected.result.data() + to, result.data() + from, bytes);
    });
  }
}

}  // namespace

std::vector<float> make_update(std::uint64_t seed, std::uint32_t round, std::uint16_t rank,
                               std::uint64_t count) {
  std::vector<float> update(count);
  const std::uint64_t stream = mix(mix(seed) ^ (std::uint64_t{round} << 16 | rank));
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = mix(stream + i);
    // A random sign and mantissa, and an exponent within 2^-8 .. 2^7.
    const auto exponent = static_cast<std::uint32_t>(119 + (bits >> 40 & 15));
    const auto sign_and_mantissa = static_cast<std::uint32_t>(bits) & 0x807fffffu;
    update[i] = std::bit_cast<float>(sign_and_mantissa | exponent << 23);
  }
  return update;
}

std::vector<float> as_floats(const Expected& expected) {
  std::vector<float> values(expected.result.size() / sizeof(float));
  std::memcpy(values.data(), expected.result.data(), expected.result.size());
  return values;
}

std::vector<float> expected_result(std::uint64_t seed, std::uint32_t round,
                                   std::span<const std::uint16_t> members, std::uint64_t count,
                                   wire::Operation operation) {
  return as_floats(expected_output({.operation = operation}, seed, round, members, {}, count));
}

std::string_view operation_name(wire::Operation operation) {
  return kOperationNames[static_cast<std::size_t>(operation)];
}

std::optional<wire::Operation> operation_named(std::string_view name) {
  for (std::size_t i = 1; i < kOperationNames.size(); ++i)
    if (kOperationNames[i] == name) return static_cast<wire::Operation>(i);
  return std::nullopt;
}

std::vector<std::byte> make_input(const Numbers& numbers, std::uint64_t seed, std::uint32_t round,
                                  std::uint16_t rank, std::uint64_t count) {
  std::vector<std::byte> input(encoded_bytes(numbers.format, count));
  const std::uint64_t stream = mix(mix(seed ^ 0x1234) ^ (std::uint64_t{round} << 16 | rank));
  if (numbers.format == wire::Format::kInt32) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto value = static_cast<std::uint32_t>(mix(stream + i));
      std::memcpy(input.data() + i * sizeof(value), &value, sizeof(value));
    }
    return input;
  }
  std::vector<float> values = make_update(seed, round, rank, count);
  for (std::uint64_t i = 0; numbers.non_finite_share > 0 && i < count; ++i) {
    const std::uint64_t bits = mix(stream + i);
    if (static_cast<double>(bits >> 11) * 0x1p-53 >= numbers.non_finite_share) continue;
    const float infinity = std::numeric_limits<float>::infinity();
    values[i] = (bits & 1) != 0 ? std::numeric_limits<float>::quiet_NaN() : infinity;
  }
  fold::encode(numbers.format, values.data(), count, input.data());
  return input;
}

Expected expected_output(const Numbers& numbers, std::uint64_t seed, std::uint32_t round,
                         std::span<const std::uint16_t> members, std::span<const float> weights,
                         std::uint64_t count) {
  std::vector<std::vector<std::byte>> inputs;
  for (const std::uint16_t rank : members) inputs.push_back(make_input(numbers, seed, round, rank, count));
  Expected expected;
  expected.result.resize(encoded_bytes(numbers.output(), count));
  expected.contributors.assign(members.begin(), members.end());
  if (members.size() == 1 && numbers.output() == numbers.format) {
    expected.result = std::move(inputs.front());
    return expected;
  }
  if (members.size() > 1 && numbers.non_finite == NonFinitePolicy::kReject) {
    reject_by_chunk(numbers, inputs, weights, count, expected);
    return expected;
  }
  if (members.size() > 1 && numbers.non_finite == NonFinitePolicy::kZero)
    for (std::vector<std::byte>& input : inputs)
      fold::replace_non_finite(numbers.format, input.data(), count, input.data());
  fold_reference(numbers, inputs, weights, count, expected.result.data());
  return expected;
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace tombolo::testbed
