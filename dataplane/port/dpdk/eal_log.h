#pragma once

#include <string>

namespace tombolo::dataplane {

/// From now on DPDK's log lines are kept here, the last few kilobytes of them, and printed nowhere.
void capture_dpdk_log();
/// What was logged since the last call, as one line, for the end of an error message: " (DPDK says: ...)", or
/// nothing.
std::string take_dpdk_log();

}  // namespace tombolo::dataplane
