#include "tools/schedule/schedule_command.h"

#include <CLI/CLI.hpp>

#include "tools/schedule/compare_command.h"
#include "tools/schedule/evaluate_command.h"
#include "tools/schedule/optimize_command.h"
#include "tools/schedule/simulate_command.h"

namespace tombolo::tools {

void add_schedule_command(CLI::App& app, int& exit_code) {
  CLI::App* const schedule = app.add_subcommand("schedule", "Schedules: which islands meet in which round");
  schedule->require_subcommand(1);
  add_schedule_evaluate(*schedule, exit_code);
  add_schedule_optimize(*schedule, exit_code);
  add_schedule_compare(*schedule, exit_code);
  add_schedule_simulate(*schedule, exit_code);
}

}  // namespace tombolo::tools
