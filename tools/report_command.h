#pragma once

#include "tools/cli_fwd.h"

namespace tombolo::tools {

/// Adds `report RUN_FOLDER`, which makes a run's report.html again. The command's exit code is written to
/// `exit_code`; it must outlive the parsing.
void add_report_command(CLI::App& app, int& exit_code);

}  // namespace tombolo::tools
