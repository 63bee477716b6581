#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "schedule/simulate/methods.h"
#include "tools/schedule/network_options.h"

namespace tombolo::tools {

/// What methods are wanted, and what they are told.
struct MethodChoice {
  std::vector<std::string> names;      ///< Of kMethodNames; empty: all.
  std::vector<std::string> schedules;  ///< "full", "grid" or files, under the capabilities of the options.
  std::uint64_t local_steps = 50;
  std::uint32_t fragments = 4;
  double step_s = 0.1;
  double duration_s = 60;
  std::uint64_t seed = 1;
  std::uint64_t max_cycles = 1'000'000;  ///< Of the search for our schedules, each.
};

/// Method names on the command line.
inline const std::vector<std::string> kMethodNames{"colocated", "fedavg", "diloco", "streaming-diloco",
                                                   "ring",      "matcha", "ours"};

/// The methods, ready to be simulated. FedAvg and the two DiLoCo exchange by the quickest way that islands
/// have without the network's help. `tell` hears how far it is. Errors name the method or the schedule.
Result<std::vector<schedule::Method>> make_methods(const NetworkInput& input, const MethodChoice& choice,
                                                   const std::function<void(std::string_view)>& tell);

}  // namespace tombolo::tools
