#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "dataplane/port/dpdk/eal.h"

namespace tombolo::dataplane {

/// What the machine offers to a start.
struct MachineState {
  std::vector<std::uint32_t> cpus;        ///< That this process may run on.
  std::uint64_t free_hugepage_bytes = 0;  ///< Of all sizes.
  std::uint64_t available_bytes = 0;      ///< Ordinary memory that may be taken; 0: unknown.
};
/// Reads it from the kernel; `root` stands before /sys and /proc, and is empty but in tests.
MachineState read_machine(const std::string& root);

/// "0000:01:00.0" or "01:00.0".
bool is_pci_address(const std::string& device);

/// How to start, decided before EAL has a say.
struct EalPlan {
  bool hugepages = false;
  std::vector<std::string> arguments;  ///< Of rte_eal_init(), the program's name first.
  std::string summary;
};
/// Errors: kInvalidInput, naming the option; kUnavailable when CPUs or required huge pages are missing.
Result<EalPlan> plan_eal(const EalOptions& options, const MachineState& machine);

}  // namespace tombolo::dataplane
