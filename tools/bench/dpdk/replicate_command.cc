#include "tools/bench/dpdk/replicate_command.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "dataplane/port/dpdk/eal.h"
#include "tools/bench/common_options.h"
#include "tools/bench/dpdk/bench_eal.h"
#include "tools/bench/dpdk/replicate_bench.h"
#include "tools/cli.h"

namespace tombolo::bench {
namespace {

struct ReplicateCommand {
  CommonOptions common;
  std::vector<std::uint32_t> copies;
};

int run(const ReplicateCommand& command) {
  ReplicateOptions options;
  options.copies = choose(command.common, command.copies, {2, 4, 8}, {2, 3});
  options.chunk_bytes = choose(command.common, command.common.chunk_bytes, {1280, 8192}, {1280, 8192});
  options.measure = measure_options(command.common);
  const auto eal = BenchEal::start(kReplicateMemoryMb, command.common.cpu);
  if (!eal) return tools::report_error(eal.error());
  const auto rows = run_replicate(options, progress_on_stderr());
  if (!rows) return tools::report_error(rows.error());
  return report("replicate", command.common, (*eal)->cpu(), *rows, {}, {"DPDK: " + dataplane::eal_summary()});
}

}  // namespace

void add_replicate(CLI::App& app, int& exit_code) {
  CLI::App* const verb = app.add_subcommand("replicate",
                                            "One packet in, several out: a header per copy, the payload "
                                            "shared; beside DPDK's example and the limit");
  const auto command = std::make_shared<ReplicateCommand>();
  add_common(*verb, command->common);
  verb->add_option("--copies", command->copies, "Copies per packet, 2 to 8")->delimiter(',');
  verb->add_option("--chunk-bytes", command->common.chunk_bytes, "Bytes of a payload, such as 1280,8192")
      ->delimiter(',');
  verb->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace tombolo::bench
