#pragma once

#include <CLI/CLI.hpp>

namespace tombolo::bench {

/// Adds `fold`. When it runs it prints its report and sets `exit_code`; both must outlive the parsing.
void add_fold(CLI::App& app, int& exit_code);

}  // namespace tombolo::bench
