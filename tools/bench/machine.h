#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"

namespace tombolo::bench {

/// Where something was measured. Nothing here says that the machine was quiet: the load says whether it may
/// have been.
struct Machine {
  std::string cpu;     ///< The processor's own name.
  std::string flags;   ///< Of its instruction sets, those that matter to folds and checksums.
  std::string kernel;  ///< "Linux 6.1.0".
  std::string compiler;
  std::string load;  ///< Load averages of 1, 5 and 15 minutes, when it was asked.
  std::uint32_t cpus = 0;
  std::uint64_t l2_bytes = 0;  ///< 0: unknown.
  std::uint64_t l3_bytes = 0;
  std::uint64_t free_memory_bytes = 0;  ///< What could be taken without swapping.
};

Machine read_machine();
nlohmann::ordered_json to_json(const Machine& machine);
/// A few lines for people.
std::string describe(const Machine& machine);

/// Keeps this thread on one processor: the given one, or, below 0, the last of those that it may use. Returns
/// which. Errors: kInvalidInput for a processor that it may not use.
Result<int> pin_to_cpu(int cpu);

}  // namespace tombolo::bench
