#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "tools/schedule/simulate_outcome.h"

namespace tombolo::tools {

/// Writes a self-contained page: losses and accuracy over time, loss against D, what is not in the order of
/// D. `lead` says what was simulated. Errors: kUnavailable, naming the file.
Status write_simulation_page(const std::vector<Outcome>& outcomes, const std::string& lead,
                             const std::string& path);

}  // namespace tombolo::tools
