#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "schedule/simulate/islands.h"
#include "schedule/simulate/timeline.h"

namespace tombolo::schedule {

/// Simulated time: every island ends a local step each `step_s`, and training is measured each `measure_s`,
/// from 0 to `duration_s`.
struct Course {
  double step_s = 0.1;
  double duration_s = 60;
  double measure_s = 1;
};

/// What a run showed.
struct Curve {
  std::vector<Point> points;
  std::uint64_t steps = 0;  ///< Of each island: fewer than duration / step where islands stood still.
};

/// The gold standard: all islands in one place, the gradients of every step averaged at no cost.
/// These functions change the islands they are given: make them anew for each run.
/// Errors (of all three): kInvalidInput for a course whose times are not above 0, or that has too many steps.
Result<Curve> simulate_colocated(Islands& islands, const Course& course);

/// Islands train all the time. What they hold when an exchange is sent is mixed, and on the result
/// x <- result + (x_now - x_sent): training went on meanwhile.
/// Errors: also for exchanges that arrive before they are sent, or name weights or fragments that are not
/// there.
Result<Curve> simulate_timeline(Islands& islands, const Timeline& timeline, const Course& course);

/// Methods with an outer optimizer over the mean of all islands: SGD with Nesterov momentum on
/// "where all started minus where they are". Every fragment has its turn; one exchange is under way at a
/// time.
struct OuterOptions {
  std::uint64_t local_steps = 50;  ///< Between two exchanges of the same fragment, at least.
  std::uint32_t fragments = 1;     ///< The model is cut into as many parts, exchanged one after the other.
  double exchange_s = 1;           ///< For one fragment, from sent to arrived.
  bool blocking = true;            ///< Islands stand still meanwhile.
  double learning_rate = 1;        ///< With momentum 0 and 1 here the outer step is the plain mean.
  double momentum = 0;
  double kept = 0;  ///< Share of an island's own parameters that it keeps on arrival.
};

/// Errors: also for options out of range.
Result<Curve> simulate_outer(Islands& islands, const OuterOptions& outer, const Course& course);

}  // namespace tombolo::schedule
