#pragma once

#include "tools/cli_fwd.h"

namespace tombolo::bench {

/// Adds `latency`. When it runs it starts EAL, prints its report and sets `exit_code`; both must outlive the
/// parsing.
void add_latency(CLI::App& app, int& exit_code);

}  // namespace tombolo::bench
