#pragma once

#include "tools/cli_fwd.h"

namespace tombolo::tools {

/// Adds `check`: what an edge's file asks for, and whether the machine has it. `exit_code` is set when the
/// command has run.
void add_check_command(CLI::App& app, int& exit_code);

}  // namespace tombolo::tools
