#pragma once

#include "tools/cli_fwd.h"

namespace tombolo::bench {

/// Adds `aggregate`. When it runs it starts EAL, prints its report and sets `exit_code`; both must outlive
/// the parsing.
void add_aggregate(CLI::App& app, int& exit_code);

}  // namespace tombolo::bench
