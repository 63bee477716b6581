#include <CLI/CLI.hpp>

#include "tools/bench/dpdk/aggregate_command.h"
#include "tools/bench/dpdk/latency_command.h"
#include "tools/bench/dpdk/replicate_command.h"
#include "tools/bench/fold_command.h"
#include "tools/bench/numerics_command.h"
#include "tools/cli.h"

/// Benchmarks as tables and JSON.
int main(int argc, char** argv) {
  using namespace tombolo;
  CLI::App app("Measures folds and an edge's packet path on this machine.", "tombolo-bench");
  app.set_version_flag("--version", "tombolo " TOMBOLO_VERSION);
  app.require_subcommand(1);
  int exit_code = tools::kExitOk;
  bench::add_fold(app, exit_code);
  bench::add_aggregate(app, exit_code);
  bench::add_replicate(app, exit_code);
  bench::add_latency(app, exit_code);
  bench::add_numerics(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Prints help, the version or what is wrong.
    return app.exit(error) == 0 ? tools::kExitOk : tools::kExitBadInput;
  }
  return exit_code;
}
