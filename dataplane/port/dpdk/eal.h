#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace tombolo::dataplane {

/// kAuto uses huge pages if enough are free, else ordinary memory; kRequired refuses to start without.
enum class Hugepages : std::uint8_t { kAuto, kRequired, kOff };

/// How DPDK's environment (EAL) is started: once per process, before any pool or port.
struct EalOptions {
  std::string name = "tombolo";     ///< Letters, digits, '-', '_': names the program in DPDK's messages.
  std::uint32_t workers = 1;        ///< Threads beside the calling one; 1 to kMaxWorkers.
  std::vector<std::uint32_t> cpus;  ///< One per worker, pinned. Empty: every thread may run on every CPU.
  Hugepages hugepages = Hugepages::kAuto;
  std::uint32_t memory_mb = 256;     ///< For pools and devices, 2^20 bytes each; taken at the start.
  std::vector<std::string> devices;  ///< As DpdkPortConfig::device. PCI devices can only be named here.
  std::uint32_t log_level = 4;       ///< DPDK's: 1 emergency to 8 debug. Its lines are kept, never printed.
};
inline constexpr std::uint32_t kMaxWorkers = 126;

/// Starts EAL; must be called from the main thread, before others print to standard error.
/// Errors: kInvalidInput, naming the option; kUnavailable for missing memory, CPUs or rights, with DPDK's own
/// reason and the command that mends it; a second start.
Status start_eal(const EalOptions& options);
/// What was started, in one line: "huge pages, 256 MB; 2 workers on CPUs 2, 3". Empty before the start.
const std::string& eal_summary();
/// Whether start_eal() succeeded and stop_eal() was not called.
bool is_eal_running();
/// Gives EAL's memory back, at the end of the process: ports and pools are destroyed before, workers joined.
void stop_eal();

/// Runs `body` on worker `index` (0 to workers - 1). Errors: kInvalidInput for no such worker; kUnavailable
/// while it still runs something.
Status launch_worker(std::uint32_t index, std::function<void()> body);  // lint: set-up, not on packets' way
/// Waits until every worker's body has returned.
void join_workers();

}  // namespace tombolo::dataplane
