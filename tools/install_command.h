#pragma once

#include "tools/cli_fwd.h"

namespace tombolo::tools {

/// Adds `install`: has a running controller install a schedule. `exit_code` is set when the command has run.
void add_install_command(CLI::App& app, int& exit_code);

}  // namespace tombolo::tools
