#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/number_format.h"
#include "protocol/wire/header.h"

namespace tombolo::testbed {

/// The update of one island in one round: fp32 values of many magnitudes, so that an order of summing or a
/// rounding that is not the right one shows in the bits. The same arguments give the same values.
std::vector<float> make_update(std::uint64_t seed, std::uint32_t round, std::uint16_t rank,
                               std::uint64_t count);

/// True if both hold the same bits.
bool same_bits(std::span<const float> a, std::span<const float> b);

/// "sum", "mean", "weighted", "min", "max"; and back, nothing for any other text.
std::string_view operation_name(wire::Operation operation);
std::optional<wire::Operation> operation_named(std::string_view name);

/// What a run's updates are made of, and what becomes of them.
struct Numbers {
  wire::Format format = wire::Format::kFp32;
  wire::Format result_format = wire::Format::kNone;  ///< kNone: as `format`.
  wire::Operation operation = wire::Operation::kMean;
  NonFinitePolicy non_finite = NonFinitePolicy::kPropagate;
  double non_finite_share = 0;       ///< Of floating-point values that are made NaN or infinite.
  std::uint32_t chunk_elements = 0;  ///< Members are rejected by chunk; read for that policy only.

  wire::Format output() const { return result_format == wire::Format::kNone ? format : result_format; }
};

/// An update in any format, laid out as island::Allreduce takes it. int32 has values that make sums saturate.
std::vector<std::byte> make_input(const Numbers& numbers, std::uint64_t seed, std::uint32_t round,
                                  std::uint16_t rank, std::uint64_t count);

/// A round's result at every member, to the bit, by the scalar reference.
struct Expected {
  std::vector<std::byte> result;
  std::vector<std::uint16_t> contributors;  ///< Members that are left out of no chunk.
};

/// `weights` by member, for weighted only. A single member rests: it gets its input, in the result's format.
Expected expected_output(const Numbers& numbers, std::uint64_t seed, std::uint32_t round,
                         std::span<const std::uint16_t> members, std::span<const float> weights,
                         std::uint64_t count);
/// The values of a result in fp32.
std::vector<float> as_floats(const Expected& expected);

/// What a clique's round of fp32 updates must give.
std::vector<float> expected_result(std::uint64_t seed, std::uint32_t round,
                                   std::span<const std::uint16_t> members, std::uint64_t count,
                                   wire::Operation operation);

}  // namespace tombolo::testbed
