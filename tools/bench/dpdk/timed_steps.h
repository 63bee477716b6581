#pragma once

#include <rte_cycles.h>

#include <cstdint>
#include <utility>

#include "base/result.h"

namespace tombolo::bench {

/// Runs steps of which only the middle is timed: put (packets are made), turn (timed), take (results are
/// looked at). The first error is kept, and ends the run; a Side learns of it by an absurd time, its caller
/// by `status`.
template <typename Rig, typename Turn>
double run_steps(Rig& rig, std::uint64_t steps, Status& status, Turn&& turn) {
  constexpr double kAbsurd = 1e9;
  std::uint64_t cycles = 0;
  for (std::uint64_t step = 0; step < steps; ++step) {
    if (Status put = rig.members().put_step(); !put) status = std::move(put);
    const std::uint64_t begin = rte_rdtsc_precise();
    turn();
    cycles += rte_rdtsc_precise() - begin;
    if (Status taken = rig.take_out(); !taken && status) status = std::move(taken);
    if (!status) return kAbsurd;
  }
  return static_cast<double>(cycles) / static_cast<double>(rte_get_tsc_hz());
}

}  // namespace tombolo::bench
