#include <CLI/CLI.hpp>

#include "tools/check_command.h"
#include "tools/cli.h"
#include "tools/install_command.h"
#include "tools/report_command.h"
#include "tools/schedule/schedule_command.h"
#include "tools/status_command.h"
#include "tools/testbed_command.h"

/// The operator's and experimenter's command.
int main(int argc, char** argv) {
  using namespace tombolo::tools;
  CLI::App app("Tombolo joins islands of compute that train one model across a wide area network.",
               "tombolo");
  app.set_version_flag("--version", "tombolo " TOMBOLO_VERSION);
  app.require_subcommand(1);
  int exit_code = kExitOk;
  add_schedule_command(app, exit_code);
  add_testbed_command(app, exit_code);
  add_status_command(app, exit_code);
  add_report_command(app, exit_code);
  add_check_command(app, exit_code);
  add_install_command(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Prints help, the version or what is wrong.
    return app.exit(error) == 0 ? kExitOk : kExitBadInput;
  }
  return exit_code;
}
