#pragma once

#include "base/result.h"
#include "schedule/round_model.h"

namespace tombolo::schedule {

/// No schedule with barriers has a smaller D, in seconds, on this network: of any length, random ones and
/// those with rests included. Never below disagreement_bound; above it where knowledge spreads slowly, for
/// cliques that are large or far across take long. BOUNDS.md proves it. 0 for one island; the work is that of
/// n^3. Errors: those of disagreement_bound.
Result<double> barrier_bound_s(const RoundModel& model, double update_bytes);

/// The capabilities by which a bound holds for this schedule too. By modes other than direct, and by trees of
/// its own, a pair may be quicker than along its shortest route, which the bound for direct cliques goes by;
/// the bound for any mode looks at latencies and access lines only.
Capabilities covering(Capabilities capabilities, const Schedule& schedule);

}  // namespace tombolo::schedule
