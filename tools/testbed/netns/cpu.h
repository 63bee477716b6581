#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tools/testbed/report.h"

namespace tombolo::testbed {

/// The machine's processor time since its boot, in clock ticks, over all cores.
struct CpuTime {
  std::uint64_t idle = 0;  ///< Waiting for a disk included.
  std::uint64_t all = 0;
};

/// Reads the text of /proc/stat; any bytes may be given. Errors: kInvalidInput.
Result<CpuTime> parse_proc_stat(std::string_view text);
Result<CpuTime> read_cpu_time();

/// Whether processor time, and not the network, bounded what was measured, and why.
struct CpuVerdict {
  bool bound = false;
  double idle = 1;  ///< Share of the machine's time.
  std::string reason;
};

/// Judges from the machine's idle share and from where the edges' workers spent their time: bound when less
/// than a tenth of the machine was idle, or a worker was without a core for a quarter of the time or busy for
/// nine tenths of it.
CpuVerdict judge_cpu(const CpuTime& before, const CpuTime& after, const std::vector<WorkerReport>& workers);

/// What a worker spent between two looks; both in the same order.
std::vector<WorkerReport> workers_between(const std::vector<WorkerReport>& before,
                                          const std::vector<WorkerReport>& after);

}  // namespace tombolo::testbed
