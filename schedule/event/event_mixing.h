#pragma once

#include "base/result.h"
#include "schedule/event/event_model.h"
#include "schedule/schedule.h"

namespace tombolo::schedule {

/// D, in seconds, of a schedule without barriers: every island drifts by an independent process of unit
/// variance per second; what its members held at the start of an exchange is averaged, and at its end x_i
/// becomes mean of x_j(start) + x_i(now) - x_i(start). D is the variance of an island about the mean of all,
/// averaged over the cycle and over the fragments. It is exact: the state is the islands' values and what
/// they held at the start of their last exchange, and its covariance repeats itself with the cycle. Infinite
/// if the cycle does not contract. Errors: kInvalidInput unless every exchange is one of the schedule's,
/// lasts at most a cycle, and no island has two of one fragment at a time.
Result<double> event_disagreement(const Schedule& schedule, const Timetable& timetable, std::size_t islands);

/// The same for one fragment alone: a quick estimate, for fragments differ little.
Result<double> fragment_disagreement(const Schedule& schedule, const Timetable& timetable,
                                     std::size_t islands, std::uint32_t fragment);

/// R, per second: (1 - the square of the most that a cycle leaves of a disagreement) / cycle, for the
/// fragment whose cycle leaves most. The cycle begins at time 0, and what was held at the start of exchanges
/// that are then under way is what islands hold: so a timetable with barriers has the barrier's R. Errors:
/// the same.
Result<double> event_contraction(const Schedule& schedule, const Timetable& timetable, std::size_t islands);

}  // namespace tombolo::schedule
