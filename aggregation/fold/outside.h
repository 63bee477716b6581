#pragma once

#include <cstddef>

#include "aggregation/fold/kernel.h"

/// What the files with compiler flags of their own call: compiled for every machine, so that they have no
/// copy of anything that other files use.
namespace tombolo::fold {

/// Ends the process if a call makes no sense.
void check_call(const Call& call);

/// write_block of element.h for fp32 values at any address: blocks with a NaN or an infinity.
std::size_t write_rare_block(wire::Format format, const std::byte* values, std::size_t count,
                             std::size_t first, std::size_t elements, std::byte* out);

}  // namespace tombolo::fold
