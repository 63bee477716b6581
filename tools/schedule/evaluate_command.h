#pragma once

#include "tools/cli_fwd.h"

namespace tombolo::tools {

/// Adds the verb `evaluate` to the command `schedule`: what a given schedule is worth on a network.
void add_schedule_evaluate(CLI::App& schedule, int& exit_code);

}  // namespace tombolo::tools
