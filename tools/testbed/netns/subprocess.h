#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace tombolo::testbed {

/// Runs a short command to its end with a text as its standard input. It is searched in PATH.
/// Errors: kUnavailable with the command and the last two lines that it wrote on standard error.
Status run_with_input(const std::vector<std::string>& command, const std::string& input);

}  // namespace tombolo::testbed
