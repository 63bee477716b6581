#pragma once

#include "base/result.h"
#include "schedule/round_model.h"

namespace tombolo::schedule {

/// No schedule with barriers has a smaller D, in seconds, on this network: of any length, random ones and
/// those with rests included. Never below disagreement_bound; above it where knowledge spreads slowly, for
/// cliques that are large or far across take long. BOUNDS.md proves it. 0 for one island; the work is that of
/// n^3. Errors: those of disagreement_bound.
Result<double> barrier_bound_s(const RoundModel& model, double update_bytes);

}  // namespace tombolo::schedule
