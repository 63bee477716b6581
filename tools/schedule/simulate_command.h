#pragma once

#include "tools/cli_fwd.h"

namespace tombolo::tools {

/// Adds the verb `simulate` to the command `schedule`: decentralized SGD on Fashion-MNIST in simulated time.
void add_schedule_simulate(CLI::App& schedule, int& exit_code);

}  // namespace tombolo::tools
