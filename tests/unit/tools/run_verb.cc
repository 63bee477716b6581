#include "tests/unit/tools/run_verb.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace tombolo::tools {

VerbRun run_verb(const std::function<void(CLI::App& app, int& exit_code)>& add,
                 std::vector<std::string> arguments) {
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
