#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/wire/header.h"

namespace tombolo::fold {

/// The bits of the one NaN that a result can hold: quiet, positive, no payload.
inline constexpr std::uint32_t kCanonicalNan = 0x7fc00000;

/// What every fold must equal, bit for bit: fp32, a left fold in the order of `inputs` that starts from the
/// first input (a sum of minus zeros stays minus zero), round to nearest even, no contraction, subnormals
/// kept. A mean is the sum and then one rounded division by the number of inputs. A NaN result is
/// kCanonicalNan. `inputs` holds at least one pointer to `elements` values each; `out` does not overlap any
/// of them. `operation` is kSum or kMean.
void reference_fold(std::span<const float* const> inputs, std::size_t elements, wire::Operation operation,
                    float* out);

}  // namespace tombolo::fold
