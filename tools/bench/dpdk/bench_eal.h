#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"

namespace tombolo::bench {

/// DPDK for one run of a verb: started once per process, with this thread kept on one processor.
class BenchEal {
 public:
  /// Huge pages where enough are free, ordinary memory else; cpu below 0: the last one allowed. Errors: those
  /// of start_eal() and pin_to_cpu().
  static Result<std::unique_ptr<BenchEal>> start(std::uint32_t memory_mb, int cpu);
  ~BenchEal();
  BenchEal(const BenchEal&) = delete;
  BenchEal& operator=(const BenchEal&) = delete;

  int cpu() const { return cpu_; }

 private:
  explicit BenchEal(int cpu) : cpu_(cpu) {}

  int cpu_;
};

}  // namespace tombolo::bench
