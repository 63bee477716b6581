#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/cli.h"

namespace tombolo::tools {

/// What a verb of `tombolo` did.
struct VerbRun {
  int exit_code = -1;  ///< -1: the command line was refused.
  std::string out;
  std::string err;
};

/// Runs `arguments` in a command line to which `add(app, exit_code)` has added the verb.
template <typename Add>
VerbRun run_verb(Add add, std::vector<std::string> arguments) {
  CLI::App app;
  VerbRun outcome;
  add(app, outcome.exit_code);
  std::reverse(arguments.begin(), arguments.end());  // As CLI11 takes a vector.
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  try {
    app.parse(arguments);
  } catch (const CLI::ParseError&) {
    outcome.exit_code = -1;
  }
  outcome.out = testing::internal::GetCapturedStdout();
  outcome.err = testing::internal::GetCapturedStderr();
  return outcome;
}

}  // namespace tombolo::tools
