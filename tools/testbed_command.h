#pragma once

#include "tools/cli_fwd.h"

namespace tombolo::tools {

/// Adds `tombolo testbed run TOPOLOGY ...`. The command's exit code is written to `exit_code`.
void add_testbed_command(CLI::App& app, int& exit_code);

}  // namespace tombolo::tools
