#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace tombolo::schedule {

/// `to` starts no earlier than `seconds` after `from` did, `periods` cycles before.
struct Precedence {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  double seconds = 0;
  std::uint32_t periods = 0;
};

/// A regime in which everything starts as soon as it may and repeats itself cycle by cycle.
struct SteadyState {
  double cycle_s = 0;           ///< The largest ratio of seconds to periods round any loop.
  std::vector<double> start_s;  ///< Of each event; a loop with the largest ratio starts at 0.
};

/// The max-plus eigenvalue and an eigenvector: start[to] = max over precedences of start[from] + seconds -
/// periods * cycle. Howard's policy iteration finds the loop with the largest ratio.
/// Errors: kInvalidInput unless every event has a precedence before it, every event can be reached from every
/// other, no time is negative or not finite, and every loop has a period.
Result<SteadyState> steady_state(std::size_t events, std::span<const Precedence> precedences);

}  // namespace tombolo::schedule
