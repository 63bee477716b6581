#include "tools/testbed/workload.h"

#include <bit>
#include <cstring>

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

std::vector<float> expected_result(std::uint64_t seed, std::uint32_t round,
                                   std::span<const std::uint16_t> members, std::uint64_t count,
                                   wire::Operation operation) {
  std::vector<std::vector<float>> updates;
  std::vector<const std::byte*> inputs;
  for (const std::uint16_t rank : members) updates.push_back(make_update(seed, round, rank, count));
  for (const std::vector<float>& update : updates) inputs.push_back(std::as_bytes(std::span(update)).data());
  std::vector<float> result(count);
  fold::reference_fold({.input = wire::Format::kFp32, .operation = operation},
                       {.inputs = inputs.data(),
                        .input_count = inputs.size(),
                        .elements = count,
                        .divisor = static_cast<std::uint32_t>(inputs.size()),
                        .out = std::as_writable_bytes(std::span(result)).data()});
  return result;
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

}  // namespace tombolo::testbed
