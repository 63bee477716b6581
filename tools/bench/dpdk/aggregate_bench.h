#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/bench/dpdk/clique.h"
#include "tools/bench/measure.h"
#include "tools/bench/progress.h"
#include "tools/bench/row.h"

namespace tombolo::bench {

struct AggregateOptions {
  std::vector<wire::Format> formats{wire::Format::kFp32};
  wire::Operation operation = wire::Operation::kSum;
  std::vector<std::uint32_t> k{2, 4, 8, 16};
  std::vector<std::uint32_t> chunk_bytes{1280, 8192};
  std::vector<std::string> resident{"cache", "memory"};
  std::string isa;  ///< Empty: the best.
  /// "memory": about so many bytes of payload come between the first and the last contribution of a chunk.
  std::uint64_t distance_bytes = 1ULL << 30;
  bool edge_only = false;  ///< Neither limit nor stages: for a profiler, which then sees the edge alone.
  MeasureOptions measure;
};

/// The whole way through an edge on one core, over ring devices: receive, validate, CRC, slot, fold, emit;
/// and, by turns with it, the limit's loop over such devices. Bytes are those of payloads in, packets those
/// in. `more` has the distance between a chunk's contributions and the cycles per packet (of the time-stamp
/// counter) by stage: each is the difference between two pipelines of which the longer one has this stage
/// more, measured one after the other.
///
/// Every result is compared with the reference, outside the timed part. EAL runs, with memory_mb(options).
/// Errors: kFailed for a wrong result or a dropped packet; those of ports and pools.
Result<std::vector<Row>> run_aggregate(const AggregateOptions& options, const Progress& progress);

/// Whether the options make sense. Errors: kInvalidInput, naming the option.
Status check(const AggregateOptions& options);

/// Memory that EAL needs for it.
std::uint32_t memory_mb(const AggregateOptions& options);

/// The cases' cliques: the distance as a skew, 0 for "cache".
Clique clique_of(const AggregateOptions& options, wire::Format format, std::uint32_t k,
                 std::uint32_t chunk_bytes, const std::string& resident);

}  // namespace tombolo::bench
