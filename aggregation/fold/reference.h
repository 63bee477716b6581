#pragma once

#include "aggregation/fold/kernel.h"

namespace tombolo::fold {

/// What every fold must equal, bit for bit, one element after the other; NUMERICS.md has the rules in words.
/// is_supported(kind) holds.
void reference_fold(const Kind& kind, const Call& call);

}  // namespace tombolo::fold
