#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "tools/bench/dpdk/aggregate_bench.h"
#include "tools/bench/progress.h"
#include "tools/bench/row.h"

namespace tombolo::bench {

struct LatencyOptions {
  std::vector<wire::Format> formats{wire::Format::kFp32};
  std::vector<std::uint32_t> k{8};
  std::vector<std::uint32_t> chunk_bytes{1280, 8192};
  std::vector<double> loads{0.1, 0.5, 0.9};  ///< Parts of the highest rate.
  std::string isa;
  std::uint64_t chunks = 20'000;  ///< Measured per row, after as many again to warm up.
  std::uint64_t seed = 1;         ///< Of the packets' times of arrival.
  MeasureOptions measure;         ///< Of the highest rate.
};

/// What an edge adds to a chunk: from the moment at which its last contribution has arrived to the end of the
/// worker's turn that sent its result. First the highest rate is found, as `aggregate` finds it; then packets
/// arrive at random, on average at a part of that rate (exponential gaps: a Poisson stream), and wait in the
/// ring until the worker comes.
///
/// Time is the worker's: it goes on by what each turn took, and to the next arrival when there is nothing to
/// do, so that making the packets, and looking at results, cost no time. The edge has one core, which polls.
/// EAL runs, with memory_mb(). Errors: those of run_aggregate().
Result<std::vector<Row>> run_latency(const LatencyOptions& options, const Progress& progress);

/// Memory that EAL needs for it.
std::uint32_t memory_mb(const LatencyOptions& options);

}  // namespace tombolo::bench
