#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tools/bench/row.h"

namespace tombolo::bench {

/// How long to look, for every side of a comparison alike.
struct MeasureOptions {
  std::uint32_t repeat = 7;  ///< Repetitions; each runs every side once.
  double seconds = 0.1;      ///< Of one side in one repetition, at least; 0: one iteration.
};

/// One side of a comparison, prepared: its rows say what it is, `run` does `iterations` times the same work
/// and returns the seconds that it took. What `run` does beside the work (making packets, looking at results)
/// it leaves out of these seconds.
struct Side {
  Row row;
  double bytes = 0;    ///< Of payload in, per iteration.
  double packets = 0;  ///< Per iteration; 0: not a matter of packets.
  std::function<double(std::uint64_t iterations)> run;
};

/// Runs all sides by turns, each repetition in an order shifted by one, so that whatever else the machine
/// does meets them alike; returns the sides' rows, filled in: medians, spreads, and the part of the rate of
/// the side "limit" (the last one of that name) in the same repetition. `progress` hears each repetition's
/// number, from 1.
std::vector<Row> measure(std::span<const Side> sides, const MeasureOptions& options,
                         const std::function<void(std::uint32_t)>& progress);

/// The value below which the part `p` (0 to 1) of the values lies, linear between neighbours; values are not
/// empty.
double quantile(std::vector<double> values, double p);

}  // namespace tombolo::bench
