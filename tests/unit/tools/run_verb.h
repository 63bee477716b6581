#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tools/cli_fwd.h"

namespace tombolo::tools {

/// What a verb of `tombolo` did.
struct VerbRun {
  int exit_code = -1;  ///< -1: the command line was refused.
  std::string out;
  std::string err;
};

/// Runs `arguments` in a command line to which `add` has added the verb.
VerbRun run_verb(const std::function<void(CLI::App& app, int& exit_code)>& add,
                 std::vector<std::string> arguments);

}  // namespace tombolo::tools
