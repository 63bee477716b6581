#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "schedule/mixing.h"
#include "schedule/optimize/problem.h"

namespace tombolo::schedule {

/// A row of the published values for the nine cities and an update of 1 GB, in seconds as printed.
struct ReferenceRow {
  const char* profile;
  Capabilities capabilities;
  double bound_s;
  double two_rounds_s;  ///< The certified best cycle of at most two rounds.
  double best_s;        ///< Best known.
  double half_digit;
  double best_half_digit;  ///< Of `best_s`, which has fewer digits in some rows.
};

inline const std::vector<ReferenceRow>& reference_rows() {
  constexpr auto kNone = Aggregation::kNone;
  constexpr auto kEdge = Aggregation::kEdge;
  constexpr auto kTree = Aggregation::kTree;
  static const std::vector<ReferenceRow> rows{
      {"access-limited", {false, kNone, Family::kDirect}, 1.1036, 2.3573, 1.790, 5e-5, 5e-4},
      {"access-limited", {true, kEdge, Family::kDirect}, 1.1036, 1.2893, 1.2893, 5e-5, 5e-5},
      {"access-limited", {false, kNone, Family::kBest}, 1.1036, 1.9270, 1.790, 5e-5, 5e-4},
      {"egress-scarce", {true, kNone, Family::kDirect}, 4.304, 4.793, 4.793, 5e-4, 5e-4},
      {"egress-scarce", {true, kEdge, Family::kDirect}, 4.304, 4.489, 4.489, 5e-4, 5e-4},
      {"testnet10", {false, kNone, Family::kDirect}, 1.104, 2.376, 1.819, 5e-4, 5e-4},
      {"testnet10", {true, kEdge, Family::kDirect}, 1.104, 1.750, 1.742, 5e-4, 5e-4},
      {"testnet10", {true, kTree, Family::kDirect}, 1.104, 1.309, 1.309, 5e-4, 5e-4},
  };
  return rows;
}

/// D from the round model and the general computation of mixing alone.
inline double measured_disagreement_s(const Problem& problem, const Schedule& schedule) {
  std::vector<double> seconds;
  for (const Round& round : schedule.rounds) {
    const auto time = problem.model().time(round, problem.update_bytes());
    EXPECT_TRUE(time.ok());
    seconds.push_back(time->seconds);
  }
  return measure_mixing(schedule, seconds, problem.islands())->disagreement_s;
}

}  // namespace tombolo::schedule
