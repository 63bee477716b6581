#pragma once

#include "tools/cli_fwd.h"

namespace tombolo::bench {

/// Adds `fold`. When it runs it prints its report and sets `exit_code`; both must outlive the parsing.
void add_fold(CLI::App& app, int& exit_code);

}  // namespace tombolo::bench
