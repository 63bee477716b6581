#pragma once

#include "tools/testbed_options.h"

namespace tombolo::tools {

/// `tombolo testbed run --backend netns`: the real programs in network namespaces. Returns the exit code.
int run_netns_command(const TestbedOptions& options);

/// `tombolo testbed up`: the same, kept up until standard input ends or a signal comes. DIR/testbed.json
/// tells what runs where. Returns the exit code.
int up_command(const TestbedOptions& options);

}  // namespace tombolo::tools
