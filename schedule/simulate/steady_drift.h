#pragma once

#include "schedule/simulate/timeline.h"

namespace tombolo::schedule {

/// How far islands are apart when they drift steadily: D's question for a drift that does not change its
/// direction. Island i moves with velocity v_i, the v_i independent with unit variance; exchanges act as in
/// simulated training. The result is the root of the mean over time and islands of the variance of an island
/// about the mean of all, in seconds, over the second half of the exchanges (the first is for settling).
/// One full clique of time T gives T sqrt(7/3 (n - 1)/n), against 3/2 T (n - 1)/n for D.
///
/// D adds squares, as for noise; this adds lengths, as for islands whose data pull them the same way at every
/// step. A schedule that needs many rounds to mix is worse here than D says.
/// The timeline has one fragment, and its exchanges follow one another. At least one exchange.
double steady_drift_s(const Timeline& timeline, std::size_t islands);

}  // namespace tombolo::schedule
