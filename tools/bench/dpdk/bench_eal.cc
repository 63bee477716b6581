#include "tools/bench/dpdk/bench_eal.h"

#include <utility>

#include "dataplane/port/dpdk/eal.h"
#include "tools/bench/machine.h"

namespace tombolo::bench {

Result<std::unique_ptr<BenchEal>> BenchEal::start(std::uint32_t memory_mb, int cpu) {
  dataplane::EalOptions options;
  options.name = "tombolo-bench";
  options.memory_mb = memory_mb;
  if (Status started = dataplane::start_eal(options); !started) return std::move(started).error();
  const auto pinned = pin_to_cpu(cpu);
  if (!pinned) {
    dataplane::stop_eal();
    return Error(pinned.error());
  }
  return std::unique_ptr<BenchEal>(new BenchEal(*pinned));
}

BenchEal::~BenchEal() { dataplane::stop_eal(); }

}  // namespace tombolo::bench
