#include "tools/bench/dpdk/latency_command.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "dataplane/port/dpdk/eal.h"
#include "tools/bench/common_options.h"
#include "tools/bench/dpdk/bench_eal.h"
#include "tools/bench/dpdk/latency_bench.h"
#include "tools/cli.h"

namespace tombolo::bench {
namespace {

struct LatencyCommand {
  CommonOptions common;
  LatencyOptions latency;
};

int run(const LatencyCommand& command) {
  LatencyOptions options = command.latency;
  auto formats = formats_of(command.common, {wire::Format::kFp32});
  if (!formats) return tools::report_error(formats.error());
  options.formats = *formats;
  options.k = choose(command.common, command.common.k, {8}, {2});
  options.chunk_bytes = choose(command.common, command.common.chunk_bytes, {1280, 8192}, {1280});
  options.measure = measure_options(command.common);
  if (command.common.tiny) options.chunks = 100;
  const auto eal = BenchEal::start(memory_mb(options), command.common.cpu);
  if (!eal) return tools::report_error(eal.error());
  const auto rows = run_latency(options, progress_on_stderr());
  if (!rows) return tools::report_error(rows.error());
  return report("latency", command.common, (*eal)->cpu(), *rows, {}, {"DPDK: " + dataplane::eal_summary()});
}

}  // namespace

void add_latency(CLI::App& app, int& exit_code) {
  CLI::App* const verb = app.add_subcommand(
      "latency", "What an edge adds to a chunk, from its last contribution in to its result out, by load");
  const auto command = std::make_shared<LatencyCommand>();
  add_common(*verb, command->common);
  add_cases(*verb, command->common);
  verb->add_option("--isa", command->latency.isa, "The fold's instruction set; default: the best");
  verb->add_option("--load", command->latency.loads, "Parts of the highest rate, such as 0.1,0.5,0.9")
      ->delimiter(',')
      ->check(CLI::Range(0.001, 1.0));
  verb->add_option("--chunks", command->latency.chunks, "Chunks per row")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  verb->add_option("--seed", command->latency.seed, "Of the times of arrival")->capture_default_str();
  verb->callback([command, &exit_code] { exit_code = run(*command); });
}

}  // namespace tombolo::bench
