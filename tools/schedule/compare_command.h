#pragma once

#include "tools/cli_fwd.h"

namespace tombolo::tools {

/// Adds `compare`: the optimum against every baseline of schedule/baselines. When it runs it prints its
/// report and sets `exit_code`; both must outlive the parsing.
void add_schedule_compare(CLI::App& schedule, int& exit_code);

}  // namespace tombolo::tools
