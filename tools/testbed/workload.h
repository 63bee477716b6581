#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "protocol/wire/header.h"

namespace tombolo::testbed {

/// The update of one island in one round: fp32 values of many magnitudes, so that an order of summing or a
/// rounding that is not the right one shows in the bits. The same arguments give the same values.
std::vector<float> make_update(std::uint64_t seed, std::uint32_t round, std::uint16_t rank,
                               std::uint64_t count);

/// What a clique's round must give, to the bit: the members' updates folded in order by the scalar reference.
std::vector<float> expected_result(std::uint64_t seed, std::uint32_t round,
                                   std::span<const std::uint16_t> members, std::uint64_t count,
                                   wire::Operation operation);

/// True if both hold the same bits.
bool same_bits(std::span<const float> a, std::span<const float> b);

}  // namespace tombolo::testbed
