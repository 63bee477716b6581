#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "schedule/optimize/pricing.h"
#include "schedule/optimize/problem.h"
#include "schedule/schedule.h"

namespace tombolo::schedule {

/// A schedule that draws each round anew, by chance.
struct RandomSchedule {
  struct Entry {
    TimedRound round;
    double probability = 0;  ///< Of each draw; in all 1.
  };
  std::vector<Entry> entries;
  double r_iid_per_s = 0;  ///< What it achieves: lambda_2 of the sum of u_P (I - W_P).
  double bound_per_s = 0;  ///< No random schedule of this problem achieves more.
  double gap = 0;          ///< (bound - achieved) / achieved.
  std::size_t pricings = 0;
};

struct RandomOptions {
  double gap = 0.002;              ///< Good enough.
  std::size_t max_pricings = 400;  ///< Then it gives what it has, with the gap that it has.
};

/// The best random schedule: maximises lambda_2(sum u_P (I - W_P)) over rates u_P of rounds per second with
/// sum u_P T_P = 1, by column generation. The master problem is linear: a share of the time for each round
/// known so far, and lambda_2 replaced by the vectors v (unit, sum 0) met so far, v' (sum u_P L_P) v >= z.
/// Its dual weighs the vectors to an X of trace 1, and for any such X no random schedule achieves more than
/// max_P trace(X L_P) / T_P: `pricing` finds that maximum, a new round and the bound. Both sides are computed
/// from their definitions, so the gap does not rely on the linear solver.
/// The answer is the same for the same problem.
/// Errors: those of Problem::check; kNotSupported above kMaxPricedIslands islands.
Result<RandomSchedule> optimal_random(const Problem& problem, const RandomOptions& options = {});

}  // namespace tombolo::schedule
