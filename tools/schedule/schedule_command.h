#pragma once

#include "tools/cli_fwd.h"

namespace tombolo::tools {

/// Adds the command `schedule` with its verbs. A verb that runs prints its report and sets `exit_code`; both
/// must outlive the parsing.
void add_schedule_command(CLI::App& app, int& exit_code);

}  // namespace tombolo::tools
