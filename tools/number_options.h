#pragma once

#include <string>

#include "tools/cli_fwd.h"

namespace tombolo::tools {

/// Adds --format, --result-format, --operation, --non-finite and --non-finite-share. After parsing, the texts
/// are names that number_format, testbed::operation_named and non_finite_policy know; an empty result format
/// stands for the format of updates.
void add_number_options(CLI::App& command, std::string& format, std::string& result_format,
                        std::string& operation, std::string& non_finite, double& non_finite_share);

}  // namespace tombolo::tools
