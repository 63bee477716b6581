#pragma once

#include "tools/cli_fwd.h"

namespace tombolo::tools {

/// Adds the verb `optimize` to the command `schedule`: finds a schedule for a network and writes its file.
void add_schedule_optimize(CLI::App& schedule, int& exit_code);

}  // namespace tombolo::tools
