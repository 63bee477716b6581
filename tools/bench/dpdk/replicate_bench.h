#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "tools/bench/measure.h"
#include "tools/bench/progress.h"
#include "tools/bench/row.h"

namespace tombolo::bench {

struct ReplicateOptions {
  std::vector<std::uint32_t> copies{2, 4, 8};
  std::vector<std::uint32_t> chunk_bytes{1280, 8192};
  MeasureOptions measure;
};

/// One packet in, `copies` out, each by a device of its own (net_ring) whose frames are taken and freed after
/// each burst, as a network card does. Beside our own way, the technique of DPDK's example ipv4_multicast,
/// written anew as its source has it (the example itself forwards to at most four devices and runs for ever),
/// once by its own choice and once always by clones; and the limit, which attaches header buffers to a
/// payload whose references are counted, and writes nothing. Packets and bytes of payload are those that
/// leave.
///
/// Before anything is timed, our copies are looked at: each whole, valid, for the right neighbour. EAL runs,
/// with kReplicateMemoryMb. Errors: kFailed for a wrong copy or one that was not sent; those of ports and
/// pools.
Result<std::vector<Row>> run_replicate(const ReplicateOptions& options, const Progress& progress);

inline constexpr std::uint32_t kReplicateMemoryMb = 384;

}  // namespace tombolo::bench
